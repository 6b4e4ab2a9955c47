#include "flopwatt/telemetry/visible_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "flopwatt/base/text.hpp"
#include "flopwatt/telemetry/pci_id.hpp"

namespace flopwatt::telemetry {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read once, before threads start
  if (value == nullptr) return std::nullopt;
  return std::string{value};
}

bool same_beginning(std::string_view whole, std::string_view part) {
  return whole.size() >= part.size() && std::equal(part.begin(), part.end(), whole.begin(), [](char a, char b) {
           return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
         });
}

/// The only device whose UUID begins so.
std::optional<std::size_t> by_uuid(std::span<const DeviceInfo> devices, std::string_view part) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].uuid.empty() || !same_beginning(devices[i].uuid, part)) continue;
    if (devices[i].uuid.size() == part.size()) return i;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

/// The unique id of a device in hexadecimal digits, as "GPU-…" has them; empty if it has none of that form.
std::string_view unique_id(const DeviceInfo& device) {
  return device.uuid.starts_with("0x") ? std::string_view{device.uuid}.substr(2) : std::string_view{};
}

/// Goes through a list of ROCr's or HIP's: positions in `among`.
std::vector<std::size_t> hip_list(std::span<const DeviceInfo> devices, const std::vector<std::size_t>& among,
                                  const std::string& list, std::string_view name, std::vector<std::string>& notes) {
  std::vector<std::size_t> result;
  std::string_view rest = list;
  if (base::trimmed(rest).empty()) return result;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = base::trimmed(rest.substr(0, comma));
    std::optional<std::size_t> found;
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
    if (!entry.empty() && error == std::errc{} && end == entry.data() + entry.size()) {
      if (index < among.size()) found = among[index];
      if (devices.size() > 1 && notes.empty()) {
        notes.push_back(
            fmt::format("{} goes by index: right if the kernel's order of nodes is that of PCI addresses", name));
      }
    } else if (same_beginning(entry, "GPU-")) {
      const auto same = std::find_if(among.begin(), among.end(), [&](std::size_t i) {
        return unique_id(devices[i]).size() == entry.size() - 4 &&
               same_beginning(unique_id(devices[i]), entry.substr(4));
      });
      if (same != among.end() && entry.size() > 4) found = *same;
    }
    if (!found || std::find(result.begin(), result.end(), *found) != result.end()) {
      if (entry != "-1") {
        notes.push_back(fmt::format("{} ends before \"{}\", which is no further device", name, base::excerpt(entry)));
      }
      return result;
    }
    result.push_back(*found);
    if (comma == std::string_view::npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace

CudaEnvironment CudaEnvironment::current() { return {variable("CUDA_VISIBLE_DEVICES"), variable("CUDA_DEVICE_ORDER")}; }

base::Result<VisibleDevices> visible_devices(std::span<const DeviceInfo> devices, const CudaEnvironment& environment) {
  const std::vector<std::size_t> boards = [&] {
    std::vector<std::size_t> result;
    for (const std::size_t i : outermost(devices)) result.push_back(i);
    return result;
  }();
  const bool by_address = environment.device_order == "PCI_BUS_ID";
  const bool all_alike = std::all_of(boards.begin(), boards.end(), [&](std::size_t i) {
    return devices[i].name == devices[boards.front()].name && !devices[i].name.empty();
  });
  VisibleDevices result;
  if (!environment.visible_devices) {
    result.devices = boards;
    if (!by_address && !all_alike) {
      result.notes.emplace_back(
          "the devices differ and CUDA_DEVICE_ORDER is not PCI_BUS_ID: CUDA's indices are not these; go by UUID");
    }
    return result;
  }
  std::string_view rest = *environment.visible_devices;
  if (base::trimmed(rest).empty()) return result;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = base::trimmed(rest.substr(0, comma));
    std::optional<std::size_t> found;
    std::int64_t index = -1;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
    const bool is_index = !entry.empty() && error == std::errc{} && end == entry.data() + entry.size();
    if (is_index && index >= 0 && static_cast<std::size_t>(index) < boards.size()) {
      if (!by_address && !all_alike) {
        return base::fail(base::Errc::usage,
                          fmt::format("CUDA's device {} cannot be found in the driver's list: the devices differ, and "
                                      "CUDA numbers the fastest first",
                                      index),
                          "CUDA_VISIBLE_DEVICES", "set CUDA_DEVICE_ORDER=PCI_BUS_ID, or give UUIDs");
      }
      found = boards[static_cast<std::size_t>(index)];
    } else if (same_beginning(entry, "GPU-") || same_beginning(entry, "MIG-")) {
      found = by_uuid(devices, entry);
    }
    if (!found) {
      if (entry != "-1") {
        result.notes.push_back(
            fmt::format("CUDA_VISIBLE_DEVICES ends before \"{}\", which is no one device", base::excerpt(entry)));
      }
      return result;
    }
    if (std::find(result.devices.begin(), result.devices.end(), *found) != result.devices.end()) {
      // The same device twice is an error to CUDA, which then offers none.
      return VisibleDevices{
          {}, {fmt::format("CUDA_VISIBLE_DEVICES names {} twice: CUDA offers no device then", devices[*found].id())}};
    }
    result.devices.push_back(*found);
    if (comma == std::string_view::npos) return result;
    rest.remove_prefix(comma + 1);
  }
}

HipEnvironment HipEnvironment::current() {
  std::optional<std::string> hip = variable("HIP_VISIBLE_DEVICES");
  return {variable("ROCR_VISIBLE_DEVICES"), hip ? hip : variable("CUDA_VISIBLE_DEVICES")};
}

VisibleDevices visible_hip_devices(std::span<const DeviceInfo> devices, const HipEnvironment& environment) {
  VisibleDevices result;
  for (std::size_t i = 0; i < devices.size(); ++i) result.devices.push_back(i);
  if (environment.rocr_visible_devices) {
    result.devices =
        hip_list(devices, result.devices, *environment.rocr_visible_devices, "ROCR_VISIBLE_DEVICES", result.notes);
  }
  if (environment.hip_visible_devices) {
    result.devices =
        hip_list(devices, result.devices, *environment.hip_visible_devices, "HIP_VISIBLE_DEVICES", result.notes);
  }
  return result;
}

std::size_t meter_of(std::span<const DeviceInfo> devices, std::size_t device) {
  for (std::size_t steps = 0; steps < devices.size() && devices[device].part_of; ++steps) {
    device = *devices[device].part_of;
  }
  return device;
}

std::optional<std::size_t> find_device(std::span<const DeviceInfo> devices, std::string_view identity) {
  identity = base::trimmed(identity);
  if (const auto address = normal_pci_id(identity)) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      if (devices[i].pci_id == *address) return i;
    }
    return std::nullopt;
  }
  if (identity.size() < 5) return std::nullopt;  // "GPU-" alone is no beginning of one UUID
  return by_uuid(devices, identity);
}

}  // namespace flopwatt::telemetry
