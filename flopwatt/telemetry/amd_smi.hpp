#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

struct AmdSmiOptions {
  /// Library to open; empty: libamd_smi of ROCm 6.1 to 7, then in /opt/rocm.
  std::string library;
  std::string kfd = "/sys/class/kfd";  ///< as in RocmSmiOptions
};

/// The devices of AMD's newer management library.  As open_rocm_smi, with power in whole watts.
[[nodiscard]] OpenedSource open_amd_smi(const AmdSmiOptions& options = {});

/// What an amdsmi_status_t means.
[[nodiscard]] Absence amd_smi_absence(std::uint32_t status) noexcept;

/// The two socket powers in the first words of amdsmi_power_info_t.  Its beginning changed: until 25.2 it is {current,
/// average, …}, later {64 bits of socket power, current, average, …}.  The new form is told by its second word, which
/// is the upper half of a number of watts and so 0, and by the socket power being one of the other two or unsupported.
struct AmdSocketPower {
  std::uint32_t current;
  std::uint32_t average;
};
[[nodiscard]] AmdSocketPower amd_socket_power(const std::array<std::uint32_t, 4>& words) noexcept;

}  // namespace flopwatt::telemetry
