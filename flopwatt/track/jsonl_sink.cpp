#include <memory>
#include <utility>

#include "flopwatt/io/append_file.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/track/sink.hpp"

namespace flopwatt::track {
namespace {

void write_ratio(io::JsonWriter& json, std::string_view name, const Ratio& ratio) { json.member(name, ratio.value); }

void write_energy(io::JsonWriter& json, const Window& w) {
  if (w.energy.empty()) return;
  json.member("energy_joules", w.total_energy ? std::optional{w.total_energy->in(units::joule)} : std::nullopt);
  json.member("energy_per_token_joules",
              w.energy_per_token ? std::optional{w.energy_per_token->in(units::joule / units::token)} : std::nullopt);
  json.key("energy").begin_array();
  for (const telemetry::WindowEnergy& part : w.energy) {
    json.begin_object().member("scope", telemetry::key(part.scope)).member("method", telemetry::key(part.method));
    json.member("energy_joules", part.energy ? std::optional{part.energy->in(units::joule)} : std::nullopt);
    if (!part.energy) json.member("reason", telemetry::key(part.energy.reason()));
    json.member("uncertainty_joules", part.uncertainty.in(units::joule)).key("flags").begin_array();
    for (const telemetry::EnergyFlag flag : part.flags) json.value(telemetry::key(flag));
    json.end_array().end_object();
  }
  json.end_array();
}

/// A figure that was withheld is evidence, never a result.
void write_doubts(io::JsonWriter& json, const Window& w) {
  json.key("flags").begin_array();
  for (std::size_t i = 0; i < kDoubtCount; ++i) {
    if (w.doubts[i]) json.value(key(static_cast<Doubt>(i)));
  }
  json.end_array();
  if (!w.has(Doubt::above_peak) && !w.has(Doubt::above_bandwidth)) return;
  json.key("evidence").begin_object();
  const auto withheld = [&](std::string_view name, const Ratio& ratio) {
    if (ratio.impossible) json.member(name, *ratio.impossible);
  };
  withheld("mfu_computed", w.mfu);
  withheld("hfu_computed", w.hfu);
  withheld("mbu_computed", w.mbu);
  withheld("run_mfu_computed", w.run_mfu);
  json.member("likely_causes", text(w.has(Doubt::above_peak) ? Doubt::above_peak : Doubt::above_bandwidth));
  json.end_object();
}

class JsonlSink final : public Sink {
 public:
  explicit JsonlSink(io::AppendFile file) : file_{std::move(file)} {}
  Result<void> window(const Identity& who, const Window& window) override { return write(who, window, "window"); }
  Result<void> run(const Identity& who, const Window& run) override { return write(who, run, "run"); }

 private:
  Result<void> write(const Identity& who, const Window& w, std::string_view kind) {
    return file_.append_line(to_json_line(who, w, kind));
  }
  io::AppendFile file_;
};

}  // namespace

std::string to_json_line(const Identity& who, const Window& w, std::string_view kind) {
  io::JsonWriter json{io::JsonWriter::Style::compact};
  json.begin_object().member("kind", kind);
  json.member("rank", who.rank).member("ranks", who.ranks).member("devices", who.devices);
  json.member("device", who.device.empty() ? std::nullopt : std::optional{who.device});
  json.member("peak_flops_per_second", who.peak ? std::optional{who.peak->in(units::flop_per_second)} : std::nullopt);
  json.member("peak_source", who.peak_source.empty() ? std::nullopt : std::optional{who.peak_source});
  json.member("flops_origin", who.work_origin);
  json.member("steps", w.steps);
  if (w.steps == 0) return std::move(json.end_object()).take();
  json.member("first_step", w.first_step).member("last_step", w.last_step).member("micro_batches", w.micro_batches);
  json.member("step_time_seconds", w.step_time().in(units::second));
  json.member("in_steps_seconds", w.in_steps.in(units::second)).member("wall_seconds", w.wall.in(units::second));
  json.member("slots", w.tokens.slots).member("non_padding_tokens", w.tokens.non_padding);
  json.member("label_tokens", w.tokens.labels);
  json.member("slots_per_second", w.slots_per_second.in(units::token_per_second));
  json.member("tokens_per_second",
              w.tokens_per_second ? std::optional{w.tokens_per_second->in(units::token_per_second)} : std::nullopt);
  json.member("model_flops", w.model_flops.in(units::flop));
  json.member("mfu_tokens", w.tokens.non_padding ? "non_padding" : "slots");
  write_ratio(json, "mfu", w.mfu);
  write_ratio(json, "hfu", w.hfu);
  write_ratio(json, "mbu", w.mbu);
  write_ratio(json, "run_mfu", w.run_mfu);
  write_energy(json, w);
  write_doubts(json, w);
  return std::move(json.end_object()).take();
}

Result<std::unique_ptr<Sink>> jsonl_sink(const std::string& path) {
  FLOPWATT_TRY(io::AppendFile file, io::AppendFile::open(path));
  return std::make_unique<JsonlSink>(std::move(file));
}

}  // namespace flopwatt::track
