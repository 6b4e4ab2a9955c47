#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "flopwatt/telemetry/amd_library.hpp"

namespace flopwatt::telemetry::amd {
namespace {

constexpr double kMostWatts = 20e3;

struct Unit {
  bool current = false;  ///< current power is read, else average
  Absence no_power = Absence::not_asked;
  std::optional<std::uint64_t> board;  ///< its address without partition and function
};

class AmdSource final : public Source {
 public:
  explicit AmdSource(std::unique_ptr<Library> library) : library_{std::move(library)} {}

  std::optional<SourceAbsence> list() {
    if (library_->count() == 0) {
      return SourceAbsence{std::string{library_->name()}, Absence::not_present, "the driver lists no device", {}};
    }
    for (std::uint32_t i = 0; i < library_->count(); ++i) add(i);
    group_partitions();
    group_dies();
    return std::nullopt;
  }

  std::string_view name() const override { return library_->name(); }
  std::span<const DeviceInfo> devices() const override { return devices_; }

  Snapshot read(std::size_t device) override {
    const DeviceInfo& info = devices_[device];
    const Unit& unit = units_[device];
    const auto index = static_cast<std::uint32_t>(device);
    Snapshot snapshot;
    const SteadyTime begin = steady_now();
    if (info.part_of) {
      snapshot.power.value = Absence::in_other_reading;
      snapshot.energy = Absence::in_other_reading;
    } else {
      const Reading<Energy> energy = library_->energy(index);
      if (energy) {
        snapshot.energy = 1e-6 * energy->resolution_microjoules * static_cast<double>(energy->count) * units::joule;
        snapshot.energy_updated = std::chrono::nanoseconds{static_cast<std::int64_t>(energy->timestamp_ns)};
      } else {
        snapshot.energy = energy.reason();
      }
      snapshot.power.value = unit.no_power != Absence::not_asked ? Reading<units::Power>{unit.no_power}
                             : unit.current                      ? library_->current_power(index)
                                                                 : library_->average_power(index);
    }
    const SteadyTime end = steady_now();
    snapshot.time = begin + (end - begin) / 2;
    snapshot.time_error = (end - begin) / 2;
    snapshot.wall = wall_now();
    snapshot.power.kind = unit.current ? PowerKind::current : PowerKind::average;
    snapshot.power.scope = info.scope;
    snapshot.limit = library_->limit(index);
    if (snapshot.limit && *snapshot.limit <= units::Power{}) snapshot.limit = Absence::not_supported;
    snapshot.utilization = library_->utilization(index);
    snapshot.memory_used = library_->memory_used(index);
    snapshot.memory_total = library_->memory_total(index);
    snapshot.temperature_celsius = library_->temperature(index);
    return snapshot;
  }

 private:
  void add(std::uint32_t index) {
    DeviceInfo info{.source = std::string{library_->name()},
                    .index = devices_.size(),
                    .vendor = "amd",
                    .name = library_->market_name(index),
                    .uuid = library_->uuid(index)};
    Unit unit;
    if (const Reading<std::uint64_t> address = library_->address(index)) {
      info.pci_id = fmt::format("{:08x}:{:02x}:{:02x}.{:x}", *address >> 32U, (*address >> 8U) & 0xFFU,
                                (*address >> 3U) & 0x1FU, *address & 7U);
      unit.board = *address & 0xFFFFFFFF0000FFF8U;
    }
    // MI200 has the average only, MI300 the current only; a device with both is read for the current.
    const Reading<units::Power> current = library_->current_power(index);
    const Reading<units::Power> average = library_->average_power(index);
    unit.current = current.has_value();
    if (current && average) info.notes.emplace_back("has average and current power: current is read");
    if (!current && !average && average.absent_for(Absence::not_supported)) unit.no_power = average.reason();
    if (const Reading<Energy> energy = library_->energy(index)) {
      info.counter.resolution = 1e-6 * energy->resolution_microjoules * units::joule;
      info.counter.range = std::ldexp(energy->resolution_microjoules * 1e-6, 64) * units::joule;
    }
    devices_.push_back(std::move(info));
    units_.push_back(unit);
  }

  /// Compute partitions (CPX, DPX, …) are listed as devices at one PCI address: one board, one meter.
  void group_partitions() {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (!units_[i].board) continue;
      for (std::size_t first = 0; first < i; ++first) {
        if (units_[first].board != units_[i].board || devices_[first].part_of) continue;
        devices_[i].part_of = first;
        devices_[i].scope = Scope::partition;
        ++devices_[first].partitions;
        break;
      }
    }
    for (DeviceInfo& device : devices_) {
      if (device.partitions > 1) {
        device.notes.push_back(fmt::format("{} partitions: power and energy are the whole board's", device.partitions));
      }
    }
  }

  /// The second die of a package (MI250X) has no meter: its counter is 0 for ever, and its power 0 or not supported
  /// (rocm_smi.py tells it so).  The first die's meter covers both.
  void group_dies() {
    for (std::size_t i = 1; i < devices_.size(); ++i) {
      DeviceInfo& first = devices_[i - 1];
      if (devices_[i].part_of || first.part_of || first.dies > 1 || devices_[i].name != first.name) continue;
      if (!meterless(i) || meterless(i - 1)) continue;
      devices_[i].part_of = i - 1;
      devices_[i].notes.push_back(fmt::format("secondary die: its power is in that of {}", first.id()));
      first.dies = 2;
      first.scope = Scope::module;
      first.notes.emplace_back("power and energy cover both dies of the package");
    }
  }

  bool meterless(std::size_t i) const {
    const auto index = static_cast<std::uint32_t>(i);
    const auto nothing = [](const Reading<units::Power>& power) {
      return power ? *power <= units::Power{} : power.absent_for(Absence::not_supported);
    };
    const Reading<Energy> energy = library_->energy(index);
    const bool no_energy = energy ? energy->count == 0 : energy.absent_for(Absence::not_supported);
    return no_energy && nothing(library_->current_power(index)) && nothing(library_->average_power(index));
  }

  std::unique_ptr<Library> library_;
  std::vector<DeviceInfo> devices_;
  std::vector<Unit> units_;
};

}  // namespace

Reading<units::Power> checked_power(double watts) noexcept {
  if (watts == 0xFFFF || watts == 0xFFFFFFFF) return Absence::not_supported;
  if (!std::isfinite(watts) || watts < 0 || watts > kMostWatts) return Absence::garbage;
  return watts * units::watt;
}

OpenedSource make_source(std::unique_ptr<Library> library) {
  auto source = std::make_unique<AmdSource>(std::move(library));
  if (auto absence = source->list()) return tl::unexpected{std::move(*absence)};
  return source;
}

}  // namespace flopwatt::telemetry::amd
