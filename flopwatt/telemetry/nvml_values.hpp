#pragma once

#include "flopwatt/telemetry/nvml_library.hpp"
#include "flopwatt/telemetry/reading.hpp"
#include "flopwatt/units/quantity.hpp"

/// Single readings, checked: what a driver may say is not always what can be.
namespace flopwatt::telemetry::nvml {

/// nvmlDeviceGetPowerUsage.
[[nodiscard]] Reading<units::Power> power_usage(const Library& library, Device device);
/// One of the power fields, of the GPU or of its module.
[[nodiscard]] Reading<units::Power> power_field(const Library& library, Device device, std::uint32_t field,
                                                std::uint32_t scope);
[[nodiscard]] Reading<units::Energy> total_energy(const Library& library, Device device);
/// A limit of 0 is none.
[[nodiscard]] Reading<units::Power> power_limit(const Library& library, Device device);
[[nodiscard]] Reading<double> utilization(const Library& library, Device device);
[[nodiscard]] Reading<Memory> memory(const Library& library, Device device);
[[nodiscard]] Reading<units::Frequency> clock(const Library& library, Device device, std::uint32_t which);
[[nodiscard]] Reading<double> temperature(const Library& library, Device device);
[[nodiscard]] Reading<std::uint32_t> process_count(const Library& library, Device device);

}  // namespace flopwatt::telemetry::nvml
