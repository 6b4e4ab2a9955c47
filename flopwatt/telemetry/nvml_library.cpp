#include "flopwatt/telemetry/nvml_library.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "flopwatt/telemetry/shared_library.hpp"

namespace flopwatt::telemetry {

Absence nvml_absence(std::uint32_t code) noexcept {
  switch (code) {
    case nvml::kNotSupported:
      return Absence::not_supported;
    case nvml::kNoPermission:
      return Absence::no_permission;
    case nvml::kNotFound:
    case nvml::kLibraryNotFound:
      return Absence::not_present;
    case nvml::kDriverNotLoaded:
      return Absence::not_loaded;
    case nvml::kTimeout:
      return Absence::timed_out;
    case nvml::kFunctionNotFound:
      return Absence::missing_symbol;
    case nvml::kGpuIsLost:
    case nvml::kResetRequired:
      return Absence::device_lost;
    case nvml::kLibRmVersionMismatch:
      return Absence::version_mismatch;
    case nvml::kNoData:
      return Absence::no_samples;
    default:
      return Absence::unknown_error;
  }
}

namespace nvml {
namespace {

std::string remedy(Absence reason) {
  switch (reason) {
    case Absence::not_loaded:
      return "load the kernel module (modprobe nvidia)";
    case Absence::version_mismatch:
      return "restart, or reload the kernel module, after the driver's update";
    case Absence::no_permission:
      return "check the permissions of /dev/nvidia*";
    case Absence::missing_symbol:
      return "update the driver";
    case Absence::device_lost:
      return "reset the device or restart";
    default:
      return {};
  }
}

tl::unexpected<SourceAbsence> refuse(Absence reason, std::string detail) {
  return tl::unexpected{SourceAbsence{"nvml", reason, std::move(detail), remedy(reason)}};
}

}  // namespace

tl::expected<Library, SourceAbsence> open_library(const std::string& path) {
  std::vector<std::string> names{"libnvidia-ml.so.1", "libnvidia-ml.so", "/usr/lib/wsl/lib/libnvidia-ml.so.1"};
  if (!path.empty()) names = {path};
  auto file = SharedLibrary::open("nvml", names);
  if (!file) return tl::unexpected{std::move(file).error()};

  Library library;
#define FLOPWATT_NVML_FIND(member, exported, parameters) file->find(exported, library.member);
  FLOPWATT_NVML_CALLS(FLOPWATT_NVML_FIND)
#undef FLOPWATT_NVML_FIND
  // Older drivers have the call under older names; asked only how many there are, all mean the same.
  for (const char* name : {"nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"}) {
    if (library.processes == nullptr) file->find(name, library.processes);
  }
  for (const auto& [there, name] :
       {std::pair{library.init != nullptr, "nvmlInit_v2"}, std::pair{library.count != nullptr, "nvmlDeviceGetCount_v2"},
        std::pair{library.handle != nullptr, "nvmlDeviceGetHandleByIndex_v2"}}) {
    if (!there) return refuse(Absence::missing_symbol, fmt::format("{} has no {}", file->name(), name));
  }
  if (const std::uint32_t code = library.init(); code != kSuccess) {
    return refuse(nvml_absence(code), fmt::format("nvmlInit_v2 of {} gave {}", file->name(), code));
  }
  return library;
}

}  // namespace nvml
}  // namespace flopwatt::telemetry
