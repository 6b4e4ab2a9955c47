#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "flopwatt/sweep/plan.hpp"
#include "flopwatt/units/quantity.hpp"

/// Where the watts of a sweep come from.

namespace flopwatt::sweep {

/// A stretch of time, and what the device did in it.
struct Window {
  double begin_seconds = 0, end_seconds = 0;  ///< CLOCK_MONOTONIC
  units::FlopRate flops;                      ///< achieved; 0 in an idle window
  units::Bandwidth bytes;
  std::uint64_t seed = 0;  ///< the same for the same sample of the same run
};

/// What a meter knows of a window.  Absent is absent: `power_missing` says why.
struct MeterReading {
  std::optional<double> power_watts, energy_joules, energy_uncertainty_joules;
  std::string method;         ///< "counter", "power_integral", "computed"; empty without power
  std::string power_missing;  ///< empty with power
  std::optional<double> utilization, memory_utilization, temperature_celsius;
};

/// What the meter is: in every row that it fills.
struct MeterInfo {
  std::string source;     ///< "nvml", "rapl", "recorded: power.csv", "synthetic", "none"
  std::string kind;       ///< "average_1s", "instant", "computed", …
  std::string scope;      ///< "device", "package", …
  std::string device_id;  ///< of what is metered; may be empty
};

class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  virtual ~Meter() = default;

  [[nodiscard]] virtual MeterInfo info() const = 0;
  /// Of a window that has just ended.
  [[nodiscard]] virtual MeterReading read(const Window& window) = 0;
};

/// Knows nothing.
[[nodiscard]] std::unique_ptr<Meter> no_meter();
/// P = base + FLOP/s · energy_per_flop + byte/s · energy_per_byte, times 1 + a uniform draw within ± noise.  No
/// measurement: its source is "synthetic" and its kind "computed".
[[nodiscard]] std::unique_ptr<Meter> synthetic_meter(const PowerPlan& plan, std::uint64_t seed);

}  // namespace flopwatt::sweep
