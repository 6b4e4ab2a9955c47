#include "flopwatt/telemetry/logs/amd_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/io/json.hpp"
#include "flopwatt/telemetry/logs/json_documents.hpp"
#include "flopwatt/telemetry/logs/log_builder.hpp"
#include "flopwatt/telemetry/logs/sample_field.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"

// rocm-smi: ROCm/rocm_smi_lib, python_smi_tools/rocm_smi.py (printLog of showPower, showUse, showEnergy, showMemInfo).
// amd-smi: ROCm/amdsmi, amdsmi_cli/amdsmi_commands.py (metric): {value, unit} pairs, or bare numbers in older releases.

namespace flopwatt::telemetry {
namespace {

using io::Json;

const Json* member(const Json& object, std::string_view key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(std::string{key});
  return found == object.end() ? nullptr : &*found;
}

const Json* at(const Json& object, std::initializer_list<std::string_view> path) {
  const Json* value = &object;
  for (const std::string_view key : path) {
    value = member(*value, key);
    if (value == nullptr) return nullptr;
  }
  return value;
}

/// A number, a text with or without a unit, or {value, unit}; not_asked where there is nothing.
Reading<double> reading_of(const Json* value, Dimension dimension, double factor) {
  if (value == nullptr) return Absence::not_asked;
  if (value->is_object()) {
    const Json* unit = member(*value, "unit");
    if (unit != nullptr && unit->is_string()) {
      const double stated = unit_factor(dimension, unit->get_ref<const std::string&>());
      if (stated == 0) return Absence::garbage;
      factor = stated;
    }
    return reading_of(member(*value, "value"), dimension, factor);
  }
  if (value->is_number()) return value->get<double>() * factor;
  if (value->is_string()) return read_cell(value->get_ref<const std::string&>(), dimension, factor);
  return value->is_null() ? Absence::not_supported : Absence::garbage;
}

std::optional<Stamp> stamp_in(const Json& object) {
  for (const std::string_view key : {"timestamp", "time", "ts", "datetime"}) {
    const Json* value = member(object, key);
    if (value == nullptr) continue;
    if (value->is_string()) return parse_stamp(value->get_ref<const std::string&>());
    if (value->is_number()) return parse_stamp(value->dump());
  }
  return std::nullopt;
}

/// What both formats do: documents, times, kinds of power.
class JsonLogReader {
 public:
  JsonLogReader(LogFormat format, std::string_view where, const LogOptions& options)
      : builder_{format, where, options} {}

  template <class TakeDocument>
  Result<Log> run(std::string_view text, const TakeDocument& take_document) {
    FLOPWATT_TRY(const JsonDocuments split, split_json(text, builder_.where()));
    for (const std::size_t line : split.other_lines) builder_.skip_line(line);
    if (split.torn_tail) builder_.torn_tail();
    for (const JsonDocument& document : split.documents) {
      FLOPWATT_TRY(const Json json, io::parse_json(document.text, fmt::format("{} (document of line {})",
                                                                              builder_.where(), document.line)));
      if (!take_document(json, document.stamp)) builder_.skip_line(document.line);
    }
    return std::move(builder_).finish();
  }

  LogBuilder& builder() { return builder_; }

  /// The current power where it is a number, else the average; one kind for each device.
  void set_power(Snapshot& sample, std::size_t device, const Reading<double>& current, const Reading<double>& average) {
    if (device >= kinds_.size()) kinds_.resize(device + 1, PowerKind::unknown);
    PowerKind& kind = kinds_[device];
    if (kind == PowerKind::unknown && (current || average)) {
      kind = current ? PowerKind::current : PowerKind::average;
      if (current && average) builder_.note("Where a device has current and average power, the current one is read.");
    }
    const bool of_average = kind == PowerKind::average ||
                            (kind == PowerKind::unknown && !current && current.reason() == Absence::not_asked);
    set_field(sample, SampleField::power, of_average ? average : current, kind);
  }

 private:
  LogBuilder builder_;
  std::vector<PowerKind> kinds_;
};

struct NamedField {
  std::string_view key;
  SampleField field;
  double factor;
};
constexpr std::array kRocmFields{
    NamedField{"Accumulated Energy (uJ)", SampleField::energy, 1e-6},
    NamedField{"Max Graphics Package Power (W)", SampleField::limit, 1},
    NamedField{"GPU use (%)", SampleField::utilization, 0.01},
    NamedField{"Temperature (Sensor junction) (C)", SampleField::temperature, 1},
    NamedField{"VRAM Total Memory (B)", SampleField::memory_total, 1},
    NamedField{"VRAM Total Used Memory (B)", SampleField::memory_used, 1},
};

std::optional<std::size_t> card_number(std::string_view key) {
  if (!key.starts_with("card") || key.size() < 5 || key.size() > 9) return std::nullopt;
  std::size_t number = 0;
  for (const char c : key.substr(4)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + static_cast<std::size_t>(c - '0');
  }
  return number;
}

std::string text_in(const Json& object, std::string_view key) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_string()) return {};
  const std::string& text = value->get_ref<const std::string&>();
  return absence_of(text) == Absence::not_asked ? text : std::string{};
}

class RocmReader : public JsonLogReader {
 public:
  using JsonLogReader::JsonLogReader;

  bool take(const Json& document, std::optional<Stamp> stamp) {
    if (!document.is_object()) return false;
    if (const auto own = stamp_in(document)) stamp = own;
    bool any = false;
    std::optional<std::size_t> primary;
    for (const auto& [key, card] : document.items()) {
      const auto number = card_number(key);
      if (!number || !card.is_object()) continue;
      DeviceInfo info;
      info.source = telemetry::key(LogFormat::rocm_smi_json);
      info.vendor = "amd";
      info.index = *number;
      info.name = text_in(card, "Card Series");
      if (info.name.empty()) info.name = text_in(card, "Card series");
      info.pci_id = text_in(card, "PCI Bus");
      info.uuid = text_in(card, "Unique ID");
      const std::size_t device = builder().device(key, info);
      Snapshot sample;
      for (const NamedField& field : kRocmFields) {
        set_field(sample, field.field, reading_of(member(card, field.key), dimension_of(field.field), field.factor));
      }
      if (sample.energy && *sample.energy <= units::Energy{}) sample.energy = Absence::not_supported;
      set_power(sample, device,
                reading_of(member(card, "Current Socket Graphics Package Power (W)"), Dimension::power, 1),
                reading_of(member(card, "Average Graphics Package Power (W)"), Dimension::power, 1));
      join_dies(sample, device, primary);
      if (sample.power.value) primary = device;
      any = builder().add(device, stamp, sample) || any;
    }
    return any;
  }

 private:
  void join_dies(const Snapshot& sample, std::size_t device, std::optional<std::size_t> primary) {
    if (!sample.power.value.absent_for(Absence::in_other_reading) || !primary) return;
    DeviceInfo& second = builder().info(device);
    if (second.part_of) return;
    second.part_of = builder().info(*primary).index;
    DeviceInfo& first = builder().info(*primary);
    first.scope = Scope::module;
    ++first.dies;
    builder().note(fmt::format("card{} is a second die: the reading of card{} covers both of the package.",
                               second.index, first.index));
  }
};

class AmdReader : public JsonLogReader {
 public:
  using JsonLogReader::JsonLogReader;

  bool take(const Json& document, const std::optional<Stamp>& stamp) {
    if (document.is_array()) {
      bool any = false;
      for (const Json& entry : document) any = take(entry, stamp) || any;
      return any;
    }
    if (const Json* list = member(document, "gpu_data")) {
      const auto own = stamp_in(document);
      return take(*list, own ? own : stamp);
    }
    return take_device(document, stamp);
  }

 private:
  bool take_device(const Json& entry, std::optional<Stamp> stamp) {
    const Json* number = member(entry, "gpu");
    if (number == nullptr || !number->is_number_unsigned()) return false;
    if (const auto own = stamp_in(entry)) stamp = own;
    DeviceInfo info;
    info.source = key(LogFormat::amd_smi_json);
    info.vendor = "amd";
    info.index = number->get<std::size_t>();
    const std::size_t device = builder().device(fmt::format("{}", info.index), info);
    Snapshot sample;
    const auto set = [&](SampleField field, double factor, std::initializer_list<std::string_view> path) {
      set_field(sample, field, reading_of(at(entry, path), dimension_of(field), factor));
    };
    set(SampleField::energy, 1, {"energy", "total_energy_consumption"});
    set(SampleField::limit, 1, {"power", "power_limit"});
    set(SampleField::utilization, 0.01, {"usage", "gfx_activity"});
    set(SampleField::memory_used, 1e6, {"mem_usage", "used_vram"});
    set(SampleField::memory_total, 1e6, {"mem_usage", "total_vram"});
    set(SampleField::temperature, 1, {"temperature", "hotspot"});
    set(SampleField::compute_clock, 1e6, {"clock", "gfx_0", "clk"});
    set(SampleField::memory_clock, 1e6, {"clock", "mem_0", "clk"});
    if (sample.energy && *sample.energy <= units::Energy{}) sample.energy = Absence::not_supported;
    const auto watts = [&](std::string_view name) {
      return reading_of(at(entry, {"power", name}), Dimension::power, 1);
    };
    const Reading<double> either = watts("socket_power");
    set_power(sample, device, watts("current_socket_power"), watts("average_socket_power"));
    if (!sample.power.value && either.has_value()) {
      // The firmware's current power where the device has it, else its average: the tool does not say which.
      set_field(sample, SampleField::power, either);
    } else if (!sample.power.value && sample.power.value.absent_for(Absence::not_asked)) {
      set_field(sample, SampleField::power, either);
    }
    return builder().add(device, stamp, sample);
  }
};

}  // namespace

Result<Log> read_rocm_smi_json(std::string_view text, std::string_view where, const LogOptions& options) {
  RocmReader reader{LogFormat::rocm_smi_json, where, options};
  return reader.run(text,
                    [&](const Json& json, const std::optional<Stamp>& stamp) { return reader.take(json, stamp); });
}

Result<Log> read_amd_smi_json(std::string_view text, std::string_view where, const LogOptions& options) {
  AmdReader reader{LogFormat::amd_smi_json, where, options};
  return reader.run(text,
                    [&](const Json& json, const std::optional<Stamp>& stamp) { return reader.take(json, stamp); });
}

}  // namespace flopwatt::telemetry
