#include "flopwatt/telemetry/powercap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/sysfs.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::string_view kRapl = "rapl";
constexpr std::string_view kPermissionRemedy =
    "run as root, or let a group read it (chgrp and chmod g+r of every energy_uj; since CVE-2020-8694 it is root's)";

struct Domain {
  std::string folder;  ///< "intel-rapl:0:1"
  std::string name;    ///< "package-0", "dram", …
  Scope scope = Scope::unknown;
  SysfsNumber energy;
  SysfsNumber limit;
};

Scope scope_of(std::string_view name) {
  if (name.starts_with("package")) return Scope::package;
  if (name == "core") return Scope::core;
  if (name == "uncore") return Scope::uncore;
  if (name == "dram") return Scope::dram;
  if (name == "psys") return Scope::platform;
  return Scope::unknown;
}

/// "intel-rapl-mmio:0:1" belongs to the interface "intel-rapl-mmio".
std::string_view interface_of(std::string_view folder) { return folder.substr(0, folder.find(':')); }
std::string_view parent_of(std::string_view folder) {
  const std::size_t colon = folder.find_last_of(':');
  const std::string_view parent = folder.substr(0, colon == std::string_view::npos ? 0 : colon);
  return parent.find(':') == std::string_view::npos ? std::string_view{} : parent;
}

units::Energy from_microjoules(std::int64_t value) { return 1e-6 * static_cast<double>(value) * units::joule; }
units::Power from_microwatts(std::int64_t value) { return 1e-6 * static_cast<double>(value) * units::watt; }

class PowercapSource final : public Source {
 public:
  explicit PowercapSource(std::string root) : root_{std::move(root)} {}

  std::optional<SourceAbsence> list() {
    const std::vector<std::string> folders = sysfs_folder(root_);
    for (const std::string& folder : folders) {
      if (folder.find(':') != std::string::npos) add(folder);
    }
    if (domains_.empty()) {
      return SourceAbsence{std::string{kRapl},
                           Absence::not_present,
                           folders.empty() ? root_ + " is not there" : "no energy counter under " + root_,
                           {}};
    }
    nest();
    const auto first = std::find_if(devices_.begin(), devices_.end(),
                                    [](const DeviceInfo& device) { return device.unreadable.has_value(); });
    const bool all = std::all_of(devices_.begin(), devices_.end(),
                                 [](const DeviceInfo& device) { return device.unreadable.has_value(); });
    if (all) {
      const auto at = static_cast<std::size_t>(first - devices_.begin());
      const Absence reason = domains_[at].energy.read().reason();
      return SourceAbsence{std::string{kRapl}, reason, first->path, first->unreadable->remedy};
    }
    return std::nullopt;
  }

  std::string_view name() const override { return kRapl; }
  std::span<const DeviceInfo> devices() const override { return devices_; }

  Snapshot read(std::size_t device) override {
    Domain& domain = domains_[device];
    Snapshot snapshot;
    const SteadyTime begin = steady_now();
    const Reading<std::int64_t> energy = domain.energy.read();
    const SteadyTime end = steady_now();
    snapshot.time = begin + (end - begin) / 2;
    snapshot.time_error = (end - begin) / 2;
    snapshot.wall = wall_now();
    snapshot.power = {Absence::not_supported, PowerKind::counter, domain.scope};
    snapshot.energy = !energy       ? Reading<units::Energy>{energy.reason()}
                      : *energy < 0 ? Reading<units::Energy>{Absence::garbage}
                                    : Reading<units::Energy>{from_microjoules(*energy)};
    const Reading<std::int64_t> limit = domain.limit.read();
    snapshot.limit = !limit        ? Reading<units::Power>{limit.reason()}
                     : *limit <= 0 ? Reading<units::Power>{Absence::not_supported}
                                   : Reading<units::Power>{from_microwatts(*limit)};
    return snapshot;
  }

 private:
  void add(const std::string& folder) {
    const std::string path = root_ + "/" + folder + "/";
    Domain domain{.folder = folder, .name = sysfs_line(path + "name")};
    domain.energy = SysfsNumber{path + "energy_uj"};
    const Reading<std::int64_t> energy = domain.energy.read();
    if (energy.absent_for(Absence::not_present)) return;  // a power limit without a meter
    if (domain.name.empty()) domain.name = folder;
    domain.scope = scope_of(domain.name);
    domain.limit = SysfsNumber{path + "constraint_0_power_limit_uw"};

    DeviceInfo device{.source = std::string{kRapl},
                      .index = devices_.size(),
                      .name = domain.name,
                      .path = domain.energy.path(),
                      .scope = domain.scope};
    device.counter.resolution = 61e-6 * units::joule;  // 2^-14 J: Intel SDM, MSR_RAPL_POWER_UNIT
    device.counter.update_period = 1 * units::millisecond;
    const Reading<std::int64_t> range = sysfs_number(path + "max_energy_range_uj");
    if (range && *range > 0) {
      device.counter.range = from_microjoules(*range);
    } else {
      device.notes.push_back(
          fmt::format("{}max_energy_range_uj cannot be read ({}): an interval in which the counter "
                      "wraps is left out",
                      path, range ? "0" : text(range.reason())));
    }
    device.counter.max_power = most_power(path, domain.scope);
    if (!energy) {
      const bool permission = energy.reason() == Absence::no_permission;
      device.unreadable = base::Error{base::Errc::unavailable, std::string{text(energy.reason())}, device.path,
                                      permission ? std::string{kPermissionRemedy} : std::string{}};
    }
    domains_.push_back(std::move(domain));
    devices_.push_back(std::move(device));
  }

  /// Twice the highest of its limits, if it has any: what bounds how often the counter can have wrapped.
  static units::Power most_power(const std::string& path, Scope scope) {
    std::int64_t most = 0;
    for (int i = 0; i < 3; ++i) {
      for (const char* file : {"max_power_uw", "power_limit_uw"}) {
        const Reading<std::int64_t> limit = sysfs_number(fmt::format("{}constraint_{}_{}", path, i, file));
        if (limit) most = std::max(most, *limit);
      }
    }
    const units::Power plausible = plausible_power(scope);
    if (most <= 0 || 2 * from_microwatts(most) > plausible) return plausible;
    return std::max(2 * from_microwatts(most), 100 * units::watt);
  }

  std::optional<std::size_t> find(std::string_view folder) const {
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      if (domains_[i].folder == folder) return i;
    }
    return std::nullopt;
  }

  void nest() {
    std::optional<std::size_t> platform;
    for (std::size_t i = 0; i < domains_.size() && !platform; ++i) {
      if (domains_[i].scope == Scope::platform) platform = i;
    }
    for (std::size_t i = 0; i < domains_.size(); ++i) {
      if (const auto original = duplicated(i)) {
        devices_[i].part_of = original;
        devices_[i].notes.push_back("the same counter as " + domains_[*original].folder);
      } else if (domains_[i].scope == Scope::core || domains_[i].scope == Scope::uncore) {
        devices_[i].part_of = find(parent_of(domains_[i].folder));
      } else if (platform && i != *platform) {
        devices_[i].part_of = platform;
      }
    }
  }

  /// An earlier domain of another interface with the same name and a parent of the same name.
  std::optional<std::size_t> duplicated(std::size_t i) const {
    const auto full_name = [&](std::size_t k) {
      const auto parent = find(parent_of(domains_[k].folder));
      return parent ? domains_[*parent].name + "/" + domains_[k].name : domains_[k].name;
    };
    for (std::size_t k = 0; k < i; ++k) {
      if (interface_of(domains_[k].folder) != interface_of(domains_[i].folder) && full_name(k) == full_name(i))
        return k;
    }
    return std::nullopt;
  }

  std::string root_;
  std::vector<Domain> domains_;
  std::vector<DeviceInfo> devices_;
};

}  // namespace

OpenedSource open_powercap(const PowercapOptions& options) {
  auto source = std::make_unique<PowercapSource>(options.root);
  if (auto absence = source->list()) return tl::unexpected{std::move(*absence)};
  return source;
}

}  // namespace flopwatt::telemetry
