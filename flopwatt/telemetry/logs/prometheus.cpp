#include "flopwatt/telemetry/logs/prometheus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flopwatt/io/json.hpp"
#include "flopwatt/telemetry/logs/log_builder.hpp"
#include "flopwatt/telemetry/logs/nvidia_smi.hpp"
#include "flopwatt/telemetry/logs/sample_field.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"

// Shape: prometheus.io/docs/prometheus/latest/querying/api, "Range queries".  Names and units: NVIDIA/dcgm-exporter
// etc/default-counters.csv (W, mJ, %, MiB, C); ROCm/device-metrics-exporter docs/configuration/metricslist.md (W, µJ);
// utkuozdemir/nvidia_gpu_exporter (base units); node_exporter's rapl collector (joules).

namespace flopwatt::telemetry {
namespace {

using io::Json;

struct Metric {
  std::string_view name;
  SampleField field = SampleField::none;
  double factor = 1;
  PowerKind kind = PowerKind::unknown;
  Scope scope = Scope::device;
  int rank = 0;
};
constexpr std::array kMetrics{
    Metric{"DCGM_FI_DEV_POWER_USAGE", SampleField::power, 1, PowerKind::average_1s},
    Metric{"DCGM_FI_DEV_POWER_USAGE_INSTANT", SampleField::power, 1, PowerKind::instant, Scope::device, 1},
    Metric{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", SampleField::energy, 1e-3},
    Metric{"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", SampleField::limit},
    Metric{"DCGM_FI_DEV_GPU_UTIL", SampleField::utilization, 0.01},
    Metric{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", SampleField::tensor_active},
    Metric{"DCGM_FI_DEV_FB_USED", SampleField::memory_used, 1048576},
    Metric{"DCGM_FI_DEV_GPU_TEMP", SampleField::temperature},
    Metric{"nvidia_smi_power_draw_watts", SampleField::power, 1, PowerKind::unknown},
    Metric{"nvidia_smi_power_draw_average_watts", SampleField::power, 1, PowerKind::average_1s, Scope::device, -1},
    Metric{"nvidia_smi_power_draw_instant_watts", SampleField::power, 1, PowerKind::instant, Scope::device, 1},
    Metric{"nvidia_smi_enforced_power_limit_watts", SampleField::limit},
    Metric{"nvidia_smi_utilization_gpu_ratio", SampleField::utilization},
    Metric{"gpu_package_power", SampleField::power, 1, PowerKind::current},
    Metric{"gpu_average_package_power", SampleField::power, 1, PowerKind::average, Scope::device, 1},
    Metric{"gpu_energy_consumed", SampleField::energy, 1e-6},
    Metric{"node_rapl_package_joules_total", SampleField::energy, 1, PowerKind::unknown, Scope::package},
    Metric{"node_rapl_core_joules_total", SampleField::energy, 1, PowerKind::unknown, Scope::core},
    Metric{"node_rapl_uncore_joules_total", SampleField::energy, 1, PowerKind::unknown, Scope::uncore},
    Metric{"node_rapl_dram_joules_total", SampleField::energy, 1, PowerKind::unknown, Scope::dram},
    Metric{"node_rapl_psys_joules_total", SampleField::energy, 1, PowerKind::unknown, Scope::platform},
};

std::optional<Metric> metric_of(std::string_view name) {
  for (const Metric& metric : kMetrics) {
    if (same_letters(metric.name, name)) return metric;
  }
  if (name.find("limit") != std::string_view::npos || name.find("cap") != std::string_view::npos) return std::nullopt;
  if (name.ends_with("_watts")) return Metric{name, SampleField::power, 1, PowerKind::unknown, Scope::unknown};
  if (name.ends_with("_joules_total") || name.ends_with("_joules")) {
    return Metric{name, SampleField::energy, 1, PowerKind::unknown, Scope::unknown};
  }
  return std::nullopt;
}

std::string_view label(const Json& labels, std::string_view name) {
  const auto found = labels.find(std::string{name});
  if (found == labels.end() || !found->is_string()) return {};
  return found->get_ref<const std::string&>();
}

std::string_view first_of(const Json& labels, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const std::string_view text = label(labels, name); !text.empty()) return text;
  }
  return {};
}

/// Samples of one device by time: each metric comes as a series of its own.
struct Device {
  DeviceInfo info;
  std::map<std::chrono::nanoseconds, Snapshot> samples;
  std::optional<Metric> power;
};

class Reader {
 public:
  Reader(std::string_view where, const LogOptions& options)
      : builder_{LogFormat::prometheus_json, where, options}, where_{where} {}

  Result<Log> run(std::string_view text) {
    FLOPWATT_TRY(const Json json, io::parse_json(text, where_));
    FLOPWATT_TRY(const Json* series, find_series(json));
    // Which power is read must be known before any is taken.
    for (const bool choosing : {true, false}) {
      for (const Json& one : *series) FLOPWATT_TRY_VOID(take(one, choosing));
    }
    if (used_ == 0) {
      return fail(Errc::bad_data, fmt::format("none of its {} series is a power or an energy", series->size()), where_,
                  "query DCGM_FI_DEV_POWER_USAGE, or a metric whose name ends in _watts or _joules_total");
    }
    if (series->size() > used_) {
      builder_.note(fmt::format("{} of {} series are neither power nor energy nor what stands beside them.",
                                series->size() - used_, series->size()));
    }
    for (auto& [identity, device] : devices_) {
      const std::size_t index = builder_.device(identity, device.info);
      for (const auto& [time, sample] : device.samples) builder_.add(index, Stamp{time, StampKind::utc}, sample);
    }
    return std::move(builder_).finish();
  }

 private:
  Result<const Json*> find_series(const Json& json) {
    const auto bad = [&](std::string what, std::string remedy = {}) {
      return fail(Errc::bad_data, std::move(what), where_, std::move(remedy));
    };
    if (!json.is_object()) return bad("is no answer of Prometheus");
    if (json.contains("status") && label(json, "status") != "success") {
      return bad(fmt::format("Prometheus answered with an error: {}", base::excerpt(label(json, "error"))));
    }
    const Json* data = &json;
    if (const auto inner = json.find("data"); inner != json.end()) data = &*inner;
    if (!data->is_object()) return bad("is no answer of Prometheus");
    if (label(*data, "resultType") != "matrix") {
      return bad(fmt::format("holds a {}, not a matrix", base::excerpt(label(*data, "resultType"))),
                 "ask /api/v1/query_range, whose answer has times");
    }
    const auto result = data->find("result");
    if (result == data->end() || !result->is_array()) return bad("has no result");
    return &*result;
  }

  Result<void> take(const Json& series, bool choosing) {
    const auto labels = series.is_object() ? series.find("metric") : series.end();
    if (!series.is_object() || labels == series.end() || !labels->is_object()) {
      return fail(Errc::bad_data, "a series has no labels", where_);
    }
    const std::string_view name = label(*labels, "__name__");
    if (name.empty()) {
      return fail(Errc::bad_data, "a series has no name, as functions like rate() and sum() leave them", where_,
                  "query the metric itself");
    }
    const std::optional<Metric> metric = metric_of(name);
    if (!metric) return {};
    if (!label(*labels, "GPU_I_ID").empty()) {
      builder_.note("Series of MIG instances repeat what their board draws: they are joined into one device.");
    }
    Device& device = device_of(*labels, *metric);
    if (choosing) {
      choose(device, *metric);
      return {};
    }
    ++used_;
    if (metric->field == SampleField::power && device.power && device.power->name != metric->name) return {};
    const auto values = series.find("values");
    if (values == series.end() || !values->is_array()) return fail(Errc::bad_data, "a series has no values", where_);
    for (const Json& pair : *values) FLOPWATT_TRY_VOID(take_sample(device, *metric, pair));
    return {};
  }

  void choose(Device& device, const Metric& metric) const {
    if (metric.field != SampleField::power) return;
    const auto rank = [&](const Metric& m) {
      return builder_.options().instant && m.kind == PowerKind::instant ? -10 : m.rank;
    };
    if (!device.power || rank(metric) < rank(*device.power)) device.power = metric;
    if (device.info.vendor == "nvidia") device.info.sensor = nvidia_sensor(device.info.name, device.power->kind);
  }

  Result<void> take_sample(Device& device, const Metric& metric, const Json& pair) {
    const bool shaped = pair.is_array() && pair.size() == 2 && pair[0].is_number() && pair[1].is_string();
    const std::optional<Stamp> stamp = shaped ? parse_stamp(pair[0].dump(), StampUnit::seconds) : std::nullopt;
    if (!stamp || stamp->kind != StampKind::utc) {
      return fail(Errc::bad_data, fmt::format("\"{}\" is no pair of time and value", base::excerpt(pair.dump())),
                  where_);
    }
    Snapshot& sample = device.samples[stamp->time];
    const Reading<double> value =
        read_cell(pair[1].get_ref<const std::string&>(), dimension_of(metric.field), metric.factor);
    set_field(sample, metric.field, value, metric.kind, metric.scope);
    return {};
  }

  Device& device_of(const Json& labels, const Metric& metric) {
    const std::string_view uuid = first_of(labels, {"UUID", "uuid", "gpu_uuid"});
    const std::string_view host = first_of(labels, {"Hostname", "hostname", "node", "instance"});
    const std::string_view index = first_of(labels, {"gpu", "gpu_id", "index", "device"});
    const std::string identity = uuid.empty()
                                     ? fmt::format("{}/{}/{}", host.empty() ? "host" : host, key(metric.scope), index)
                                     : std::string{uuid};
    const auto [found, fresh] = devices_.try_emplace(identity);
    DeviceInfo& info = found->second.info;
    if (fresh) {
      info.source = key(LogFormat::prometheus_json);
      info.vendor = metric.name.starts_with("DCGM_") || metric.name.starts_with("nvidia_") ? "nvidia" : "";
      info.name = first_of(labels, {"modelName", "name", "card_series"});
      info.uuid = uuid;
      if (uuid.empty()) info.path = identity;
      info.scope = metric.scope;
      const Reading<double> number = read_cell(index, Dimension::number, 1);
      if (number && *number >= 0 && *number < 1e6) info.index = static_cast<std::size_t>(*number);
    }
    return found->second;
  }

  LogBuilder builder_;
  std::string where_;
  std::map<std::string, Device> devices_;
  std::size_t used_ = 0;
};

}  // namespace

Result<Log> read_prometheus_json(std::string_view text, std::string_view where, const LogOptions& options) {
  return Reader{where, options}.run(text);
}

}  // namespace flopwatt::telemetry
