#include "flopwatt/report/json_parts.hpp"

#include <algorithm>

#include "flopwatt/base/version.hpp"
#include "flopwatt/report/json.hpp"

namespace flopwatt::report {

using io::JsonWriter;

void begin_answer(JsonWriter& json, std::string_view verb) {
  json.begin_object();
  json.member("flopwatt", base::kVersion).member("schema", kJsonSchema).member("verb", verb);
  json.key("inputs").begin_object();
}

void write_flags(JsonWriter& json, const std::vector<answers::Flag>& flags) {
  std::vector<std::string_view> codes;
  for (const answers::Flag& flag : flags) {
    if (std::find(codes.begin(), codes.end(), flag.code) == codes.end()) codes.push_back(flag.code);
  }
  json.key("flags").begin_array();
  for (const std::string_view code : codes) json.value(code);
  json.end_array().key("flag_details").begin_array();
  for (const answers::Flag& flag : flags) {
    json.begin_object().member("code", flag.code).member("text", flag.text).end_object();
  }
  json.end_array();
}

std::string finish_answer(JsonWriter&& json, const std::vector<std::string>& notes) {
  json.key("notes").begin_array();
  for (const std::string& note : notes) json.value(note);
  json.end_array().end_object();
  return std::move(json).take();
}

void write_strings(JsonWriter& json, std::string_view key, const std::vector<std::string>& strings) {
  json.key(key).begin_array();
  for (const std::string& text : strings) json.value(text);
  json.end_array();
}

void member(JsonWriter& json, std::string_view key, units::Count count) { json.member(key, count.value()); }

void member_quotient(JsonWriter& json, std::string_view key, units::Count dividend, units::Count divisor) {
  if (divisor == units::Count{0}) {
    json.key(key).null();
  } else if (dividend % divisor == units::Count{0}) {
    member(json, key, dividend / divisor);
  } else {
    json.member(key, dividend.to_double() / divisor.to_double());
  }
}

void write_model_inputs(JsonWriter& json, const model::Architecture& architecture) {
  json.member("model", architecture.name).member("model_source", architecture.source);
  json.member("model_type", architecture.model_type).member("family", architecture.family);
}

void write_workload_inputs(JsonWriter& json, const work::Workload& w) {
  json.member("phase", work::name(w.phase));
  if (w.sequence_lengths.empty()) {
    json.member("batch", w.batch).member("sequence", w.sequence);
  } else {
    json.key("sequence_lengths").begin_row();
    for (const std::int64_t length : w.sequence_lengths) json.value(length);
    json.end_array();
  }
  if (w.phase == work::Phase::generate) json.member("new_tokens", w.new_tokens).member("kv_cache", w.kv_cache);
  json.member("dtype", units::name(w.precision));
  json.member("kv_dtype", units::name(w.kv_precision.value_or(w.precision)));
  json.member("attention", work::name(w.mask)).member("kernel", work::name(w.kernel));
  json.member("body", work::name(w.body));
  if (w.phase == work::Phase::train) {
    json.member("recompute", work::name(w.recompute)).member("optimizer", work::name(w.optimizer));
    json.member("optimizer_dtype", units::name(w.optimizer_precision)).member("master_weights", w.master_weights);
  }
}

void write_peak(JsonWriter& json, const device::Peak& peak) {
  json.key("peak").begin_object();
  json.member("flops_per_second", peak.rate.in(units::flop_per_second)).member("dtype", units::name(peak.precision));
  json.member("path", device::name(peak.path)).member("accumulate", device::name(peak.accumulate));
  json.member("source", device::to_text(peak.sources)).member("origin", device::name(peak.origin));
  json.end_object();
}

void write_bandwidth(JsonWriter& json, const device::Device& device) {
  json.key("bandwidth");
  if (!device.memory_bandwidth) {
    json.null();
    return;
  }
  json.begin_object();
  json.member("bytes_per_second", device.memory_bandwidth->value.in(units::byte_per_second));
  json.member("source", device::to_text(device.memory_bandwidth->sources)).end_object();
}

void write_memory(JsonWriter& json, const work::Memory& memory) {
  json.key("memory").begin_object();
  member(json, "weights_bytes", memory.weights);
  member(json, "gradients_bytes", memory.gradients);
  member(json, "optimizer_bytes", memory.optimizer);
  member(json, "activations_bytes", memory.activations);
  member(json, "logits_bytes", memory.logits);
  member(json, "kv_cache_bytes", memory.kv_cache);
  member(json, "workspace_bytes", memory.workspace);
  member(json, "total_bytes", memory.total);
  json.end_object();
}

void write_calibration(JsonWriter& json, const answers::CalibrationUsed& used) {
  json.key("calibration");
  if (used.device.empty()) {
    json.null();
    return;
  }
  json.begin_object().member("device", used.device).member("origin", used.origin);
  if (used.peak) {
    json.key("peak").begin_object();
    json.member("flops_per_second", used.peak->rate.in(units::flop_per_second));
    json.member("dtype", units::name(used.peak->dtype)).member("path", used.peak->path);
    json.member("known_by", used.peak->known_by).member("source", used.peak->source).end_object();
  }
  json.end_object();
}

}  // namespace flopwatt::report
