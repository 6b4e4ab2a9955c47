#include "flopwatt/telemetry/hwmon.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "flopwatt/telemetry/pci_id.hpp"
#include "flopwatt/telemetry/sysfs.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::string_view kHwmon = "hwmon";
constexpr int kMostChannels = 32;

struct Channel {
  SysfsNumber power;          ///< µW
  SysfsNumber energy;         ///< µJ
  SysfsNumber volts;          ///< mV, with amperes in place of power
  SysfsNumber amperes;        ///< mA
  SysfsNumber limit;          ///< µW
  SysfsNumber temperature;    ///< m°C
  SysfsNumber compute_clock;  ///< Hz
  SysfsNumber memory_clock;
  SysfsNumber busy;  ///< percent
  SysfsNumber memory_used;
  SysfsNumber memory_total;
  PowerKind kind = PowerKind::unknown;
  Scope scope = Scope::unknown;
};

/// Readings scaled to base units; negative ones cannot be.
Reading<double> scaled(SysfsNumber& file, double scale) {
  const Reading<std::int64_t> value = file.read();
  if (!value) return value.reason() == Absence::not_present ? Absence::not_supported : value.reason();
  if (*value < 0) return Absence::garbage;
  return scale * static_cast<double>(*value);
}
template <class Quantity>
Reading<Quantity> quantity(const Reading<double>& value, Quantity unit) {
  return value ? Reading<Quantity>{*value * unit} : Reading<Quantity>{value.reason()};
}

bool there(const std::string& path) {
  const Reading<std::int64_t> value = sysfs_number(path);
  return !value.absent_for(Absence::not_present);
}

Scope scope_of(std::string_view chip, std::string_view label) {
  if (chip == "amdgpu" || chip == "nouveau") return Scope::device;
  if (chip == "i915" || chip == "xe") return label == "pkg" ? Scope::package : Scope::device;
  if (chip == "power_meter") return Scope::node;
  if (label == "VDD_IN" || label == "VIN" || label == "POM_5V_IN") return Scope::module;
  return Scope::rail;
}

std::string_view vendor_of(std::string_view chip) {
  if (chip == "amdgpu") return "amd";
  if (chip == "i915" || chip == "xe") return "intel";
  if (chip == "nouveau" || chip.starts_with("ina3221")) return "nvidia";
  return {};
}

class HwmonSource final : public Source {
 public:
  explicit HwmonSource(HwmonOptions options) : root_{options.root}, without_{std::move(options.without_pci_ids)} {}

  std::optional<SourceAbsence> list() {
    const std::vector<std::string> folders = sysfs_folder(root_);
    for (const std::string& folder : folders) {
      if (folder.starts_with("hwmon")) add_chip(root_ + "/" + folder + "/");
    }
    if (!devices_.empty()) return std::nullopt;
    return SourceAbsence{std::string{kHwmon},
                         Absence::not_present,
                         folders.empty() ? root_ + " is not there" : "no power or energy sensor under " + root_,
                         {}};
  }

  std::string_view name() const override { return kHwmon; }
  std::span<const DeviceInfo> devices() const override { return devices_; }

  Snapshot read(std::size_t device) override {
    Channel& channel = channels_[device];
    Snapshot snapshot;
    const SteadyTime begin = steady_now();
    snapshot.energy = quantity(scaled(channel.energy, 1e-6), units::joule);
    snapshot.power = {power(channel), channel.kind, channel.scope};
    const SteadyTime end = steady_now();
    snapshot.time = begin + (end - begin) / 2;
    snapshot.time_error = (end - begin) / 2;
    snapshot.wall = wall_now();
    snapshot.limit = quantity(scaled(channel.limit, 1e-6), units::watt);
    if (snapshot.limit && *snapshot.limit <= units::Power{}) snapshot.limit = Absence::not_supported;
    snapshot.temperature_celsius = scaled(channel.temperature, 1e-3);
    snapshot.compute_clock = quantity(scaled(channel.compute_clock, 1), units::hertz);
    snapshot.memory_clock = quantity(scaled(channel.memory_clock, 1), units::hertz);
    snapshot.utilization = scaled(channel.busy, 0.01);
    if (snapshot.utilization && *snapshot.utilization > 1) snapshot.utilization = Absence::garbage;
    snapshot.memory_used = quantity(scaled(channel.memory_used, 1), units::byte);
    snapshot.memory_total = quantity(scaled(channel.memory_total, 1), units::byte);
    return snapshot;
  }

 private:
  static Reading<units::Power> power(Channel& channel) {
    if (channel.volts.path().empty()) return quantity(scaled(channel.power, 1e-6), units::watt);
    const Reading<double> volts = scaled(channel.volts, 1e-3);
    if (!volts) return volts.reason();
    return quantity(scaled(channel.amperes, 1e-3 * *volts), units::watt);
  }

  void add_chip(const std::string& path) {
    const std::string chip = sysfs_line(path + "name");
    const std::string address = normal_pci_id(sysfs_link_name(path + "device")).value_or("");
    if (std::find(without_.begin(), without_.end(), address) != without_.end()) return;
    const std::size_t first = devices_.size();
    for (int i = 0; i < kMostChannels; ++i) {
      add_channel(path, chip, i);
      if (chip.starts_with("ina")) add_product(path, chip, i);
    }
    // Jetson's input rail feeds the others; a card's counter includes its package's.
    for (const Scope whole : {Scope::module, Scope::device}) {
      for (std::size_t i = first; i < devices_.size(); ++i) {
        if (devices_[i].scope != whole) continue;
        for (std::size_t k = first; k < devices_.size(); ++k) {
          if (devices_[k].scope != whole && !devices_[k].part_of) devices_[k].part_of = i;
        }
        return;
      }
    }
  }

  void add_channel(const std::string& path, const std::string& chip, int number) {
    const std::string input = fmt::format("{}power{}_input", path, number);
    const std::string average = fmt::format("{}power{}_average", path, number);
    const std::string energy = fmt::format("{}energy{}_input", path, number);
    const bool has_input = there(input);
    const bool has_average = there(average);
    const bool has_energy = there(energy);
    if (!has_input && !has_average && !has_energy) return;
    std::string label = sysfs_line(fmt::format("{}power{}_label", path, number));
    if (label.empty()) label = sysfs_line(fmt::format("{}energy{}_label", path, number));
    Channel channel{.scope = scope_of(chip, label)};
    DeviceInfo device = describe(path, chip, label);
    if (has_energy) {
      channel.energy = SysfsNumber{energy};
      device.counter.resolution = 1e-6 * units::joule;
      device.path = energy;
    }
    if (has_input || has_average) {
      channel.power = SysfsNumber{has_input ? input : average};
      // amdgpu's input is the firmware's filtered socket power, as the vendor's library has it under this name.
      channel.kind = !has_input ? PowerKind::average : chip == "amdgpu" ? PowerKind::current : PowerKind::instant;
      device.path = channel.power.path();
      if (has_input && has_average) device.notes.push_back("has average and current power: current is read");
      const Reading<std::int64_t> interval = sysfs_number(fmt::format("{}power{}_average_interval", path, number));
      if (!has_input && interval && *interval > 0) {
        device.sensor.averaging_window = static_cast<double>(*interval) * units::millisecond;
      }
    }
    channel.limit = SysfsNumber{fmt::format("{}power{}_cap", path, number)};
    channel.temperature = SysfsNumber{path + "temp1_input"};
    if (chip == "amdgpu") {  // sclk and mclk
      channel.compute_clock = SysfsNumber{path + "freq1_input"};
      channel.memory_clock = SysfsNumber{path + "freq2_input"};
    }
    channel.busy = SysfsNumber{path + "device/gpu_busy_percent"};
    channel.memory_used = SysfsNumber{path + "device/mem_info_vram_used"};
    channel.memory_total = SysfsNumber{path + "device/mem_info_vram_total"};
    push(std::move(device), std::move(channel));
  }

  /// Voltage times current of a channel without a power of its own.
  void add_product(const std::string& path, const std::string& chip, int number) {
    if (there(fmt::format("{}power{}_input", path, number))) return;
    const std::string volts = fmt::format("{}in{}_input", path, number);
    const std::string amperes = fmt::format("{}curr{}_input", path, number);
    if (!there(volts) || !there(amperes)) return;
    const std::string label = sysfs_line(fmt::format("{}in{}_label", path, number));
    if (label == "NC") return;  // not connected
    Channel channel{.kind = PowerKind::instant, .scope = scope_of(chip, label)};
    channel.volts = SysfsNumber{volts};
    channel.amperes = SysfsNumber{amperes};
    DeviceInfo device = describe(path, chip, label);
    device.path = amperes;
    device.notes.emplace_back("power is the product of voltage and current, read one after the other");
    push(std::move(device), std::move(channel));
  }

  DeviceInfo describe(const std::string& path, const std::string& chip, const std::string& label) const {
    DeviceInfo device{.source = std::string{kHwmon},
                      .index = devices_.size(),
                      .vendor = std::string{vendor_of(chip)},
                      .name = label.empty() ? chip : chip + " " + label,
                      .scope = scope_of(chip, label)};
    device.pci_id = normal_pci_id(sysfs_link_name(path + "device")).value_or("");
    return device;
  }

  void push(DeviceInfo device, Channel channel) {
    const Reading<std::int64_t> value = sysfs_number(device.path);
    if (value.absent_for(Absence::no_permission)) {
      device.unreadable = base::Error{base::Errc::unavailable, std::string{text(value.reason())}, device.path,
                                      "run as root or let your group read it"};
    }
    devices_.push_back(std::move(device));
    channels_.push_back(std::move(channel));
  }

  std::string root_;
  std::vector<std::string> without_;
  std::vector<DeviceInfo> devices_;
  std::vector<Channel> channels_;
};

}  // namespace

OpenedSource open_hwmon(const HwmonOptions& options) {
  auto source = std::make_unique<HwmonSource>(options);
  if (auto absence = source->list()) return tl::unexpected{std::move(*absence)};
  return source;
}

}  // namespace flopwatt::telemetry
