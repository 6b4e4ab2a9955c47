#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/source.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::answers {

/// A device as `flopwatt monitor` sees it now.
struct MonitorDevice {
  telemetry::DeviceInfo info;
  std::string part_of;    ///< id of the device that includes this one, or empty
  bool recorded = false;  ///< from a recorded trace: no measurement of this machine
  telemetry::Snapshot snapshot;
  units::Energy energy;  ///< since the beginning, of the time that is covered
  units::Duration covered;
  std::optional<units::Power> peak_power;
  telemetry::EnergyMethod method = telemetry::EnergyMethod::none;  ///< of the energy; mixed where both told some of it
};

struct MonitorFrame {
  telemetry::WallTime wall{};
  units::Duration since_start;
  std::vector<MonitorDevice> devices;
  bool over = false;  ///< the recording is at its end; time is the recording's own, whatever the speed of its replay
};

/// What there is to read, and why the rest is not.
struct MonitorSources {
  std::vector<telemetry::DeviceInfo> devices;
  std::vector<telemetry::SourceAbsence> absent;
};

/// The end of a `flopwatt monitor`: its last frame.
struct MonitorSummary {
  MonitorSources sources;
  MonitorFrame last;
  std::size_t frames = 0;
};

}  // namespace flopwatt::answers
