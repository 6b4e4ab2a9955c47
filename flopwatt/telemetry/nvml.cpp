#include "flopwatt/telemetry/nvml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "flopwatt/telemetry/nvml_library.hpp"
#include "flopwatt/telemetry/nvml_values.hpp"
#include "flopwatt/telemetry/pci_id.hpp"
#include "flopwatt/telemetry/shared_library.hpp"

namespace flopwatt::telemetry {
namespace {

using nvml::call;
using nvml::Device;
using nvml::Library;

constexpr std::string_view kNvml = "nvml";
constexpr std::string_view kSensorSource =
    "NVML reference (±5 % on Fermi and Kepler, taken for all; mean of one second on Ampere except GA100 and later); "
    "arXiv 2312.02741 (a quarter of the "
    "time "
    "on A100 and H100)";

/// One way to ask for power.
struct PowerWay {
  std::uint32_t field;  // 0: nvmlDeviceGetPowerUsage
  std::uint32_t scope;
  PowerKind kind;
  std::string_view call;
};

/// A listed device and how to read it.
struct Unit {
  Device handle = nullptr;
  std::optional<PowerWay> power;
  Absence no_power = Absence::not_supported;
  std::optional<PowerWay> module_power;
  Reading<units::Power> limit;
  Reading<nvml::Memory> memory;
  Reading<std::uint32_t> processes;
  std::optional<SteadyTime> slow_read;
  std::optional<SteadyTime> counter_read;
  units::Duration counter_cost;
};

template <class Function>
std::string text_of(Function* function, Device device) {
  if (function == nullptr) return {};
  std::array<char, 96> buffer{};
  if (function(device, buffer.data(), static_cast<std::uint32_t>(buffer.size() - 1)) != nvml::kSuccess) return {};
  return printable(buffer.data());
}

Reading<units::Power> read_power(const Library& library, Device device, const PowerWay& way) {
  return way.field == 0 ? nvml::power_usage(library, device) : nvml::power_field(library, device, way.field, way.scope);
}

/// Whether it is worth asking again: a device that is lost now may come back, one that cannot cannot.
bool lasting(const Reading<units::Power>& reading) {
  return reading.absent_for(Absence::not_supported) || reading.absent_for(Absence::missing_symbol);
}

class NvmlSource final : public Source {
 public:
  NvmlSource(const Library& library, const NvmlOptions& options) : library_{library}, options_{options} {}
  ~NvmlSource() override {
    if (library_.shutdown != nullptr) library_.shutdown();
  }

  std::optional<SourceAbsence> list() {
    std::uint32_t count = 0;
    if (const std::uint32_t code = library_.count(&count); code != nvml::kSuccess) {
      return SourceAbsence{
          std::string{kNvml}, nvml_absence(code), fmt::format("nvmlDeviceGetCount_v2 gave {}", code), {}};
    }
    if (count == 0) return SourceAbsence{std::string{kNvml}, Absence::not_present, "the driver lists no device", {}};
    for (std::uint32_t i = 0; i < count; ++i) add(i);
    return std::nullopt;
  }

  std::string_view name() const override { return kNvml; }
  std::span<const DeviceInfo> devices() const override { return devices_; }

  Snapshot read(std::size_t device) override { return look(device, true); }
  Snapshot glance(std::size_t device) override {
    const Unit& unit = units_[device];
    const bool dear = unit.counter_cost > options_.dear_counter;
    return look(device,
                !dear || !unit.counter_read || to_duration(steady_now() - *unit.counter_read) >= options_.slow_period);
  }

 private:
  Snapshot look(std::size_t device, bool with_counter) {
    Unit& unit = units_[device];
    const DeviceInfo& info = devices_[device];
    Snapshot snapshot;
    const SteadyTime begin = steady_now();
    if (info.unreadable) {
      snapshot.power.value = Absence::device_lost;
    } else if (info.part_of) {
      snapshot.power.value = Absence::in_other_reading;
      snapshot.energy = Absence::in_other_reading;
    } else {
      if (with_counter) {
        snapshot.energy = nvml::total_energy(library_, unit.handle);
        unit.counter_read = steady_now();
        unit.counter_cost = to_duration(*unit.counter_read - begin);
      }
      snapshot.power.value = unit.power ? read_power(library_, unit.handle, *unit.power) : unit.no_power;
      if (unit.module_power) {
        snapshot.module_power = {read_power(library_, unit.handle, *unit.module_power), unit.module_power->kind,
                                 Scope::module};
      }
    }
    const SteadyTime end = steady_now();
    snapshot.time = begin + (end - begin) / 2;
    snapshot.time_error = (end - begin) / 2;
    snapshot.wall = wall_now() - (end - begin) / 2;
    if (unit.power) snapshot.power.kind = unit.power->kind;
    snapshot.power.scope = info.scope;
    if (!info.unreadable) read_rest(unit, end, snapshot);
    return snapshot;
  }

  void read_rest(Unit& unit, SteadyTime now, Snapshot& snapshot) {
    snapshot.utilization = nvml::utilization(library_, unit.handle);
    snapshot.compute_clock = nvml::clock(library_, unit.handle, nvml::kClockSm);
    snapshot.memory_clock = nvml::clock(library_, unit.handle, nvml::kClockMemory);
    snapshot.temperature_celsius = nvml::temperature(library_, unit.handle);
    if (!unit.slow_read || to_duration(now - *unit.slow_read) >= options_.slow_period) {
      unit.slow_read = now;
      unit.limit = nvml::power_limit(library_, unit.handle);
      unit.memory = nvml::memory(library_, unit.handle);
      unit.processes = nvml::process_count(library_, unit.handle);
    }
    snapshot.limit = unit.limit;
    snapshot.processes = unit.processes;
    if (unit.memory) {
      snapshot.memory_used = static_cast<double>(unit.memory->used) * units::byte;
      snapshot.memory_total = static_cast<double>(unit.memory->total) * units::byte;
    } else {
      snapshot.memory_used = snapshot.memory_total = unit.memory.reason();
    }
  }

  void add(std::uint32_t index) {
    DeviceInfo info{.source = std::string{kNvml}, .index = devices_.size(), .vendor = "nvidia"};
    Unit unit;
    if (const std::uint32_t code = library_.handle(index, &unit.handle); code != nvml::kSuccess) {
      info.unreadable = base::Error{
          base::Errc::unavailable,
          fmt::format("nvmlDeviceGetHandleByIndex_v2({}) gave {}: {}", index, code, text(nvml_absence(code))),
          std::string{kNvml},
          {}};
      push(std::move(info), unit);
      return;
    }
    identify(unit.handle, info);
    choose_power(unit, info);
    describe_sensor(unit, info);
    info.counter.resolution = 1e-3 * units::joule;
    info.counter.range = 18446744073709551616.0 * 1e-3 * units::joule;  // 64 bits of mJ: if it falls, it was reset
    info.counter.update_period = 0.1 * units::second;  // steps of 10 to 100 ms were seen (gpuopenanalytics/pynvml #18)
    const std::size_t board = devices_.size();
    std::uint32_t mode = nvml::kBareMetal;
    if (call(library_.virtualization, unit.handle, &mode) && mode == nvml::kVgpu) {
      info.notes.emplace_back("a vGPU: the board and its power belong to the host");
    }
    std::uint32_t mig = 0;
    std::uint32_t pending = 0;
    const bool has_mig = call(library_.mig_mode, unit.handle, &mig, &pending) && mig == 1;
    if (has_mig)
      info.notes.emplace_back("MIG is on: power and energy are the whole board's, of all instances together");
    push(std::move(info), unit);
    if (has_mig) add_instances(board);
  }

  void add_instances(std::size_t board) {
    std::uint32_t most = 0;
    if (!call(library_.mig_count, units_[board].handle, &most)) return;
    for (std::uint32_t i = 0; i < most; ++i) {
      Unit unit;
      if (!call(library_.mig_handle, units_[board].handle, i, &unit.handle)) continue;
      DeviceInfo info{.source = std::string{kNvml}, .index = devices_.size(), .vendor = "nvidia"};
      info.name = text_of(library_.name, unit.handle);
      info.uuid = text_of(library_.uuid, unit.handle);
      info.scope = Scope::partition;
      info.part_of = board;
      push(std::move(info), unit);
    }
  }

  void push(DeviceInfo info, const Unit& unit) {
    devices_.push_back(std::move(info));
    units_.push_back(unit);
  }

  void identify(Device device, DeviceInfo& info) const {
    info.name = text_of(library_.name, device);
    info.uuid = text_of(library_.uuid, device);
    nvml::PciInfo pci{};
    if (call(library_.pci, device, &pci)) {
      pci.bus_id[sizeof(pci.bus_id) - 1] = '\0';
      info.pci_id = normal_pci_id(pci.bus_id).value_or("");
    }
  }

  /// What nvmlDeviceGetPowerUsage means on this architecture.
  PowerKind usage_kind(Device device) const {
    std::uint32_t architecture = nvml::kArchitectureUnknown;
    if (!call(library_.architecture, device, &architecture) || architecture == nvml::kArchitectureUnknown) {
      return PowerKind::unknown;
    }
    if (architecture < nvml::kArchitectureAmpere || is_capability(device, 8, 0)) return PowerKind::instant;
    return PowerKind::average_1s;
  }

  bool is_capability(Device device, std::int32_t major, std::int32_t minor) const {
    std::int32_t has_major = 0;
    std::int32_t has_minor = 0;
    return call(library_.compute_capability, device, &has_major, &has_minor) && has_major == major &&
           has_minor == minor;
  }

  void choose_power(Unit& unit, DeviceInfo& info) const {
    const std::array ways{
        PowerWay{0, nvml::kScopeGpu, usage_kind(unit.handle), "nvmlDeviceGetPowerUsage"},
        PowerWay{nvml::kFieldPowerAverage, nvml::kScopeGpu, PowerKind::average_1s, "field 185 (average), GPU scope"},
        PowerWay{nvml::kFieldPowerInstant, nvml::kScopeGpu, PowerKind::instant, "field 186 (instant), GPU scope"},
        PowerWay{nvml::kFieldPowerAverage, nvml::kScopeModule, PowerKind::average_1s,
                 "field 185 (average), module scope"},
        PowerWay{nvml::kFieldPowerInstant, nvml::kScopeModule, PowerKind::instant,
                 "field 186 (instant), module scope"}};
    if (options_.instant) {
      const Reading<units::Power> instant = read_power(library_, unit.handle, ways[2]);
      if (!lasting(instant)) {
        unit.power = ways[2];
      } else {
        info.notes.push_back(fmt::format("no instant power (field 186: {})", text(instant.reason())));
      }
    }
    for (const PowerWay& way : ways) {
      if (unit.power) break;
      const Reading<units::Power> power = read_power(library_, unit.handle, way);
      if (!lasting(power)) {
        unit.power = way;
        if (way.field != 0) info.notes.push_back(fmt::format("power from {}", way.call));
      } else if (way.field == 0) {
        unit.no_power = power.reason();
      }
    }
    if (unit.power && unit.power->scope == nvml::kScopeModule) {
      info.scope = Scope::module;
      return;
    }
    const PowerWay& module = ways[unit.power && unit.power->kind == PowerKind::instant ? 4 : 3];
    if (read_power(library_, unit.handle, module)) unit.module_power = module;
  }

  void describe_sensor(const Unit& unit, DeviceInfo& info) const {
    info.sensor.relative_accuracy = 0.05;
    info.sensor.source = kSensorSource;
    if (unit.power && unit.power->kind == PowerKind::average_1s) info.sensor.averaging_window = 1 * units::second;
    if (is_capability(unit.handle, 8, 0) || is_capability(unit.handle, 9, 0)) {
      info.sensor.duty = 0.25;
      info.sensor.update_period = 0.1 * units::second;
    }
  }

  Library library_;
  NvmlOptions options_;
  std::vector<DeviceInfo> devices_;
  std::vector<Unit> units_;
};

}  // namespace

OpenedSource open_nvml(const NvmlOptions& options) {
  auto library = nvml::open_library(options.library);
  if (!library) return tl::unexpected{std::move(library).error()};
  auto source = std::make_unique<NvmlSource>(*library, options);
  if (auto absence = source->list()) return tl::unexpected{std::move(*absence)};
  return source;
}

std::vector<WallTime> anchor_samples(std::span<const std::uint64_t> timestamps_us, WallTime read_at) {
  std::vector<WallTime> result;
  result.reserve(timestamps_us.size());
  for (const std::uint64_t time : timestamps_us) {
    // A time after the last, or a century before it, is none.
    const std::uint64_t distance = timestamps_us.back() > time ? timestamps_us.back() - time : 0;
    const auto before_last = static_cast<std::int64_t>(std::min(distance, std::uint64_t{3'000'000'000'000'000}));
    result.push_back(read_at - std::chrono::microseconds{before_last});
  }
  return result;
}

}  // namespace flopwatt::telemetry
