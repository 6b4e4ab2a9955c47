#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

struct NvmlOptions {
  /// Library to open; empty: libnvidia-ml.so.1, then libnvidia-ml.so, as the dynamic linker finds them, then WSL's.
  std::string library;
  /// The sensor's last value where the driver offers it (field 186), instead of what nvmlDeviceGetPowerUsage gives.
  bool instant = false;
  /// The slow readings (limit, memory, processes) are repeated no more often than this.
  units::Duration slow_period = 1 * units::second;
  /// An energy counter that takes longer than this to read (2.4 ms was seen, gpuopenanalytics/pynvml #18) is left out
  /// of glances but for one in every slow_period.
  units::Duration dear_counter = 1 * units::millisecond;
};

/// The devices of NVIDIA's management library, in its order (by PCI address).  With MIG enabled the instances follow
/// their board as its parts: they have memory of their own, but power and energy only the board has.
///
/// Power is nvmlDeviceGetPowerUsage, which on Ampere except GA100 and on later devices is the mean of a second and
/// before them the sensor's last value (NVML reference); where it is not supported the power fields, GPU scope, then
/// module scope; what was chosen stands in the notes.  Energy is nvmlDeviceGetTotalEnergyConsumption (Volta and later).
[[nodiscard]] OpenedSource open_nvml(const NvmlOptions& options = {});

/// What an nvmlReturn_t means.
[[nodiscard]] Absence nvml_absence(std::uint32_t code) noexcept;

/// Moves the samples' own times, whose origin is not 1970 on every driver, so that the last one lies at `read_at`;
/// their distances stay.  Microseconds in, nanoseconds since 1970 out.
[[nodiscard]] std::vector<WallTime> anchor_samples(std::span<const std::uint64_t> timestamps_us, WallTime read_at);

}  // namespace flopwatt::telemetry
