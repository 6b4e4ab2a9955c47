#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/flag.hpp"
#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/logs/log.hpp"
#include "flopwatt/telemetry/source.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::answers {

/// A log that was read.
struct EnergyLog {
  std::string file;
  telemetry::LogFormat format{};
  telemetry::TimeBase time_base{};
  std::size_t devices = 0, samples = 0;
  telemetry::SkippedLines skipped;
  bool torn_tail = false;
};

/// What the idle baseline of a device is.
enum class IdleSource : std::uint8_t {
  lowest_tenth,  ///< mean of the lowest tenth of its power readings, in the whole log
  start,         ///< mean over the first so many seconds of the log
  end,           ///< mean over the last
  given,         ///< as the caller says
};

/// One device over its window.
struct EnergyDevice {
  telemetry::DeviceInfo info;
  std::vector<std::size_t> logs;  ///< which of Energy::logs hold it
  telemetry::TimeBase time_base{};
  telemetry::SteadyTime log_start{};  ///< of its first sample; moments of a dated log are ns since 1970 UTC
  telemetry::WindowEnergy window;
  bool counted = true;  ///< in the total of its scope; false: part of another one of the list
};

/// Sum over the devices of one scope.  Scopes are never added: a module holds its devices, a node its modules.
struct EnergyTotal {
  telemetry::Scope scope{};
  std::size_t devices = 0;
  units::Energy energy;
  units::Energy uncertainty;  ///< sum of the devices': their sensors err alike
  std::optional<units::Energy> dynamic_energy;
  bool complete = true;  ///< false: a lower bound, since a device has gaps or no energy
};

/// The steps of a step log in the window, and what they cost.
struct EnergySteps {
  std::string file;
  std::size_t count = 0;
  std::optional<units::Duration> time;  ///< sum of the steps'
  bool located = false;                 ///< the log says when its steps were, not only how long
  std::optional<units::TokenCount> tokens;
  std::optional<units::FlopCount> flops;  ///< model FLOPs
  std::string flops_origin;               ///< "step log", or the model and workload they were counted of

  telemetry::Scope scope{};  ///< of the energy
  std::size_t devices = 0;   ///< that it covers
  units::Duration window;
  std::optional<units::Energy> energy;
  units::Energy uncertainty;
  bool complete = true;

  std::optional<double> mfu;  ///< per device, over the steps' time where it is known, else over the window
  std::string peak_source;    ///< what it is divided by
  std::optional<units::FlopRate> peak;
};

/// `flopwatt energy`: the energy that logs tell of.
struct Energy {
  std::vector<EnergyLog> logs;
  std::vector<EnergyDevice> devices;
  std::vector<EnergyTotal> totals;
  std::optional<EnergySteps> steps;
  IdleSource idle_source = IdleSource::lowest_tenth;
  std::optional<units::Duration> idle_span;  ///< of `start` and `end`
  std::vector<Flag> flags;
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
