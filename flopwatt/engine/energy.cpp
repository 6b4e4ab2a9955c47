#include "flopwatt/engine/energy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwatt/engine/energy_logs.hpp"
#include "flopwatt/engine/energy_steps.hpp"
#include "flopwatt/engine/facts.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::engine {
namespace {

using answers::IdleSource;
using telemetry::EnergyOptions;
using telemetry::Reading;
using telemetry::SteadyTime;
using telemetry::WindowEnergy;
using units::Power;

bool is_called(const telemetry::DeviceInfo& device, std::string_view word) {
  const auto is_id = [&](std::string_view id) { return !id.empty() && same_name(id, word); };
  // UUIDs may be given shortened, as CUDA_VISIBLE_DEVICES takes them.
  const bool beginning = word.size() >= 8 && device.uuid.starts_with(word);
  return beginning || is_id(device.uuid) || is_id(device.pci_id) || is_id(device.id()) || is_id(device.name) ||
         is_id(fmt::format("{}", device.index));
}

Result<void> keep_chosen(std::vector<LoggedDevice>& devices, const EnergyRequest& request) {
  if (request.devices.empty()) return {};
  for (const std::string& word : request.devices) {
    const auto found = [&](const LoggedDevice& device) { return is_called(device.trace.device(), word); };
    if (std::any_of(devices.begin(), devices.end(), found)) continue;
    std::vector<std::string> there;
    for (const LoggedDevice& device : devices) there.push_back(device.trace.device().id());
    return fail(Errc::usage, fmt::format("no device is called \"{}\"", base::excerpt(word)), "--device",
                fmt::format("the logs hold {}", base::excerpt(fmt::format("{}", fmt::join(there, ", ")), 300)));
  }
  std::erase_if(devices, [&](const LoggedDevice& device) {
    return std::none_of(request.devices.begin(), request.devices.end(),
                        [&](const std::string& word) { return is_called(device.trace.device(), word); });
  });
  return {};
}

/// The baseline that the caller asked for; empty: the default of energy_over.
Result<std::optional<Power>> idle_of(const LoggedDevice& device, const EnergyRequest& request) {
  if (request.idle_watts) return *request.idle_watts * units::watt;
  if (!request.idle_seconds) return std::nullopt;
  const std::chrono::nanoseconds span{static_cast<std::int64_t>(*request.idle_seconds * 1e9)};
  const SteadyTime first = device.trace.front().time;
  const SteadyTime last = device.trace.back().time;
  if (span > last - first) {
    return fail(Errc::usage, "is longer than the log", "--idle-seconds");
  }
  const WindowEnergy idle = request.idle_at_end ? energy_over(device.trace, last - span, last)
                                                : energy_over(device.trace, first, first + span);
  if (!idle.mean_power) {
    return fail(Errc::bad_data,
                fmt::format("no power at the {} of the log ({})", request.idle_at_end ? "end" : "beginning",
                            text(idle.mean_power.reason())),
                device.trace.device().id(), "leave --idle-seconds away, or state --idle-watts");
  }
  return *idle.mean_power;
}

/// The window is the caller's; of a step log that says when its steps were, from the first of them to the last.
Result<answers::EnergyDevice> measure(const LoggedDevice& device, const EnergyRequest& request,
                                      const StepsInTime& steps) {
  const SteadyTime first = device.trace.front().time;
  const SteadyTime last = device.trace.back().time;
  FLOPWATT_TRY(SteadyTime from, moment_of(request.from, "--from", device, first, request.reading));
  FLOPWATT_TRY(SteadyTime to, moment_of(request.to, "--to", device, last, request.reading));
  if (steps.from) from = *steps.from;
  if (steps.to) to = *steps.to;
  if (steps.from && (to <= first || from >= last)) {
    return fail(Errc::bad_data,
                fmt::format("its steps lie outside of what is logged of {}", device.trace.device().id()),
                request.steps_file, "check --timezone and the dates of both logs");
  }
  if (request.from && from >= last) {
    return fail(Errc::usage,
                fmt::format("the log of {} ends {} after its beginning, before the window", device.trace.device().id(),
                            units::to_text(telemetry::to_duration(last - first))),
                "--from");
  }
  if ((request.from || request.to) && to <= from) {
    return fail(Errc::usage, "the window ends before it begins", "--from, --to");
  }
  if ((request.from || request.to) && (to <= first || from >= last)) {
    return fail(Errc::usage, fmt::format("the window holds nothing of {}", device.trace.device().id()), "--from, --to");
  }
  EnergyOptions options;
  FLOPWATT_TRY(options.idle, idle_of(device, request));
  return answers::EnergyDevice{.info = device.trace.device(),
                               .logs = device.logs,
                               .time_base = device.time_base,
                               .log_start = first,
                               .window = energy_over(device.trace, from, to, options),
                               .counted = device.counted};
}

void add_totals(answers::Energy& answer) {
  for (const answers::EnergyDevice& device : answer.devices) {
    if (!device.counted) continue;
    const auto same = [&](const answers::EnergyTotal& total) { return total.scope == device.window.scope; };
    auto total = std::find_if(answer.totals.begin(), answer.totals.end(), same);
    if (total == answer.totals.end()) {
      answer.totals.push_back({.scope = device.window.scope, .dynamic_energy = units::Energy{}});
      total = answer.totals.end() - 1;
    }
    ++total->devices;
    const WindowEnergy& window = device.window;
    if (!window.energy || window.has(telemetry::EnergyFlag::incomplete)) total->complete = false;
    if (!window.energy) continue;
    total->energy += *window.energy;
    total->uncertainty += window.uncertainty;
    if (window.dynamic_energy && total->dynamic_energy) {
      *total->dynamic_energy += *window.dynamic_energy;
    } else {
      total->dynamic_energy.reset();
    }
  }
}

void add_flags(answers::Energy& answer) {
  for (const answers::EnergyDevice& device : answer.devices) {
    if (device.counted && !device.window.energy) {
      answer.flags.push_back(
          {std::string{key(telemetry::EnergyFlag::incomplete)},
           fmt::format("{}: nothing that gives energy could be read of it: no sum holds it.", device.info.id())});
    }
    for (const telemetry::EnergyFlag flag : device.window.flags) {
      answer.flags.push_back({std::string{key(flag)}, fmt::format("{}: {}.", device.info.id(), telemetry::text(flag))});
    }
  }
}

}  // namespace

Result<answers::Energy> energy(const Facts& facts, const EnergyRequest& request) {
  answers::Energy answer;
  if (request.idle_seconds) {
    answer.idle_source = request.idle_at_end ? IdleSource::end : IdleSource::start;
    answer.idle_span = *request.idle_seconds * units::second;
  }
  if (request.idle_watts) answer.idle_source = IdleSource::given;
  FLOPWATT_TRY(std::vector<LoggedDevice> devices, read_logs(request, answer));
  FLOPWATT_TRY_VOID(keep_chosen(devices, request));
  std::optional<StepsInTime> steps;
  if (!request.steps_file.empty()) {
    FLOPWATT_TRY(steps, read_steps(request, devices, answer));
  }
  for (const LoggedDevice& device : devices) {
    FLOPWATT_TRY(answers::EnergyDevice measured, measure(device, request, steps ? *steps : StepsInTime{}));
    answer.devices.push_back(std::move(measured));
  }
  add_totals(answer);
  add_flags(answer);
  if (steps) FLOPWATT_TRY_VOID(price_steps(facts, request, std::move(steps->steps), answer));
  return answer;
}

}  // namespace flopwatt::engine
