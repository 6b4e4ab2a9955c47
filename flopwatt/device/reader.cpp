#include "flopwatt/device/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"

namespace flopwatt::device {
namespace {

using io::JsonObject;
using units::Precision;

// Above these a figure is in the wrong unit (FLOP/s for TFLOP/s, MB for GB, mW for W).
constexpr double kMaxTeraflops = 1e6, kMaxGibibytes = 1e5, kMaxGigabytesPerSecond = 1e6, kMaxWatts = 1e5;

// The sources of one file by key, and which of them a figure cited.
struct Bibliography {
  std::map<std::string, Source, std::less<>> sources;
  std::set<std::string, std::less<>> cited;
};

// A positive number; NaN and infinities do not pass the JSON reader.
Result<double> positive(const JsonObject& object, std::string_view key, double max) {
  FLOPWATT_TRY(const double value, object.require_number(key));
  if (!(value > 0)) {
    return fail(
        object.error(key, fmt::format("expected a positive number, found {}", value), "leave out what is not known"));
  }
  if (value > max) {
    return fail(object.error(key, fmt::format("{} is beyond {}: wrong unit?", value, max), "use the unit in the key"));
  }
  return value;
}

template <class Enum>
Result<Enum> word(const JsonObject& object, std::string_view key, std::optional<Enum> (*parse)(std::string_view)) {
  FLOPWATT_TRY(const std::string text, object.require_string(key));
  const std::optional<Enum> value = parse(text);
  if (!value)
    return fail(object.error(key, fmt::format("\"{}\" is none of its words", base::excerpt(text)), "see the schema"));
  return *value;
}

// Canonical names only: a catalogue is written once and read often.
std::optional<Precision> canonical_precision(std::string_view text) {
  const std::optional<Precision> precision = units::parse_precision(text);
  return precision && units::name(*precision) == text ? precision : std::nullopt;
}

Result<std::string> text_or_empty(const JsonObject& object, std::string_view key) {
  FLOPWATT_TRY(std::optional<std::string> text, object.optional_string(key));
  return text.value_or(std::string{});
}

Result<std::string> filled_text(const JsonObject& object, std::string_view key) {
  FLOPWATT_TRY(std::string text, object.require_string(key));
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return fail(object.error(key, "is empty", "fill it in"));
  return text;
}

Result<std::vector<Source>> cite(const JsonObject& object, Bibliography& bibliography) {
  FLOPWATT_TRY(const std::vector<std::string> keys, object.require_strings("source"));
  if (keys.empty()) return fail(object.error("source", "is empty", "name the document that states the figure"));
  std::vector<Source> sources;
  for (const std::string& key : keys) {
    const auto found = bibliography.sources.find(key);
    if (found == bibliography.sources.end()) {
      return fail(object.error("source", fmt::format("\"{}\" is not listed", base::excerpt(key)),
                               "add it to `sources` of the file"));
    }
    sources.push_back(found->second);
    bibliography.cited.insert(key);
  }
  return sources;
}

template <class Quantity>
Result<std::optional<Published<Quantity>>> range(const JsonObject& object, double value, Quantity unit) {
  FLOPWATT_TRY(const auto ends, object.optional_numbers("range"));
  if (!ends) return std::optional<Published<Quantity>>{};
  if (ends->size() != 2 || !(ends->front() > 0 && ends->front() <= value && value <= ends->back())) {
    return fail(object.error("range", "expected [low, high] with the value between them", "correct the range"));
  }
  return std::optional<Published<Quantity>>{{ends->front() * unit, ends->back() * unit}};
}

template <class Quantity>
Result<std::optional<Figure<Quantity>>> figure(const JsonObject& device, std::string_view key, Quantity unit,
                                               double max, Bibliography& bibliography) {
  FLOPWATT_TRY(const std::optional<JsonObject> object, device.optional_object(key));
  if (!object) return std::optional<Figure<Quantity>>{};
  FLOPWATT_TRY_VOID(object->refuse_other_keys({"value", "range", "source", "confidence", "note"}));
  Figure<Quantity> result;
  FLOPWATT_TRY(const double value, positive(*object, "value", max));
  result.value = value * unit;
  FLOPWATT_TRY(result.range, range(*object, value, unit));
  FLOPWATT_TRY(result.sources, cite(*object, bibliography));
  FLOPWATT_TRY(result.confidence, word(*object, "confidence", parse_confidence));
  FLOPWATT_TRY(result.note, text_or_empty(*object, "note"));
  return std::optional<Figure<Quantity>>{std::move(result)};
}

Result<Peak> read_peak(const JsonObject& object, Bibliography& bibliography) {
  FLOPWATT_TRY_VOID(object.refuse_other_keys(
      {"precision", "path", "accumulate", "tflops_per_second", "range", "source", "confidence", "origin", "note"}));
  Peak peak;
  FLOPWATT_TRY(peak.precision, word(object, "precision", canonical_precision));
  FLOPWATT_TRY(peak.path, word(object, "path", parse_path));
  FLOPWATT_TRY(peak.accumulate, word(object, "accumulate", parse_accumulate));
  FLOPWATT_TRY(const double rate, positive(object, "tflops_per_second", kMaxTeraflops));
  peak.rate = rate * units::teraflop_per_second;
  FLOPWATT_TRY(peak.range, range(object, rate, units::teraflop_per_second));
  FLOPWATT_TRY(peak.sources, cite(object, bibliography));
  FLOPWATT_TRY(peak.confidence, word(object, "confidence", parse_confidence));
  if (object.has("origin")) {
    FLOPWATT_TRY(peak.origin, word(object, "origin", parse_origin));
  }
  FLOPWATT_TRY(peak.note, text_or_empty(object, "note"));
  return peak;
}

Result<ComputeUnits> read_units(const JsonObject& object, Bibliography& bibliography) {
  FLOPWATT_TRY_VOID(
      object.refuse_other_keys({"name", "count", "clock_megahertz", "flops_per_clock", "clock_inferred", "source"}));
  ComputeUnits units;
  FLOPWATT_TRY(units.name, filled_text(object, "name"));
  FLOPWATT_TRY(units.count, object.require_int("count", 1, 1'000'000));
  if (object.has("clock_megahertz")) {
    FLOPWATT_TRY(const double clock, positive(object, "clock_megahertz", 1e5));
    units.clock = clock * units::megahertz;
  }
  if (object.has("flops_per_clock")) {
    FLOPWATT_TRY(units.flops_per_clock, positive(object, "flops_per_clock", 1e9));
  }
  FLOPWATT_TRY(const std::optional<bool> inferred, object.optional_bool("clock_inferred"));
  units.clock_inferred = inferred.value_or(false);
  FLOPWATT_TRY(units.sources, cite(object, bibliography));
  return units;
}

Result<Interconnect> read_interconnect(const JsonObject& object, Bibliography& bibliography) {
  FLOPWATT_TRY_VOID(
      object.refuse_other_keys({"kind", "gigabytes_per_second_per_direction", "source", "confidence", "note"}));
  Interconnect link;
  FLOPWATT_TRY(link.kind, word(object, "kind", parse_link_kind));
  FLOPWATT_TRY(const double rate, positive(object, "gigabytes_per_second_per_direction", kMaxGigabytesPerSecond));
  link.per_direction = rate * units::gigabyte_per_second;
  FLOPWATT_TRY(link.sources, cite(object, bibliography));
  FLOPWATT_TRY(link.confidence, word(object, "confidence", parse_confidence));
  FLOPWATT_TRY(link.note, text_or_empty(object, "note"));
  return link;
}

const Peak* find_peak(const Device& device, Precision precision, Path path, Accumulate accumulate) {
  for (const Peak& peak : device.peaks) {
    if (kind(peak) == PeakKind{precision, path, accumulate}) return &peak;
  }
  return nullptr;
}

// What no single figure shows: peaks that contradict each other.
Result<void> check_peaks(const Device& device, const JsonObject& object) {
  const Peak* vector = find_peak(device, Precision::float32, Path::vector, Accumulate::fp32);
  for (const Peak& peak : device.peaks) {
    const std::string which =
        fmt::format("{} {} {}", units::name(peak.precision), name(peak.path), name(peak.accumulate));
    if (find_peak(device, peak.precision, peak.path, peak.accumulate) != &peak) {
      return fail(object.error("peaks", fmt::format("states {} twice", which), "keep one"));
    }
    for (const Unsupported& entry : device.unsupported) {
      if (entry.precision == peak.precision) {
        return fail(object.error("unsupported", fmt::format("{} has a peak", units::name(peak.precision)),
                                 "keep the peak or the reason"));
      }
    }
    if (peak.path == Path::tensor_sparse) {
      const Peak* dense = find_peak(device, peak.precision, Path::tensor_dense, peak.accumulate);
      if (dense != nullptr && peak.rate < dense->rate) {
        return fail(object.error("peaks", fmt::format("{} is below its dense rate", which), "are they swapped?"));
      }
    }
    const bool half = peak.precision == Precision::float16 || peak.precision == Precision::bfloat16;
    if (half && peak.path != Path::vector && vector != nullptr && peak.rate <= vector->rate) {
      return fail(object.error("peaks", fmt::format("{} is no faster than the float32 vector units", which),
                               "is it the vector rate?"));
    }
  }
  return {};
}

Result<Device> read_device(const JsonObject& object, Bibliography& bibliography) {
  FLOPWATT_TRY_VOID(object.refuse_other_keys(
      {"name", "family", "aliases", "driver_names", "vendor", "architecture", "chip", "compute_capability", "scope",
       "units", "peaks", "memory_gibibytes", "memory_bandwidth_gigabytes_per_second", "board_limit_watts", "idle_watts",
       "interconnects", "unsupported", "notes"}));
  Device device;
  FLOPWATT_TRY(device.name, filled_text(object, "name"));
  FLOPWATT_TRY(const std::optional<std::string> family, object.optional_string("family"));
  device.family = family.value_or(device.name);
  FLOPWATT_TRY(std::optional<std::vector<std::string>> aliases, object.optional_strings("aliases"));
  device.aliases = std::move(aliases).value_or(std::vector<std::string>{});
  FLOPWATT_TRY(std::optional<std::vector<std::string>> driver_names, object.optional_strings("driver_names"));
  device.driver_names = std::move(driver_names).value_or(std::vector<std::string>{});
  FLOPWATT_TRY(device.vendor, filled_text(object, "vendor"));
  FLOPWATT_TRY(device.architecture, filled_text(object, "architecture"));
  FLOPWATT_TRY(device.chip, text_or_empty(object, "chip"));
  FLOPWATT_TRY(device.compute_capability, text_or_empty(object, "compute_capability"));
  FLOPWATT_TRY(device.scope, word(object, "scope", parse_scope));

  FLOPWATT_TRY(const std::optional<JsonObject> units, object.optional_object("units"));
  if (units) {
    FLOPWATT_TRY(device.compute_units, read_units(*units, bibliography));
  }
  FLOPWATT_TRY(device.memory, figure(object, "memory_gibibytes", units::gibibyte, kMaxGibibytes, bibliography));
  FLOPWATT_TRY(device.memory_bandwidth, figure(object, "memory_bandwidth_gigabytes_per_second",
                                               units::gigabyte_per_second, kMaxGigabytesPerSecond, bibliography));
  FLOPWATT_TRY(device.board_limit, figure(object, "board_limit_watts", units::watt, kMaxWatts, bibliography));
  FLOPWATT_TRY(device.idle, figure(object, "idle_watts", units::watt, kMaxWatts, bibliography));

  FLOPWATT_TRY(const std::vector<JsonObject> peaks, object.require_objects("peaks"));
  for (const JsonObject& peak : peaks) {
    FLOPWATT_TRY(Peak read, read_peak(peak, bibliography));
    device.peaks.push_back(std::move(read));
  }
  FLOPWATT_TRY(const auto links, object.optional_objects("interconnects"));
  for (const JsonObject& link : links.value_or(std::vector<JsonObject>{})) {
    FLOPWATT_TRY(Interconnect read, read_interconnect(link, bibliography));
    device.interconnects.push_back(std::move(read));
  }
  FLOPWATT_TRY(const auto unsupported, object.optional_objects("unsupported"));
  for (const JsonObject& entry : unsupported.value_or(std::vector<JsonObject>{})) {
    FLOPWATT_TRY_VOID(entry.refuse_other_keys({"precision", "reason"}));
    FLOPWATT_TRY(const Precision precision, word(entry, "precision", canonical_precision));
    FLOPWATT_TRY(std::string reason, filled_text(entry, "reason"));
    device.unsupported.push_back({precision, std::move(reason)});
  }
  FLOPWATT_TRY(std::optional<std::vector<std::string>> notes, object.optional_strings("notes"));
  device.notes = std::move(notes).value_or(std::vector<std::string>{});
  FLOPWATT_TRY_VOID(check_peaks(device, object));
  return device;
}

}  // namespace

Result<std::vector<Device>> read_devices(std::string_view text, std::string_view where) {
  FLOPWATT_TRY(const io::Json document, io::parse_json(text, where));
  FLOPWATT_TRY(const JsonObject root, JsonObject::root(document, where));
  FLOPWATT_TRY_VOID(root.refuse_other_keys({"$schema", "schema", "sources", "devices"}));
  FLOPWATT_TRY_VOID(root.require_int("schema", kDeviceSchema, kDeviceSchema));

  Bibliography bibliography;
  FLOPWATT_TRY(const JsonObject sources, root.require_object("sources"));
  for (const std::string& key : sources.keys()) {
    FLOPWATT_TRY(const JsonObject entry, sources.require_object(key));
    FLOPWATT_TRY_VOID(entry.refuse_other_keys({"title", "url"}));
    Source source;
    FLOPWATT_TRY(source.title, filled_text(entry, "title"));
    FLOPWATT_TRY(source.url, text_or_empty(entry, "url"));
    bibliography.sources.emplace(key, std::move(source));
  }

  FLOPWATT_TRY(const std::vector<JsonObject> objects, root.require_objects("devices"));
  if (objects.empty()) return fail(root.error("devices", "is empty", "list at least one"));
  std::vector<Device> devices;
  for (const JsonObject& object : objects) {
    FLOPWATT_TRY(Device device, read_device(object, bibliography));
    devices.push_back(std::move(device));
  }
  for (const auto& [key, source] : bibliography.sources) {
    if (!bibliography.cited.contains(key)) return fail(sources.error(key, "is cited by no figure", "remove it"));
  }
  return devices;
}

}  // namespace flopwatt::device
