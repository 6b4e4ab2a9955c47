#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/energy.hpp"
#include "flopwatt/base/result.hpp"
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
};

/// Errors: those of telemetry::read_log; Errc::usage for a window or device that the logs lack.
[[nodiscard]] Result<answers::Energy> energy(const EnergyRequest& request);

}  // namespace flopwatt::engine
