#include <algorithm>
#include <optional>
#include <string_view>

#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"
#include "flopwatt/report/moment.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;
using telemetry::Reading;
using telemetry::WindowEnergy;

std::string_view idle_key(answers::IdleSource source) {
  switch (source) {
    case answers::IdleSource::start:
      return "start";
    case answers::IdleSource::end:
      return "end";
    case answers::IdleSource::given:
      return "given";
    case answers::IdleSource::lowest_tenth:
      break;
  }
  return "lowest_tenth";
}

template <class Unit>
void write(JsonWriter& json, std::string_view key, const Reading<Unit>& reading, Unit unit) {
  json.key(key);
  if (reading) {
    json.value(reading->in(unit));
  } else {
    json.null();
  }
}

/// The moment where the log is dated, else seconds since its beginning.
void write_moment(JsonWriter& json, std::string_view key, const answers::EnergyDevice& device,
                  telemetry::SteadyTime time) {
  json.key(key);
  if (is_dated(device.time_base)) {
    json.value(moment_text(time));
  } else {
    json.value(telemetry::to_duration(time - device.log_start).in(units::second));
  }
}

void write_gaps(JsonWriter& json, const answers::EnergyDevice& device) {
  json.key("gaps").begin_array();
  for (const telemetry::Gap& gap : device.window.gaps) {
    json.begin_object();
    write_moment(json, "from", device, gap.from);
    write_moment(json, "to", device, gap.to);
    json.member("duration_seconds", telemetry::to_duration(gap.to - gap.from).in(units::second));
    json.member("reason", key(gap.reason)).member("filled", gap.filled).end_object();
  }
  json.end_array();
}

void write_device(JsonWriter& json, const answers::Energy& answer, const answers::EnergyDevice& device) {
  const WindowEnergy& window = device.window;
  json.begin_object();
  json.member("device", device.info.name.empty() ? device.info.id() : device.info.name);
  json.member("id", device.info.id()).member("index", device.info.index);
  json.member("scope", key(window.scope)).member("counted", device.counted);
  json.key("logs").begin_array();
  for (const std::size_t log : device.logs) json.value(answer.logs[log].file);
  json.end_array();
  json.member("method", key(window.method)).member("power_kind", key(window.power_kind));
  write_moment(json, "from", device, window.from);
  write_moment(json, "to", device, window.to);
  json.member("duration_seconds", window.duration.in(units::second));
  json.member("covered_seconds", window.covered.in(units::second)).member("samples", window.samples);
  write(json, "energy_joules", window.energy, units::joule);
  json.key("uncertainty_joules");
  if (window.energy) {
    json.value(window.uncertainty.in(units::joule));
  } else {
    json.null();
  }
  if (!window.energy) json.member("absent", key(window.energy.reason()));
  write(json, "mean_power_watts", window.mean_power, units::watt);
  write(json, "peak_power_watts", window.peak_power, units::watt);
  write(json, "idle_power_watts", window.idle_power, units::watt);
  json.member("idle_lowest_readings", window.idle_lowest).member("idle_readings", window.idle_readings);
  write(json, "dynamic_energy_joules", window.dynamic_energy, units::joule);
  write_gaps(json, device);
  json.key("flags").begin_array();
  for (const telemetry::EnergyFlag flag : window.flags) json.value(key(flag));
  json.end_array().end_object();
}

void write_log(JsonWriter& json, const answers::EnergyLog& log) {
  json.begin_object().member("file", log.file).member("format", key(log.format));
  json.member("time_base", key(log.time_base)).member("devices", log.devices).member("samples", log.samples);
  json.member("skipped_lines", log.skipped.count).key("first_skipped_lines").begin_row();
  for (const std::size_t line : log.skipped.first) json.value(line);
  json.end_array().member("torn_tail", log.torn_tail).end_object();
}

void write_totals(JsonWriter& json, const answers::Energy& answer) {
  json.key("totals").begin_array();
  for (const answers::EnergyTotal& total : answer.totals) {
    json.begin_object().member("scope", key(total.scope)).member("devices", total.devices);
    // Of devices that all have none there is no sum, and 0 J would be one.
    const bool any =
        std::any_of(answer.devices.begin(), answer.devices.end(), [&](const answers::EnergyDevice& device) {
          return device.counted && device.window.scope == total.scope && device.window.energy;
        });
    json.member("energy_joules", any ? std::optional{total.energy.in(units::joule)} : std::nullopt);
    json.member("uncertainty_joules", any ? std::optional{total.uncertainty.in(units::joule)} : std::nullopt);
    json.key("dynamic_energy_joules");
    if (any && total.dynamic_energy) {
      json.value(total.dynamic_energy->in(units::joule));
    } else {
      json.null();
    }
    json.member("complete", total.complete).end_object();
  }
  json.end_array();
}

template <class Unit>
void write(JsonWriter& json, std::string_view key, const std::optional<Unit>& value, Unit unit) {
  json.member(key, value ? std::optional{value->in(unit)} : std::nullopt);
}

void write_steps(JsonWriter& json, const answers::Energy& answer) {
  json.key("steps");
  if (!answer.steps) {
    json.null();
    return;
  }
  const answers::EnergySteps& steps = *answer.steps;
  json.begin_object().member("file", steps.file).member("count", steps.count).member("located", steps.located);
  write(json, "steps_seconds", steps.time, units::second);
  json.member("window_seconds", steps.window.in(units::second));
  write(json, "tokens", steps.tokens, units::token);
  write(json, "model_flops", steps.flops, units::flop);
  json.member("flops_origin", steps.flops_origin.empty() ? std::nullopt : std::optional{steps.flops_origin});
  json.member("scope", key(steps.scope)).member("devices", steps.devices).member("complete", steps.complete);
  write(json, "energy_joules", steps.energy, units::joule);
  json.member("uncertainty_joules", steps.uncertainty.in(units::joule));
  const auto ratio = [](bool there, double value) { return there ? std::optional{value} : std::nullopt; };
  const bool per_token = steps.energy && steps.tokens && *steps.tokens > units::TokenCount{};
  json.member("energy_per_token_joules",
              ratio(per_token, per_token ? (*steps.energy / *steps.tokens).in(units::joule / units::token) : 0));
  json.member("energy_per_step_joules",
              ratio(steps.energy.has_value(),
                    steps.energy ? steps.energy->in(units::joule) / static_cast<double>(steps.count) : 0));
  const bool per_joule = steps.energy && steps.flops && *steps.energy > units::Energy{};
  json.member("flops_per_joule",
              ratio(per_joule, per_joule ? (*steps.flops / *steps.energy).in(units::flop / units::joule) : 0));
  json.member("mfu", steps.mfu);
  write(json, "peak_flops_per_second", steps.peak, units::flop_per_second);
  json.member("peak_of", steps.peak_source.empty() ? std::nullopt : std::optional{steps.peak_source}).end_object();
}

}  // namespace

std::string to_json(const answers::Energy& answer) {
  JsonWriter json;
  begin_answer(json, "energy");
  json.key("logs").begin_array();
  for (const answers::EnergyLog& log : answer.logs) write_log(json, log);
  json.end_array().end_object();
  json.key("devices").begin_array();
  for (const answers::EnergyDevice& device : answer.devices) write_device(json, answer, device);
  json.end_array();
  write_totals(json, answer);
  write_steps(json, answer);
  json.member("idle_source", idle_key(answer.idle_source)).key("idle_span_seconds");
  if (answer.idle_span) {
    json.value(answer.idle_span->in(units::second));
  } else {
    json.null();
  }
  write_flags(json, answer.flags);
  return finish_answer(std::move(json), answer.notes);
}

}  // namespace flopwatt::report
