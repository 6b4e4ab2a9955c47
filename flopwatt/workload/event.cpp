#include "flopwatt/workload/event.hpp"

#include <nlohmann/json.hpp>

#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/workload/words.hpp"

namespace flopwatt::workload {
namespace {

constexpr std::string_view kEvent = "workload event";
constexpr const char* kOneVersion = "use the flopwatt-torch that was built with it (FLOPWATT_TORCH, PATH)";
constexpr Words<4> kReasons{"out_of_memory", "unsupported", "error", "protocol"};

void write_members(io::JsonWriter& json, const Ready& ready) {
  json.member("event", "ready").member("device_name", ready.device_name).member("library", ready.library);
  json.member("threads", ready.threads).member("tensor_batch", ready.tensor_batch);
  json.member("tensor_sequence", ready.tensor_sequence).member("accumulation", ready.accumulation);
  json.member("parameters", ready.parameters);
}
void write_members(io::JsonWriter& json, const Warm& warm) {
  json.member("event", "warm").member("steps", warm.steps).member("seconds", warm.seconds);
  json.key("counted");
  if (!warm.counted) {
    json.null();
    return;
  }
  const CountedStep& counted = *warm.counted;
  json.begin_object().member("forward_flops", counted.forward_flops);
  json.member("backward_flops", counted.backward_flops).member("recompute_flops", counted.recompute_flops);
  json.member("fused_attention", counted.fused_attention).key("not_counted").begin_array();
  for (const std::string& name : counted.not_counted) json.value(name);
  json.end_array().end_object();
}
void write_members(io::JsonWriter& json, const Sample& sample) {
  json.member("event", "sample").member("steps", sample.steps).member("begin_seconds", sample.begin_seconds);
  json.member("end_seconds", sample.end_seconds).member("device_seconds", sample.device_seconds);
  json.member("tokens", sample.tokens).member("peak_memory_bytes", sample.peak_memory_bytes);
}
void write_members(io::JsonWriter& json, const Ceiling& ceiling) {
  json.member("event", "ceiling").member("flops_per_second", ceiling.flops_per_second);
  json.member("matrix_size", ceiling.matrix_size).member("bytes_per_second", ceiling.bytes_per_second);
  json.member("copy_bytes", ceiling.copy_bytes);
}
void write_members(io::JsonWriter& json, const Failed& failed) {
  json.member("event", "failed").member("reason", name(failed.reason)).member("detail", failed.detail);
}
void write_members(io::JsonWriter& json, const Done&) { json.member("event", "done"); }

Result<Event> read_ready(const io::JsonObject& object) {
  Ready ready;
  FLOPWATT_TRY(ready.device_name, object.require_string("device_name"));
  FLOPWATT_TRY(ready.library, object.require_string("library"));
  FLOPWATT_TRY(ready.threads, object.require_int("threads", 1));
  FLOPWATT_TRY(ready.tensor_batch, object.require_int("tensor_batch", 0));
  FLOPWATT_TRY(ready.tensor_sequence, object.require_int("tensor_sequence", 0));
  FLOPWATT_TRY(ready.accumulation, object.require_int("accumulation", 0));
  FLOPWATT_TRY(ready.parameters, object.require_int("parameters", 0));
  FLOPWATT_TRY_VOID(object.refuse_other_keys(
      {"event", "device_name", "library", "threads", "tensor_batch", "tensor_sequence", "accumulation", "parameters"}));
  return ready;
}

Result<CountedStep> read_counted(const io::JsonObject& object) {
  CountedStep counted;
  FLOPWATT_TRY(counted.forward_flops, object.require_int("forward_flops", 0));
  FLOPWATT_TRY(counted.backward_flops, object.require_int("backward_flops", 0));
  FLOPWATT_TRY(counted.recompute_flops, object.require_int("recompute_flops", 0));
  FLOPWATT_TRY(counted.fused_attention, object.require_bool("fused_attention"));
  FLOPWATT_TRY(counted.not_counted, object.require_strings("not_counted"));
  FLOPWATT_TRY_VOID(object.refuse_other_keys(
      {"forward_flops", "backward_flops", "recompute_flops", "fused_attention", "not_counted"}));
  return counted;
}

Result<Event> read_warm(const io::JsonObject& object) {
  Warm warm;
  FLOPWATT_TRY(warm.steps, object.require_int("steps", 0));
  FLOPWATT_TRY(warm.seconds, object.require_number("seconds", 0.0));
  FLOPWATT_TRY(const auto counted, object.optional_object("counted"));
  if (counted) {
    FLOPWATT_TRY(warm.counted, read_counted(*counted));
  }
  FLOPWATT_TRY_VOID(object.refuse_other_keys({"event", "steps", "seconds", "counted"}));
  return warm;
}

Result<Event> read_sample(const io::JsonObject& object) {
  Sample sample;
  FLOPWATT_TRY(sample.steps, object.require_int("steps", 1));
  FLOPWATT_TRY(sample.begin_seconds, object.require_number("begin_seconds", 0.0));
  FLOPWATT_TRY(sample.end_seconds, object.require_number("end_seconds", 0.0));
  FLOPWATT_TRY(sample.device_seconds, object.require_number("device_seconds", 0.0));
  FLOPWATT_TRY(sample.tokens, object.require_int("tokens", 1));
  FLOPWATT_TRY(sample.peak_memory_bytes, object.optional_int("peak_memory_bytes", 0));
  FLOPWATT_TRY_VOID(object.refuse_other_keys(
      {"event", "steps", "begin_seconds", "end_seconds", "device_seconds", "tokens", "peak_memory_bytes"}));
  if (sample.end_seconds < sample.begin_seconds) return fail(object.error("end_seconds", "lies before begin_seconds"));
  return sample;
}

Result<Event> read_ceiling(const io::JsonObject& object) {
  Ceiling ceiling;
  FLOPWATT_TRY(ceiling.flops_per_second, object.require_number("flops_per_second", 0.0));
  FLOPWATT_TRY(ceiling.matrix_size, object.require_int("matrix_size", 1));
  FLOPWATT_TRY(ceiling.bytes_per_second, object.require_number("bytes_per_second", 0.0));
  FLOPWATT_TRY(ceiling.copy_bytes, object.require_int("copy_bytes", 1));
  FLOPWATT_TRY_VOID(
      object.refuse_other_keys({"event", "flops_per_second", "matrix_size", "bytes_per_second", "copy_bytes"}));
  return ceiling;
}

Result<Event> read_failed(const io::JsonObject& object) {
  Failed failed;
  FLOPWATT_TRY(failed.reason, require_word<Failed::Reason>(object, "reason", kReasons));
  FLOPWATT_TRY(failed.detail, object.require_string("detail"));
  FLOPWATT_TRY_VOID(object.refuse_other_keys({"event", "reason", "detail"}));
  return failed;
}

Result<Event> read_done(const io::JsonObject& object) {
  FLOPWATT_TRY_VOID(object.refuse_other_keys({"event"}));
  return Done{};
}

// In the order of Event.
constexpr Words<6> kEvents{"ready", "warm", "sample", "ceiling", "failed", "done"};
constexpr std::array kReaders{read_ready, read_warm, read_sample, read_ceiling, read_failed, read_done};
static_assert(std::variant_size_v<Event> == kReaders.size());

}  // namespace

std::string_view name(Failed::Reason value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < kReasons.size() ? kReasons[index] : "?";
}

std::string write(const Event& event) {
  io::JsonWriter json{io::JsonWriter::Style::compact};
  json.begin_object();
  std::visit([&](const auto& any) { write_members(json, any); }, event);
  json.end_object();
  return std::move(json).take();
}

Result<Event> read_event(std::string_view line) {
  FLOPWATT_TRY(const io::Json document, io::parse_json(line, kEvent));
  FLOPWATT_TRY(const io::JsonObject object, io::JsonObject::root(document, kEvent));
  FLOPWATT_TRY(const std::size_t which, require_word<std::size_t>(object, "event", kEvents));
  return kReaders[which](object);
}

Error not_understood(std::string_view program, std::string_view line, const Error& error) {
  constexpr std::size_t kShown = 60;
  if (line.starts_with(R"({"event":)")) {
    return {Errc::unavailable, "speaks another protocol than this flopwatt: " + error.what, std::string{program},
            kOneVersion};
  }
  return {Errc::unavailable, "is not flopwatt-torch: it said '" + base::excerpt(line, kShown) + "'",
          std::string{program}, "correct FLOPWATT_TORCH, or `workload` in the plan"};
}

Error not_understood(std::string_view program, const Failed& refusal) {
  return {Errc::unavailable, "speaks another protocol than this flopwatt: " + base::excerpt(refusal.detail, 120),
          std::string{program}, kOneVersion};
}

}  // namespace flopwatt::workload
