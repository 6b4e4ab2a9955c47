#include "flopwatt/sweep/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/io/toml.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::sweep {
namespace {

using io::JsonObject;
using units::Precision;
using units::second;

constexpr std::int64_t kMaxSize = 1'000'000'000;
constexpr double kMaxSeconds = 1e8;  // three years
constexpr std::int64_t kMaxSamples = 1'000'000;

/// The one of `choices` that `word` names.
template <class T, std::size_t N>
Result<T> choice(const JsonObject& object, std::string_view key, const std::string& word,
                 const std::pair<std::string_view, T> (&choices)[N]) {
  std::string known;
  for (const auto& [text, value] : choices) {
    if (word == text) return value;
    known += (known.empty() ? "" : ", ") + std::string{text};
  }
  return fail(object.error(key, fmt::format("unknown value '{}'", base::excerpt(word)), "use one of " + known));
}

template <class T>
Result<void> refuse_twice(const JsonObject& object, std::string_view key, const std::vector<T>& values) {
  if (values.empty()) return fail(object.error(key, "the list is empty", "name at least one"));
  std::vector<T> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return fail(object.error(key, "an entry stands twice", "list each value once"));
  }
  return {};
}

/// A list of words; `otherwise` where it is absent, required where there is no such.
Result<std::vector<std::string>> words(const JsonObject& object, std::string_view key,
                                       std::vector<std::string> otherwise = {}) {
  if (!object.has(key) && !otherwise.empty()) return otherwise;
  FLOPWATT_TRY(auto list, object.require_strings(key));
  FLOPWATT_TRY_VOID(refuse_twice(object, key, list));
  return list;
}

template <class T, std::size_t N>
Result<std::vector<T>> choices_of(const JsonObject& object, std::string_view key, std::vector<std::string> otherwise,
                                  const std::pair<std::string_view, T> (&choices)[N]) {
  FLOPWATT_TRY(const auto list, words(object, key, std::move(otherwise)));
  std::vector<T> out;
  for (const std::string& word : list) {
    FLOPWATT_TRY(out.emplace_back(), choice(object, key, word, choices));
  }
  return out;
}

Result<std::vector<std::int64_t>> sizes(const JsonObject& object, std::string_view key,
                                        std::vector<std::int64_t> otherwise = {}) {
  if (!object.has(key) && !otherwise.empty()) return otherwise;
  FLOPWATT_TRY(auto list, object.require_ints(key, 1, kMaxSize));
  FLOPWATT_TRY_VOID(refuse_twice(object, key, list));
  return list;
}

Result<Precision> dtype_of(const JsonObject& object, std::string_view key, const std::string& word) {
  const auto precision = units::parse_precision(word);
  if (!precision || units::bits(*precision) < 16) {
    return fail(object.error(key, fmt::format("no dtype that a training step runs in: '{}'", base::excerpt(word)),
                             "use float32, tf32, float16 or bfloat16"));
  }
  return *precision;
}

Result<void> read_seconds(const JsonObject& object, std::string_view key, double min, units::Duration& target,
                          double max = kMaxSeconds) {
  FLOPWATT_TRY(const auto value, object.optional_number(key, min, max));
  if (value) target = *value * second;
  return {};
}

Result<void> read_count(const JsonObject& object, std::string_view key, std::int64_t min, std::int64_t max,
                        std::int64_t& target) {
  FLOPWATT_TRY(const auto value, object.optional_int(key, min, max));
  target = value.value_or(target);
  return {};
}

Result<void> read_protocol(const JsonObject& root, Protocol& protocol) {
  FLOPWATT_TRY(const auto object, root.optional_object("protocol"));
  if (!object) return {};
  FLOPWATT_TRY_VOID(object->refuse_other_keys({"warmup_steps", "cooldown_seconds", "sample_seconds",
                                               "half_width_percent", "min_samples", "max_samples", "repeats",
                                               "idle_seconds", "time_limit_seconds", "threads"}));
  FLOPWATT_TRY_VOID(read_count(*object, "warmup_steps", 0, kMaxSamples, protocol.warmup_steps));
  FLOPWATT_TRY_VOID(read_seconds(*object, "cooldown_seconds", 0, protocol.cooldown));
  FLOPWATT_TRY_VOID(read_seconds(*object, "sample_seconds", 1e-6, protocol.sample_time, 3600));
  FLOPWATT_TRY(const auto percent, object->optional_number("half_width_percent", 1e-6, 100));
  if (percent) protocol.half_width = *percent / 100;
  FLOPWATT_TRY_VOID(read_count(*object, "min_samples", 2, kMaxSamples, protocol.min_samples));
  FLOPWATT_TRY_VOID(read_count(*object, "max_samples", 2, kMaxSamples, protocol.max_samples));
  FLOPWATT_TRY_VOID(read_count(*object, "repeats", 1, 1000, protocol.repeats));
  FLOPWATT_TRY_VOID(read_seconds(*object, "idle_seconds", 0, protocol.idle_time));
  FLOPWATT_TRY_VOID(read_seconds(*object, "time_limit_seconds", 1e-3, protocol.time_limit));
  FLOPWATT_TRY_VOID(read_count(*object, "threads", 0, 4096, protocol.threads));
  if (protocol.max_samples < protocol.min_samples) {
    return fail(object->error(
        "max_samples", fmt::format("{} is less than min_samples, {}", protocol.max_samples, protocol.min_samples),
        "raise it, or lower min_samples"));
  }
  return {};
}

/// Keys of a table that only one kind of source has.
Result<void> refuse_keys(const JsonObject& object, std::initializer_list<std::string_view> keys,
                         std::string_view source) {
  for (const std::string_view key : keys) {
    if (object.has(key)) {
      return fail(object.error(key, fmt::format("means nothing to the source '{}'", source), "leave it out"));
    }
  }
  return {};
}

Result<void> read_power(const JsonObject& root, PowerPlan& power) {
  using Source = PowerPlan::Source;
  FLOPWATT_TRY(const auto object, root.optional_object("power"));
  if (!object) return {};
  FLOPWATT_TRY_VOID(object->refuse_other_keys(
      {"source", "file", "base_watts", "joules_per_flop", "joules_per_byte", "noise_percent"}));
  FLOPWATT_TRY(const auto word, object->optional_string("source"));
  static constexpr std::pair<std::string_view, Source> kSources[] = {{"auto", Source::automatic},
                                                                     {"recorded", Source::recorded},
                                                                     {"synthetic", Source::synthetic},
                                                                     {"none", Source::none}};
  power.source = Source::named;
  power.name = word.value_or("auto");
  if (power.name.empty()) return fail(object->error("source", "is empty", "use auto, or name a source"));
  for (const auto& [text, value] : kSources) {
    if (power.name == text) power.source = value;
  }
  if (power.source != Source::synthetic) {
    FLOPWATT_TRY_VOID(
        refuse_keys(*object, {"base_watts", "joules_per_flop", "joules_per_byte", "noise_percent"}, power.name));
  }
  if (power.source != Source::recorded) {
    FLOPWATT_TRY_VOID(refuse_keys(*object, {"file"}, power.name));
  } else {
    FLOPWATT_TRY(power.file, object->require_string("file"));
    if (power.file.empty()) return fail(object->error("file", "is empty", "name the log"));
  }
  if (power.source == Source::synthetic) {
    FLOPWATT_TRY(const double base, object->require_number("base_watts", 1e-3, 1e6));
    FLOPWATT_TRY(const auto per_flop, object->optional_number("joules_per_flop", 0, 1));
    FLOPWATT_TRY(const auto per_byte, object->optional_number("joules_per_byte", 0, 1));
    FLOPWATT_TRY(const auto noise, object->optional_number("noise_percent", 0, 50));
    power.base = base * units::watt;
    power.per_flop = per_flop.value_or(0) * (units::joule / units::flop);
    power.per_byte = per_byte.value_or(0) * (units::joule / units::byte);
    power.noise = noise.value_or(0) / 100;
  }
  return {};
}

/// A rate in its base unit, or as text with a unit: 1.2e11, "120 GFLOP/s".
template <class Quantity>
Result<Quantity> rate(const JsonObject& object, std::string_view key, Quantity unit,
                      Result<Quantity> (*parse)(std::string_view)) {
  const io::Json* value = object.find(key);
  Quantity out{};
  if (value != nullptr && value->is_string()) {
    FLOPWATT_TRY(const std::string text, object.require_string(key));
    const Result<Quantity> parsed = parse(text);
    if (!parsed) return fail(object.error(key, parsed.error().what, parsed.error().remedy));
    out = *parsed;
  } else {
    FLOPWATT_TRY(const double number, object.require_number(key));
    out = number * unit;
  }
  if (!(out.in(unit) > 0) || out.in(unit) > 1e24) {
    return fail(object.error(key, "is not above zero, or beyond any device", "correct the value"));
  }
  return out;
}

Result<void> read_peak(const JsonObject& root, const std::vector<Precision>& dtypes, PeakPlan& peak) {
  using Source = PeakPlan::Source;
  FLOPWATT_TRY(const auto object, root.optional_object("peak"));
  if (!object) return {};
  FLOPWATT_TRY_VOID(object->refuse_other_keys({"source", "device", "flops_per_second", "bytes_per_second"}));
  FLOPWATT_TRY(const auto word, object->optional_string("source"));
  static constexpr std::pair<std::string_view, Source> kSources[] = {
      {"catalogue", Source::catalogue}, {"measured", Source::measured}, {"stated", Source::stated}};
  FLOPWATT_TRY(peak.source, choice(*object, "source", word.value_or("catalogue"), kSources));
  if (peak.source != Source::catalogue) {
    FLOPWATT_TRY_VOID(refuse_keys(*object, {"device"}, name(peak.source)));
  } else {
    FLOPWATT_TRY(const auto device, object->optional_string("device"));
    peak.device = device.value_or("");
  }
  if (peak.source != Source::stated) {
    return refuse_keys(*object, {"flops_per_second", "bytes_per_second"}, name(peak.source));
  }
  FLOPWATT_TRY(const JsonObject peaks, object->require_object("flops_per_second"));
  for (const std::string& key : peaks.keys()) {
    FLOPWATT_TRY(const Precision dtype, dtype_of(peaks, key, key));
    if (peak.peaks.contains(dtype)) return fail(peaks.error(key, "names the same dtype again", "state it once"));
    FLOPWATT_TRY(peak.peaks[dtype], rate<units::FlopRate>(peaks, key, units::flop_per_second, units::parse_flop_rate));
  }
  for (const Precision dtype : dtypes) {
    if (!peak.peaks.contains(dtype)) {
      return fail(object->error("flops_per_second", fmt::format("no peak of {}", units::name(dtype)),
                                "state one for every dtype of the plan"));
    }
  }
  if (object->has("bytes_per_second")) {
    FLOPWATT_TRY(peak.bandwidth,
                 rate<units::Bandwidth>(*object, "bytes_per_second", units::byte_per_second, units::parse_bandwidth));
  }
  return {};
}

Result<void> read_device(const JsonObject& root, Plan& plan) {
  FLOPWATT_TRY(const auto word, root.optional_string("device"));
  const Result<workload::Place> place = workload::parse_place(word.value_or("cpu"));
  if (!place) return fail(root.error("device", place.error().what, place.error().remedy));
  plan.device = *place;
  return {};
}

Result<void> read_weights(const JsonObject& root, Plan& plan) {
  FLOPWATT_TRY(const auto object, root.optional_object("weights"));
  if (!object) return {};
  for (const std::string& key : object->keys()) {
    if (std::find(plan.models.begin(), plan.models.end(), key) == plan.models.end()) {
      return fail(object->error(key, "is none of the models", "use the word that stands in models"));
    }
    FLOPWATT_TRY(plan.weights[key], object->require_string(key));
  }
  return {};
}

Result<void> read_axes(const JsonObject& root, Plan& plan) {
  using workload::Attention;
  using workload::Padding;
  using workload::Recompute;
  static constexpr std::pair<std::string_view, Attention> kAttentions[] = {{"eager", Attention::eager},
                                                                           {"sdpa", Attention::sdpa}};
  static constexpr std::pair<std::string_view, Recompute> kRecomputes[] = {{"none", Recompute::none},
                                                                           {"full", Recompute::full}};
  static constexpr std::pair<std::string_view, Padding> kPaddings[] = {{"full", Padding::full},
                                                                       {"none", Padding::none}};
  FLOPWATT_TRY(plan.models, words(root, "models"));
  for (const std::string& model : plan.models) {
    if (model.empty()) return fail(root.error("models", "an entry is empty", "name a model"));
  }
  FLOPWATT_TRY(const auto dtypes, words(root, "dtypes"));
  for (const std::string& word : dtypes) {
    FLOPWATT_TRY(plan.dtypes.emplace_back(), dtype_of(root, "dtypes", word));
  }
  FLOPWATT_TRY_VOID(refuse_twice(root, "dtypes", plan.dtypes));
  FLOPWATT_TRY(plan.attention, choices_of(root, "attention", {"sdpa"}, kAttentions));
  FLOPWATT_TRY(plan.recomputes, choices_of(root, "recompute", {"none"}, kRecomputes));
  FLOPWATT_TRY(plan.batches, sizes(root, "batch"));
  FLOPWATT_TRY(plan.sequences, sizes(root, "sequence"));
  FLOPWATT_TRY(plan.accumulations, sizes(root, "accumulation", {1}));
  FLOPWATT_TRY(const auto padding, root.optional_string("pad"));
  FLOPWATT_TRY(plan.padding, choice(root, "pad", padding.value_or("full"), kPaddings));

  std::int64_t configurations = 1;
  for (const std::size_t size : {plan.models.size(), plan.dtypes.size(), plan.attention.size(), plan.batches.size(),
                                 plan.sequences.size(), plan.recomputes.size(), plan.accumulations.size()}) {
    if (static_cast<std::int64_t>(size) > kMaxConfigurations / configurations) {
      return fail(root.error("", fmt::format("more than {} configurations", kMaxConfigurations), "shorten the lists"));
    }
    configurations *= static_cast<std::int64_t>(size);
  }
  return {};
}

}  // namespace

std::string_view name(PowerPlan::Source source) noexcept {
  switch (source) {
    case PowerPlan::Source::automatic:
      return "auto";
    case PowerPlan::Source::named:
      return "named";
    case PowerPlan::Source::recorded:
      return "recorded";
    case PowerPlan::Source::synthetic:
      return "synthetic";
    case PowerPlan::Source::none:
      break;
  }
  return "none";
}

std::string_view name(PeakPlan::Source source) noexcept {
  switch (source) {
    case PeakPlan::Source::catalogue:
      return "catalogue";
    case PeakPlan::Source::measured:
      return "measured";
    case PeakPlan::Source::stated:
      break;
  }
  return "stated";
}

std::string Protocol::canonical() const {
  io::JsonWriter json{io::JsonWriter::Style::compact};
  json.begin_object().member("warmup_steps", warmup_steps).member("cooldown_seconds", cooldown.in(second));
  json.member("sample_seconds", sample_time.in(second)).member("half_width", half_width);
  json.member("min_samples", min_samples).member("max_samples", max_samples).member("threads", threads);
  return std::move(json.end_object()).take();
}

Result<Plan> read_plan(std::string_view text, std::string_view where) {
  FLOPWATT_TRY(const io::Json document, io::parse_toml(text, where));
  FLOPWATT_TRY(const JsonObject root, JsonObject::root(document, where));
  FLOPWATT_TRY_VOID(root.refuse_other_keys({"models", "weights", "dtypes", "attention", "batch", "sequence",
                                            "recompute", "accumulation", "pad", "device", "seed", "learning_rate",
                                            "weight_decay", "workload", "protocol", "power", "peak"}));
  Plan plan;
  plan.where = where;
  FLOPWATT_TRY_VOID(read_axes(root, plan));
  FLOPWATT_TRY_VOID(read_weights(root, plan));
  FLOPWATT_TRY_VOID(read_device(root, plan));
  FLOPWATT_TRY(const auto seed, root.optional_int("seed", 0));
  plan.seed = seed.value_or(0);
  FLOPWATT_TRY(const auto learning_rate, root.optional_number("learning_rate", 0, 1e3));
  plan.learning_rate = learning_rate.value_or(plan.learning_rate);
  FLOPWATT_TRY(const auto weight_decay, root.optional_number("weight_decay", 0, 1e3));
  plan.weight_decay = weight_decay.value_or(plan.weight_decay);
  FLOPWATT_TRY(const auto workload, root.optional_string("workload"));
  plan.workload = workload.value_or("");
  FLOPWATT_TRY_VOID(read_protocol(root, plan.protocol));
  FLOPWATT_TRY_VOID(read_power(root, plan.power));
  FLOPWATT_TRY_VOID(read_peak(root, plan.dtypes, plan.peak));
  if (plan.peak.source == PeakPlan::Source::catalogue && plan.device.type == workload::Place::Type::cpu &&
      plan.peak.device.empty()) {
    return fail(
        root.error("peak", "the catalogue knows no processors", "say [peak] source = \"measured\", or state one"));
  }
  return plan;
}

}  // namespace flopwatt::sweep
