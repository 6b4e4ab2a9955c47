#pragma once

#include <string>
#include <vector>

#include "flopwatt/engine/power.hpp"
#include "flopwatt/engine/power_source.hpp"

/// What the three forms of `power` begin with.

namespace flopwatt::engine {

struct OpenedPower {
  device::Device device;
  PowerSource source;
  power::Query query;  ///< dtype, form and level are set
};
/// Resolves device, calibration and dtype; what it assumes goes to `notes`.
[[nodiscard]] Result<OpenedPower> open_power(const Facts& facts, const PowerBasics& basics,
                                             std::vector<std::string>& notes);

/// Flags a ratio above 1: `above_peak`, `above_bandwidth`.
void add_ratio_flags(std::optional<double> mfu, std::optional<double> mbu, std::vector<answers::Flag>& flags);

/// What an optimizer step of `micro_batches` such workloads moves, kernel by kernel, when it takes `step_time`: what
/// the saturating form is fitted on.
[[nodiscard]] Result<power::Traffic> traffic_of(const model::Architecture& architecture, const work::Workload& workload,
                                                std::int64_t micro_batches, units::Duration step_time);

/// `mbu` of the device's bandwidth as byte/s.  Errc::usage where the bandwidth is unknown.
[[nodiscard]] Result<units::Bandwidth> byte_rate(const device::Device& device, double mbu);

}  // namespace flopwatt::engine
