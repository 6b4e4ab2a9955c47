#include "flopwatt/telemetry/open_all.hpp"

#include <utility>

#include "flopwatt/telemetry/guarded.hpp"

namespace flopwatt::telemetry {

OpenedSources open_all(const OpenOptions& options) {
  OpenedSources result;
  const auto take = [&](OpenedSource source) {
    if (source) {
      result.sources.push_back(std::move(*source));
    } else {
      result.absent.push_back(std::move(source).error());
    }
  };
  take(open_guarded("nvml", options.patience, [nvml = options.nvml] { return open_nvml(nvml); }));
  OpenedSource amd = open_guarded("amd_smi", options.patience, [smi = options.amd_smi] { return open_amd_smi(smi); });
  const bool has_amd = amd.has_value();
  take(std::move(amd));
  if (!has_amd) {
    take(open_guarded("rocm_smi", options.patience, [smi = options.rocm_smi] { return open_rocm_smi(smi); }));
  }
  take(open_powercap(options.powercap));
  HwmonOptions hwmon = options.hwmon;
  for (const auto& source : result.sources) {
    for (const DeviceInfo& device : source->devices()) {
      if (!device.pci_id.empty()) hwmon.without_pci_ids.push_back(device.pci_id);
    }
  }
  take(open_hwmon(hwmon));
  return result;
}

}  // namespace flopwatt::telemetry
