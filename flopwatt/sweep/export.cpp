#include "flopwatt/sweep/export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <variant>

#include "flopwatt/io/csv_writer.hpp"
#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/work/ledger.hpp"

namespace flopwatt::sweep {
namespace {

constexpr double kMebibyte = 1048576.0;

/// The study's columns of a raw file, then ours.
const std::vector<std::string> kColumns{
    "model_name", "batch_size", "dtype", "sequence_length", "context_window", "learning_rate", "warmup_iterations",
    "cooldown_seconds", "io_latency_enabled", "io_latency_profile", "io_latency_pattern", "power_meter_available",
    "tokens_per_second", "mfu_percentage", "mfu_percentage_calflops", "gpu_utilization", "memory_utilization",
    "memory_used_mb", "temperature_celsius", "power_draw_watts", "num_layers", "num_heads", "head_dim",
    "formula_flops_per_token", "calflops_total", "samples_per_config", "cap_reached",
    // ours
    "device", "configuration_id", "run_id", "repeat", "sample", "begin_unix_seconds", "attention", "recompute",
    "accumulation", "padding", "step_seconds", "hfu_percentage", "mbu_percentage", "energy_joules",
    "peak_flops_per_second", "peak_source", "power_source", "power_kind", "power_scope"};

/// Cells by the names of their columns; what is not set is missing.
class RowCells {
 public:
  RowCells& text(std::string_view column, std::string_view value) { return cells_[column] = std::string{value}, *this; }
  RowCells& number(std::string_view column, std::optional<double> value) {
    if (value) cells_[column] = *value;
    return *this;
  }
  RowCells& whole(std::string_view column, units::Count value) { return cells_[column] = value.value(), *this; }
  RowCells& percent(std::string_view column, std::optional<double> fraction) {
    return number(column, fraction ? std::optional{100 * *fraction} : std::nullopt);
  }
  void write(io::CsvWriter& csv) const {
    for (const std::string& column : kColumns) {
      const auto cell = cells_.find(column);
      if (cell == cells_.end()) {
        csv.missing();
      } else {
        std::visit([&](const auto& value) { csv.field(value); }, cell->second);
      }
    }
    csv.end_row();
  }

 private:
  std::map<std::string_view, std::variant<std::string, double, units::Count::Integer>> cells_;
};

/// What the plan's protocol was, as the study's columns say it.
struct ProtocolColumns {
  std::optional<double> warmup, cooldown;
};
Result<ProtocolColumns> protocol_columns(Store& store) {
  FLOPWATT_TRY(const std::string text, store.protocol());
  FLOPWATT_TRY(const io::Json json, io::parse_json(text, store.path() + ": setting protocol"));
  FLOPWATT_TRY(const io::JsonObject root, io::JsonObject::root(json, store.path() + ": setting protocol"));
  ProtocolColumns out;
  FLOPWATT_TRY(out.warmup, root.optional_number("warmup_steps"));
  FLOPWATT_TRY(out.cooldown, root.optional_number("cooldown_seconds"));
  return out;
}

class Exporter {
 public:
  Exporter(Store& store, ProtocolColumns protocol) : store_{store}, protocol_{protocol} {}

  Result<Exported> run() {
    FLOPWATT_TRY(models_, store_.models());
    FLOPWATT_TRY(const auto configurations, store_.configurations());
    FLOPWATT_TRY(const auto runs, store_.runs());
    std::map<std::string, const Configuration*> by_id;
    for (const auto& one : configurations) by_id[one.id] = &one.configuration;
    for (const RunRecord& run : runs) {
      if (run.state != RunState::finished) continue;
      const auto known = by_id.find(run.configuration);
      if (known == by_id.end() || run.peak_flops_per_second < 1) {
        return fail(Errc::bad_data,
                    fmt::format("run {}: column {} holds what no sweep writes", run.id,
                                known == by_id.end() ? "configuration" : "peak_flops_per_second"),
                    store_.path(), "restore the store from a copy");
      }
      FLOPWATT_TRY_VOID(add_run(run, *known->second));
    }
    if (out_.rows == 0) {
      return fail(Errc::bad_data, "holds no finished run", store_.path(), "run the sweep, or ask for its report");
    }
    FLOPWATT_TRY(const auto idle, store_.idle());
    for (const IdleRecord& reading : idle) add_idle(reading);
    if (devices_.size() == 1) out_.device = *devices_.begin();
    out_.csv = std::move(csv_).take();
    return out_;
  }

 private:
  /// PaLM's estimate of the training FLOPs a token: what the study calls the formula.
  Result<std::optional<double>> formula_of(const RunRecord& run, const Configuration& c) {
    const auto model = models_.find(c.config_sha256);
    if (model == models_.end()) return std::optional<double>{};
    FLOPWATT_TRY(const model::Architecture architecture,
                 model::read_config(model->second.config, store_.path(), {.as_family = "", .name = c.model}));
    return std::optional{work::palm_flops_per_token(architecture, run.tensor_sequence).to_double()};
  }

  [[nodiscard]] RowCells study_cells() const {
    RowCells cells;
    cells.number("warmup_iterations", protocol_.warmup).number("cooldown_seconds", protocol_.cooldown);
    cells.text("io_latency_enabled", "False").text("power_meter_available", "False");
    return cells;
  }

  Result<void> add_run(const RunRecord& run, const Configuration& c) {
    FLOPWATT_TRY(const std::optional<double> formula, formula_of(run, c));
    FLOPWATT_TRY(const auto samples, store_.samples(run.id));
    devices_.insert(run.device_name);
    device_of_host_[run.host] = run.device_name;
    dtype_ = units::name(c.dtype);

    RowCells set = study_cells();
    set.text("model_name", c.model).text("dtype", dtype_).whole("batch_size", c.batch * c.accumulation);
    set.whole("sequence_length", run.tensor_sequence).whole("context_window", c.sequence);
    set.number("learning_rate", c.learning_rate);
    set.whole("num_layers", run.layers).whole("num_heads", run.heads).whole("head_dim", run.head_width);
    set.number("formula_flops_per_token", formula).whole("calflops_total", run.step_flops);
    set.whole("samples_per_config", samples.size());
    set.text("cap_reached", run.reason == reason::kCapped ? "True" : "False");
    set.text("device", run.device_name).text("configuration_id", run.configuration).text("run_id", run.uid);
    set.whole("repeat", run.repeat).text("attention", workload::name(c.attention));
    set.text("recompute", workload::name(c.recompute)).whole("accumulation", c.accumulation);
    set.text("padding", workload::name(c.padding)).number("peak_flops_per_second", run.peak_flops_per_second);
    set.text("peak_source", run.peak_source).text("power_source", run.power_source);
    set.text("power_kind", run.power_kind).text("power_scope", run.power_scope);
    for (const SampleRecord& s : samples) {
      const double tokens_per_second = static_cast<double>(s.tokens) / s.device_seconds;
      RowCells row = set;
      row.number("tokens_per_second", tokens_per_second);
      if (formula) row.percent("mfu_percentage", tokens_per_second * *formula / run.peak_flops_per_second);
      row.percent("mfu_percentage_calflops", s.mfu).percent("hfu_percentage", s.hfu).percent("mbu_percentage", s.mbu);
      row.percent("gpu_utilization", s.utilization).percent("memory_utilization", s.memory_utilization);
      if (s.peak_memory_bytes) row.number("memory_used_mb", static_cast<double>(*s.peak_memory_bytes) / kMebibyte);
      row.number("temperature_celsius", s.temperature_celsius).number("power_draw_watts", s.power_watts);
      row.number("energy_joules", s.energy_joules).whole("sample", s.number);
      row.number("begin_unix_seconds", s.begin_unix_seconds);
      row.number("step_seconds", s.device_seconds / static_cast<double>(s.steps));
      row.write(csv_);
      ++out_.rows;
    }
    return {};
  }

  void add_idle(const IdleRecord& idle) {
    const auto device = device_of_host_.find(idle.host);
    if (device == device_of_host_.end()) return;  // nothing was measured there
    RowCells row = study_cells();
    row.text("model_name", "baseline").text("dtype", dtype_).whole("batch_size", 0).whole("sequence_length", 0);
    row.text("device", device->second).number("power_draw_watts", idle.power_watts);
    row.percent("gpu_utilization", idle.utilization).percent("memory_utilization", idle.memory_utilization);
    row.number("temperature_celsius", idle.temperature_celsius).number("begin_unix_seconds", idle.begin_unix_seconds);
    row.text("power_source", idle.power_source).text("power_kind", idle.power_kind);
    row.text("power_scope", idle.power_scope).write(csv_);
    ++out_.idle_rows;
  }

  Store& store_;
  ProtocolColumns protocol_;
  std::map<std::string, Model> models_;
  io::CsvWriter csv_{kColumns};
  Exported out_;
  std::set<std::string> devices_;
  std::map<std::string, std::string> device_of_host_;
  std::string dtype_;
};

}  // namespace

Result<Exported> export_csv(Store& store) {
  FLOPWATT_TRY(const ProtocolColumns protocol, protocol_columns(store));
  return Exporter{store, protocol}.run();
}

Result<std::string> export_models(Store& store) {
  FLOPWATT_TRY(const auto models, store.models());
  io::Json entries = io::Json::array();
  for (const auto& [sha256, model] : models) {
    FLOPWATT_TRY(io::Json config, io::parse_json(model.config, store.path()));
    entries.push_back({{"name", model.name}, {"source", "a sweep, SHA-256 " + sha256}, {"config", std::move(config)}});
  }
  const io::Json document{{"schema", "flopwatt.models/1"}, {"models", std::move(entries)}};
  return document.dump(2, ' ', false, io::Json::error_handler_t::replace) + "\n";
}

}  // namespace flopwatt::sweep
