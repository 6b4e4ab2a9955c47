// Any value of CUDA_VISIBLE_DEVICES: devices that exist, each once, or an error; and any PCI address.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flopwatt/base/check.hpp"
#include "flopwatt/telemetry/pci_id.hpp"
#include "flopwatt/telemetry/visible_devices.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt;
  const std::string text{reinterpret_cast<const char*>(data), size};
  std::vector<telemetry::DeviceInfo> devices(4);
  const char* uuids[] = {"GPU-8932f937-aaaa", "GPU-8932f9ff-bbbb", "GPU-1b5c71f2-cccc", "MIG-ffff0000-dddd"};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].name = i == 1 ? "NVIDIA T4" : "NVIDIA A100";
    devices[i].uuid = uuids[i];
  }
  devices[3].part_of = 0;
  for (const char* order : {"PCI_BUS_ID", "FASTEST_FIRST"}) {
    const auto seen = telemetry::visible_devices(devices, {text, order});
    if (!seen) {
      FLOPWATT_CHECK(seen.error().code == base::Errc::usage);
      continue;
    }
    std::vector<std::size_t> sorted = seen->devices;
    std::sort(sorted.begin(), sorted.end());
    FLOPWATT_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
    FLOPWATT_CHECK(sorted.empty() || sorted.back() < devices.size());
  }
  if (const auto address = telemetry::normal_pci_id(text))
    FLOPWATT_CHECK(telemetry::normal_pci_id(*address) == address);
  static_cast<void>(telemetry::find_device(devices, text));
  return 0;
}
