#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/energy.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/count.hpp"
#include "flopwatt/engine/facts.hpp"
#include "flopwatt/telemetry/logs/log.hpp"

namespace flopwatt::engine {

struct EnergyRequest {
  std::vector<std::string> files;
  telemetry::LogOptions reading;
  /// "2026-05-06T10:00:00Z", "10:00:00", or a time since the log's first sample, "90 s"; empty: its ends.
  std::optional<std::string> from, to;
  std::vector<std::string> devices;  ///< indices, UUIDs, PCI ids or names; empty: all
  bool merge = false;                ///< devices of several logs that only an index or a PCI id names are the same
  std::optional<double> idle_seconds;
  bool idle_at_end = false;
  std::optional<double> idle_watts;

  std::string steps_file;  ///< step log; empty: none
  /// What a step is, where the step log does not tell its FLOPs or tokens; empty: unknown.
  std::string model, as_family;
  WorkloadWords workload;  ///< of one step, over all devices
  DeviceWords hardware;    ///< whose peak MFU is divided by; empty: the name in the logs
};

/// Errors: those of telemetry::read_log and read_step_log; Errc::usage for a window or device that the logs lack, and
/// those of Facts and work::count where a model is given.
[[nodiscard]] Result<answers::Energy> energy(const Facts& facts, const EnergyRequest& request);

}  // namespace flopwatt::engine
