#include "flopwatt/telemetry/rocm_smi.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "flopwatt/telemetry/amd_library.hpp"
#include "flopwatt/telemetry/shared_library.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::string_view kRocmSmi = "rocm_smi";

// Our own declarations of the published interface (rocm_smi.h of ROCm 5.2 to 6.4), those calls that did not change.
#define FLOPWATT_ROCM_CALLS(X)                                                                        \
  X(init, "rsmi_init", (std::uint64_t))                                                               \
  X(shut_down, "rsmi_shut_down", ())                                                                  \
  X(count, "rsmi_num_monitor_devices", (std::uint32_t*))                                              \
  X(name, "rsmi_dev_name_get", (std::uint32_t, char*, std::size_t))                                   \
  X(unique_id, "rsmi_dev_unique_id_get", (std::uint32_t, std::uint64_t*))                             \
  X(pci_id, "rsmi_dev_pci_id_get", (std::uint32_t, std::uint64_t*))                                   \
  X(average_power, "rsmi_dev_power_ave_get", (std::uint32_t, std::uint32_t, std::uint64_t*)) /* µW */ \
  X(current_power, "rsmi_dev_current_socket_power_get", (std::uint32_t, std::uint64_t*))     /* µW */ \
  X(energy, "rsmi_dev_energy_count_get", (std::uint32_t, std::uint64_t*, float*, std::uint64_t*))     \
  X(cap, "rsmi_dev_power_cap_get", (std::uint32_t, std::uint32_t, std::uint64_t*)) /* µW */           \
  X(busy, "rsmi_dev_busy_percent_get", (std::uint32_t, std::uint32_t*))                               \
  X(memory_used, "rsmi_dev_memory_usage_get", (std::uint32_t, std::uint32_t, std::uint64_t*))         \
  X(memory_total, "rsmi_dev_memory_total_get", (std::uint32_t, std::uint32_t, std::uint64_t*))        \
  X(temperature, "rsmi_dev_temp_metric_get", (std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t*))

constexpr std::uint32_t kSuccess = 0;
constexpr std::uint32_t kInitError = 8;
constexpr std::uint32_t kVideoMemory = 0;   // RSMI_MEM_TYPE_VRAM
constexpr std::uint32_t kJunction = 1;      // RSMI_TEMP_TYPE_JUNCTION
constexpr std::uint32_t kEdge = 0;          // RSMI_TEMP_TYPE_EDGE
constexpr std::uint32_t kCurrentValue = 0;  // RSMI_TEMP_CURRENT

struct Calls {
#define FLOPWATT_ROCM_MEMBER(member, exported, parameters) std::uint32_t(*member) parameters = nullptr;
  FLOPWATT_ROCM_CALLS(FLOPWATT_ROCM_MEMBER)
#undef FLOPWATT_ROCM_MEMBER
};

template <class Number, class Function, class... Arguments>
Reading<Number> ask(Function* function, Arguments... arguments) {
  if (function == nullptr) return Absence::missing_symbol;
  Number value{};
  if (const std::uint32_t status = function(arguments..., &value); status != kSuccess) return rocm_absence(status);
  return value;
}

Reading<units::Power> from_microwatts(const Reading<std::uint64_t>& value) {
  if (!value) return value.reason();
  return amd::checked_power(1e-6 * static_cast<double>(*value));
}
Reading<units::DataSize> from_bytes(const Reading<std::uint64_t>& value) {
  if (!value) return value.reason();
  if (*value > (std::uint64_t{1} << 50U)) return Absence::garbage;
  return static_cast<double>(*value) * units::byte;
}

class RocmLibrary final : public amd::Library {
 public:
  RocmLibrary(const Calls& calls, std::uint32_t count) : calls_{calls}, count_{count} {}
  ~RocmLibrary() override {
    if (calls_.shut_down != nullptr) calls_.shut_down();
  }
  std::string_view name() const override { return kRocmSmi; }
  std::uint32_t count() const override { return count_; }
  std::string market_name(std::uint32_t device) const override {
    std::array<char, 256> buffer{};
    if (calls_.name == nullptr || calls_.name(device, buffer.data(), buffer.size() - 1) != kSuccess) return {};
    return printable(buffer.data());
  }
  std::string uuid(std::uint32_t device) const override {
    const auto id = ask<std::uint64_t>(calls_.unique_id, device);
    return id && *id != 0 ? fmt::format("0x{:016x}", *id) : std::string{};
  }
  Reading<std::uint64_t> address(std::uint32_t device) const override {
    return ask<std::uint64_t>(calls_.pci_id, device);
  }
  Reading<units::Power> current_power(std::uint32_t device) const override {
    return from_microwatts(ask<std::uint64_t>(calls_.current_power, device));
  }
  Reading<units::Power> average_power(std::uint32_t device) const override {
    return from_microwatts(ask<std::uint64_t>(calls_.average_power, device, std::uint32_t{0}));
  }
  Reading<amd::Energy> energy(std::uint32_t device) const override {
    if (calls_.energy == nullptr) return Absence::missing_symbol;
    amd::Energy energy;
    float resolution = 0;
    const std::uint32_t status = calls_.energy(device, &energy.count, &resolution, &energy.timestamp_ns);
    if (status != kSuccess) return rocm_absence(status);
    if (!std::isfinite(resolution) || !(resolution > 0)) return Absence::garbage;
    energy.resolution_microjoules = static_cast<double>(resolution);
    return energy;
  }
  Reading<units::Power> limit(std::uint32_t device) const override {
    return from_microwatts(ask<std::uint64_t>(calls_.cap, device, std::uint32_t{0}));
  }
  Reading<double> utilization(std::uint32_t device) const override {
    const auto percent = ask<std::uint32_t>(calls_.busy, device);
    if (!percent) return percent.reason();
    if (*percent > 100) return Absence::garbage;
    return 0.01 * *percent;
  }
  Reading<units::DataSize> memory_used(std::uint32_t device) const override {
    return from_bytes(ask<std::uint64_t>(calls_.memory_used, device, kVideoMemory));
  }
  Reading<units::DataSize> memory_total(std::uint32_t device) const override {
    return from_bytes(ask<std::uint64_t>(calls_.memory_total, device, kVideoMemory));
  }
  Reading<double> temperature(std::uint32_t device) const override {
    auto millidegrees = ask<std::int64_t>(calls_.temperature, device, kJunction, kCurrentValue);
    if (!millidegrees) millidegrees = ask<std::int64_t>(calls_.temperature, device, kEdge, kCurrentValue);
    if (!millidegrees) return millidegrees.reason();
    if (*millidegrees < -100'000 || *millidegrees > 250'000) return Absence::garbage;
    return 1e-3 * static_cast<double>(*millidegrees);
  }

 private:
  Calls calls_;
  std::uint32_t count_;
};

}  // namespace

Absence rocm_absence(std::uint32_t status) noexcept {
  switch (status) {
    case 2:  // NOT_SUPPORTED
    case 9:
      return Absence::not_supported;  // NOT_YET_IMPLEMENTED
    case 4:
      return Absence::no_permission;  // PERMISSION
    case kInitError:                  // what a machine without a device gives
    case 10:
      return Absence::not_present;  // NOT_FOUND
    case 14:
      return Absence::no_samples;  // NO_DATA
    case 13:                       // UNEXPECTED_SIZE
    case 15:
      return Absence::garbage;  // UNEXPECTED_DATA
    case 16:
      return Absence::timed_out;  // BUSY
    default:
      return Absence::unknown_error;
  }
}

OpenedSource open_rocm_smi(const RocmSmiOptions& options) {
  const auto refuse = [](Absence reason, std::string detail) {
    return tl::unexpected{SourceAbsence{std::string{kRocmSmi}, reason, std::move(detail), {}}};
  };
  if (!options.kfd.empty() && ::access(options.kfd.c_str(), F_OK) != 0) {
    return refuse(Absence::not_present, options.kfd + " is not there: no AMD device, or its driver is not loaded");
  }
  std::vector<std::string> names{"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
                                 "librocm_smi64.so.1", "librocm_smi64.so",   "/opt/rocm/lib/librocm_smi64.so"};
  if (!options.library.empty()) names = {options.library};
  const auto file = SharedLibrary::open(std::string{kRocmSmi}, names);
  if (!file) return tl::unexpected{file.error()};
  Calls calls;
#define FLOPWATT_ROCM_FIND(member, exported, parameters) file->find(exported, calls.member);
  FLOPWATT_ROCM_CALLS(FLOPWATT_ROCM_FIND)
#undef FLOPWATT_ROCM_FIND
  if (calls.init == nullptr || calls.count == nullptr) {
    return refuse(Absence::missing_symbol, file->name() + " has no rsmi_init or rsmi_num_monitor_devices");
  }
  if (const std::uint32_t status = calls.init(0); status != kSuccess) {
    return refuse(rocm_absence(status), fmt::format("rsmi_init of {} gave {}", file->name(), status));
  }
  std::uint32_t count = 0;
  if (const std::uint32_t status = calls.count(&count); status != kSuccess) {
    return refuse(rocm_absence(status), fmt::format("rsmi_num_monitor_devices gave {}", status));
  }
  return amd::make_source(std::make_unique<RocmLibrary>(calls, count));
}

}  // namespace flopwatt::telemetry
