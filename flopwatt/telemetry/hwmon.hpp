#pragma once

#include <string>
#include <vector>

#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

struct HwmonOptions {
  std::string root = "/sys/class/hwmon";
  /// Chips of these PCI devices are left out: another source has them.
  std::vector<std::string> without_pci_ids;
};

/// What the kernel's hardware monitors say of power and energy, one device a channel (Documentation/hwmon/
/// sysfs-interface.rst of Linux): powerN_input (instant) or powerN_average, energyN_input, and where a chip of the INA
/// family has only voltage and current, their product.
///
/// amdgpu: the whole card, with utilisation, memory and limit from its PCI device; current before average where it has
/// both.  i915 and xe: an energy counter, the package's inside the card's.  Jetson's INA3221: the rail VDD_IN is the
/// module, the others lie in it.  ACPI power meters: the node.
[[nodiscard]] OpenedSource open_hwmon(const HwmonOptions& options = {});

}  // namespace flopwatt::telemetry
