#pragma once

#include <cstddef>
#include <optional>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/reading.hpp"
#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

/// Energy since a device was first looked at, kept up without keeping the snapshots: what a meter on the wall shows.
struct EnergyTotal {
  SteadyTime since{};
  SteadyTime until{};
  Reading<units::Energy> energy;  ///< never falls; no_samples before the second snapshot
  EnergyMethod method = EnergyMethod::none;
  units::Duration covered;  ///< of which the energy tells
  std::size_t gaps = 0;     ///< how often the better reading failed
};

/// Adds snapshot by snapshot, in constant time and memory, by the rules of energy_over: the counter's difference where
/// it works, trapezoids under the power where it does not and until it is read again.
class RunningEnergy {
 public:
  explicit RunningEnergy(const DeviceInfo& device, units::Duration longest_trapezoid = 30 * units::second);

  /// In the order of time; an older one is ignored.
  void add(const Snapshot& snapshot);
  [[nodiscard]] const EnergyTotal& total() const { return total_; }

 private:
  void add_power(const Snapshot& snapshot, units::Duration elapsed);
  void add_counter(const Snapshot& snapshot);
  void commit_power();
  void show();

  CounterTraits counter_;
  units::Power most_;
  units::Duration longest_;
  EnergyTotal total_;
  std::optional<Snapshot> last_;          ///< newest
  std::optional<Snapshot> last_counter_;  ///< newest with a counter that had moved
  bool stuck_ = false;
  units::Energy counted_;  ///< by the counter, up to last_counter_
  units::Duration counted_for_;
  units::Energy integrated_;  ///< by power, where the counter failed
  units::Duration integrated_for_;
  units::Energy pending_;  ///< by power, since last_counter_: the counter may yet tell better
  units::Duration pending_for_;
};

}  // namespace flopwatt::telemetry
