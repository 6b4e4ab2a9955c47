#include "flopwatt/telemetry/amd_smi.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "flopwatt/telemetry/amd_library.hpp"
#include "flopwatt/telemetry/shared_library.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::string_view kAmdSmi = "amd_smi";

// Our own declarations of the published interface (amdsmi.h of ROCm 6.1 to 7).  Structures that grew from version to
// version are given room and read at their beginning only.
using Handle = void*;
using Room = std::array<unsigned char, 4096>;
struct Activity {  // amdsmi_engine_usage_t, percent
  std::uint32_t gfx;
  std::uint32_t memory;
  std::uint32_t media;
  std::uint32_t reserved[13];
};
static_assert(sizeof(Activity) == 64);

#define FLOPWATT_AMD_SMI_CALLS(X)                                                         \
  X(init, "amdsmi_init", (std::uint64_t))                                                 \
  X(shut_down, "amdsmi_shut_down", ())                                                    \
  X(sockets, "amdsmi_get_socket_handles", (std::uint32_t*, Handle*))                      \
  X(processors, "amdsmi_get_processor_handles", (Handle, std::uint32_t*, Handle*))        \
  X(asic, "amdsmi_get_gpu_asic_info", (Handle, Room*))                                    \
  X(uuid, "amdsmi_get_gpu_device_uuid", (Handle, std::uint32_t*, char*))                  \
  X(address, "amdsmi_get_gpu_bdf_id", (Handle, std::uint64_t*))                           \
  X(power, "amdsmi_get_power_info", (Handle, Room*))                                      \
  X(energy, "amdsmi_get_energy_count", (Handle, std::uint64_t*, float*, std::uint64_t*))  \
  X(cap, "amdsmi_get_power_cap_info", (Handle, std::uint32_t, Room*))                     \
  X(activity, "amdsmi_get_gpu_activity", (Handle, Activity*))                             \
  X(memory_used, "amdsmi_get_gpu_memory_usage", (Handle, std::uint32_t, std::uint64_t*))  \
  X(memory_total, "amdsmi_get_gpu_memory_total", (Handle, std::uint32_t, std::uint64_t*)) \
  X(temperature, "amdsmi_get_temp_metric", (Handle, std::uint32_t, std::uint32_t, std::int64_t*))

constexpr std::uint32_t kSuccess = 0;
constexpr std::uint64_t kGpus = 2;           // AMDSMI_INIT_AMD_GPUS
constexpr std::uint32_t kMostHandles = 256;  // a call that is given less room fills it and says how many there are
constexpr std::uint32_t kHotspot = 1;        // AMDSMI_TEMPERATURE_TYPE_HOTSPOT
constexpr std::uint32_t kEdge = 0;

struct Calls {
#define FLOPWATT_AMD_SMI_MEMBER(member, exported, parameters) std::uint32_t(*member) parameters = nullptr;
  FLOPWATT_AMD_SMI_CALLS(FLOPWATT_AMD_SMI_MEMBER)
#undef FLOPWATT_AMD_SMI_MEMBER
};

template <class Number, class Function, class... Arguments>
Reading<Number> ask(Function* function, Arguments... arguments) {
  if (function == nullptr) return Absence::missing_symbol;
  Number value{};
  if (const std::uint32_t status = function(arguments..., &value); status != kSuccess) return amd_smi_absence(status);
  return value;
}

Reading<units::DataSize> from_bytes(const Reading<std::uint64_t>& value) {
  if (!value) return value.reason();
  if (*value > (std::uint64_t{1} << 50U)) return Absence::garbage;
  return static_cast<double>(*value) * units::byte;
}

class AmdSmiLibrary final : public amd::Library {
 public:
  AmdSmiLibrary(const Calls& calls, std::vector<Handle> handles) : calls_{calls}, handles_{std::move(handles)} {}
  ~AmdSmiLibrary() override {
    if (calls_.shut_down != nullptr) calls_.shut_down();
  }
  std::string_view name() const override { return kAmdSmi; }
  std::uint32_t count() const override { return static_cast<std::uint32_t>(handles_.size()); }
  std::string market_name(std::uint32_t device) const override {
    auto room = std::make_unique<Room>();  // its first member is the name
    if (calls_.asic == nullptr || calls_.asic(handles_[device], room.get()) != kSuccess) return {};
    const auto* text = reinterpret_cast<const char*>(room->data());
    return printable({text, ::strnlen(text, 256)});
  }
  std::string uuid(std::uint32_t device) const override {
    std::array<char, 128> buffer{};
    auto length = static_cast<std::uint32_t>(buffer.size() - 1);
    if (calls_.uuid == nullptr || calls_.uuid(handles_[device], &length, buffer.data()) != kSuccess) return {};
    return printable(buffer.data());
  }
  Reading<std::uint64_t> address(std::uint32_t device) const override {
    return ask<std::uint64_t>(calls_.address, handles_[device]);
  }
  Reading<units::Power> current_power(std::uint32_t device) const override {
    const Reading<AmdSocketPower> power = socket_power(device);
    return power ? amd::checked_power(power->current) : Reading<units::Power>{power.reason()};
  }
  Reading<units::Power> average_power(std::uint32_t device) const override {
    const Reading<AmdSocketPower> power = socket_power(device);
    return power ? amd::checked_power(power->average) : Reading<units::Power>{power.reason()};
  }
  Reading<amd::Energy> energy(std::uint32_t device) const override {
    if (calls_.energy == nullptr) return Absence::missing_symbol;
    amd::Energy energy;
    float resolution = 0;
    const std::uint32_t status = calls_.energy(handles_[device], &energy.count, &resolution, &energy.timestamp_ns);
    if (status != kSuccess) return amd_smi_absence(status);
    if (!std::isfinite(resolution) || !(resolution > 0)) return Absence::garbage;
    energy.resolution_microjoules = static_cast<double>(resolution);
    return energy;
  }
  Reading<units::Power> limit(std::uint32_t device) const override {
    if (calls_.cap == nullptr) return Absence::missing_symbol;
    auto room = std::make_unique<Room>();
    if (const std::uint32_t status = calls_.cap(handles_[device], 0, room.get()); status != kSuccess) {
      return amd_smi_absence(status);
    }
    std::uint64_t cap = 0;  // amdsmi_power_cap_info_t begins with it, in µW
    std::memcpy(&cap, room->data(), sizeof(cap));
    return amd::checked_power(1e-6 * static_cast<double>(cap));
  }
  Reading<double> utilization(std::uint32_t device) const override {
    const auto activity = ask<Activity>(calls_.activity, handles_[device]);
    if (!activity) return activity.reason();
    if (activity->gfx == 0xFFFF || activity->gfx == 0xFFFFFFFF) return Absence::not_supported;
    if (activity->gfx > 100) return Absence::garbage;
    return 0.01 * activity->gfx;
  }
  Reading<units::DataSize> memory_used(std::uint32_t device) const override {
    return from_bytes(ask<std::uint64_t>(calls_.memory_used, handles_[device], std::uint32_t{0}));
  }
  Reading<units::DataSize> memory_total(std::uint32_t device) const override {
    return from_bytes(ask<std::uint64_t>(calls_.memory_total, handles_[device], std::uint32_t{0}));
  }
  Reading<double> temperature(std::uint32_t device) const override {
    auto celsius = ask<std::int64_t>(calls_.temperature, handles_[device], kHotspot, std::uint32_t{0});
    if (!celsius) celsius = ask<std::int64_t>(calls_.temperature, handles_[device], kEdge, std::uint32_t{0});
    if (!celsius) return celsius.reason();
    if (*celsius < -100 || *celsius > 250) return Absence::garbage;
    return static_cast<double>(*celsius);
  }

 private:
  Reading<AmdSocketPower> socket_power(std::uint32_t device) const {
    if (calls_.power == nullptr) return Absence::missing_symbol;
    Room room;
    room.fill(0);
    if (const std::uint32_t status = calls_.power(handles_[device], &room); status != kSuccess) {
      return amd_smi_absence(status);
    }
    std::array<std::uint32_t, 4> words{};
    std::memcpy(words.data(), room.data(), sizeof(words));
    return amd_socket_power(words);
  }

  Calls calls_;
  std::vector<Handle> handles_;
};

/// All processors of all sockets.
std::vector<Handle> list_handles(const Calls& calls) {
  std::vector<Handle> result;
  std::vector<Handle> sockets(kMostHandles);
  std::uint32_t count = kMostHandles;
  if (calls.sockets(&count, sockets.data()) != kSuccess) return result;
  sockets.resize(std::min(count, kMostHandles));
  for (const Handle socket : sockets) {
    std::vector<Handle> processors(kMostHandles);
    count = kMostHandles;
    if (calls.processors(socket, &count, processors.data()) != kSuccess) continue;
    processors.resize(std::min(count, kMostHandles));
    result.insert(result.end(), processors.begin(), processors.end());
  }
  return result;
}

}  // namespace

Absence amd_smi_absence(std::uint32_t status) noexcept {
  switch (status) {
    case 2:  // NOT_SUPPORTED
    case 3:
      return Absence::not_supported;  // NOT_YET_IMPLEMENTED
    case 5:
      return Absence::missing_symbol;  // FAIL_LOAD_SYMBOL
    case 8:                            // TIMEOUT
    case 30:
      return Absence::timed_out;  // BUSY
    case 10:
      return Absence::no_permission;
    case 6:   // DRM_ERROR
    case 18:  // INIT_ERROR
    case 31:
      return Absence::not_present;  // NOT_FOUND
    case 34:
      return Absence::not_loaded;  // DRIVER_NOT_LOADED
    case 40:
      return Absence::no_samples;  // NO_DATA
    case 42:                       // UNEXPECTED_SIZE
    case 43:
      return Absence::garbage;  // UNEXPECTED_DATA
    case 54:
      return Absence::device_lost;  // AMDGPU_RESTART_ERR
    default:
      return Absence::unknown_error;
  }
}

AmdSocketPower amd_socket_power(const std::array<std::uint32_t, 4>& words) noexcept {
  const std::uint32_t socket = words[0];
  const bool newer = words[1] == 0 && (socket == words[2] || socket == words[3] || socket >= 0xFFFF);
  return newer ? AmdSocketPower{words[2], words[3]} : AmdSocketPower{words[0], words[1]};
}

OpenedSource open_amd_smi(const AmdSmiOptions& options) {
  const auto refuse = [](Absence reason, std::string detail) {
    return tl::unexpected{SourceAbsence{std::string{kAmdSmi}, reason, std::move(detail), {}}};
  };
  if (!options.kfd.empty() && ::access(options.kfd.c_str(), F_OK) != 0) {
    return refuse(Absence::not_present, options.kfd + " is not there: no AMD device, or its driver is not loaded");
  }
  std::vector<std::string> names{"libamd_smi.so.26", "libamd_smi.so.25", "libamd_smi.so.24", "libamd_smi.so",
                                 "/opt/rocm/lib/libamd_smi.so"};
  if (!options.library.empty()) names = {options.library};
  const auto file = SharedLibrary::open(std::string{kAmdSmi}, names);
  if (!file) return tl::unexpected{file.error()};
  Calls calls;
#define FLOPWATT_AMD_SMI_FIND(member, exported, parameters) file->find(exported, calls.member);
  FLOPWATT_AMD_SMI_CALLS(FLOPWATT_AMD_SMI_FIND)
#undef FLOPWATT_AMD_SMI_FIND
  if (calls.init == nullptr || calls.sockets == nullptr || calls.processors == nullptr) {
    return refuse(Absence::missing_symbol, file->name() + " has no amdsmi_init or no lists of handles");
  }
  if (const std::uint32_t status = calls.init(kGpus); status != kSuccess) {
    return refuse(amd_smi_absence(status), fmt::format("amdsmi_init of {} gave {}", file->name(), status));
  }
  return amd::make_source(std::make_unique<AmdSmiLibrary>(calls, list_handles(calls)));
}

}  // namespace flopwatt::telemetry
