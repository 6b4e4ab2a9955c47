#pragma once

#include <string>

#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

struct RocmSmiOptions {
  /// Library to open; empty: librocm_smi64 under the names of ROCm 5 to 7 and of Debian, then in /opt/rocm.
  std::string library;
  /// Is there only with AMD's kernel driver.  Looked at first, since without a device the library itself gives a
  /// general error and writes to stderr.
  std::string kfd = "/sys/class/kfd";
};

/// The devices of AMD's older management library.  Power is the current socket power where the device has it (MI300),
/// else the average (MI200 and before); energy is a counter of some 15.3 µJ a step.
[[nodiscard]] OpenedSource open_rocm_smi(const RocmSmiOptions& options = {});

/// What an rsmi_status_t means.
[[nodiscard]] Absence rocm_absence(std::uint32_t status) noexcept;

}  // namespace flopwatt::telemetry
