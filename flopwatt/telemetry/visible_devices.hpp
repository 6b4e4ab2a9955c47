#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

/// The environment that decides which devices a CUDA program sees, and in which order.
struct CudaEnvironment {
  std::optional<std::string> visible_devices;  ///< CUDA_VISIBLE_DEVICES; empty optional: not set
  std::optional<std::string> device_order;     ///< CUDA_DEVICE_ORDER

  /// Of this process.
  [[nodiscard]] static CudaEnvironment current();
};

struct VisibleDevices {
  /// Positions in the list of devices that was given, in CUDA's order: element 0 is CUDA's device 0.  A MIG instance
  /// stands for itself; its power is its board's (DeviceInfo::part_of).
  std::vector<std::size_t> devices;
  std::vector<std::string> notes;  ///< entries that CUDA ignores, and why
};

/// Which of NVML's devices a CUDA program sees under this environment, as the CUDA programming guide has it: indices,
/// UUIDs and unambiguous beginnings of UUIDs ("GPU-8932f937", "MIG-…"), separated by commas; the list ends before the
/// first entry that is none; "" and "-1" hide all.
///
/// CUDA's own order is fastest first, NVML's is that of the PCI addresses.  An index is the same in both only under
/// CUDA_DEVICE_ORDER=PCI_BUS_ID or where all devices are of one name; otherwise it cannot be told, and Errc::usage says
/// what to set.
[[nodiscard]] base::Result<VisibleDevices> visible_devices(std::span<const DeviceInfo> devices,
                                                           const CudaEnvironment& environment);

/// The environment that decides which devices a HIP program sees.
struct HipEnvironment {
  std::optional<std::string> rocr_visible_devices;  ///< ROCR_VISIBLE_DEVICES: of all devices
  std::optional<std::string> hip_visible_devices;   ///< HIP_VISIBLE_DEVICES, else CUDA_VISIBLE_DEVICES: of those left

  /// Of this process.
  [[nodiscard]] static HipEnvironment current();
};

/// Which of AMD's devices a HIP program sees under this environment: indices in both, and "GPU-" with the unique id in
/// the first; the list ends before the first entry that names none.  Dies and partitions are devices of their own to
/// HIP, as they are here.  HIP goes by the kernel's order of nodes and this list by PCI address; they are the same on
/// most machines, and a note says where an index was trusted.
[[nodiscard]] VisibleDevices visible_hip_devices(std::span<const DeviceInfo> devices,
                                                 const HipEnvironment& environment);

/// The device whose meter covers this one: itself, or what it is part of.
[[nodiscard]] std::size_t meter_of(std::span<const DeviceInfo> devices, std::size_t device);

/// The device with this UUID (or an unambiguous beginning of it) or PCI address, in whatever form: how a CUDA device
/// whose address is known (cudaDeviceGetPCIBusId) is found in NVML's list.
[[nodiscard]] std::optional<std::size_t> find_device(std::span<const DeviceInfo> devices, std::string_view identity);

}  // namespace flopwatt::telemetry
