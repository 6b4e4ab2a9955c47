#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flopwatt/telemetry/amd_smi.hpp"
#include "flopwatt/telemetry/hwmon.hpp"
#include "flopwatt/telemetry/nvml.hpp"
#include "flopwatt/telemetry/powercap.hpp"
#include "flopwatt/telemetry/rocm_smi.hpp"
#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

struct OpenOptions {
  NvmlOptions nvml;
  AmdSmiOptions amd_smi;
  RocmSmiOptions rocm_smi;
  PowercapOptions powercap;
  HwmonOptions hwmon;
  /// A library that has not opened for so long is given up.
  units::Duration patience = 10 * units::second;
};

struct OpenedSources {
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<SourceAbsence> absent;  ///< the others, and why
};

/// Every source that this machine has, and why it lacks the others.  AMD's older library is opened only where the newer
/// is absent; a device that a vendor's library gives is left out of hwmon.
[[nodiscard]] OpenedSources open_all(const OpenOptions& options = {});

}  // namespace flopwatt::telemetry
