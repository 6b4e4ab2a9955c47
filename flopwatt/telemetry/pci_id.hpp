#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace flopwatt::telemetry {

/// "0000:3B:00.0", "00000000:3B:00.0" and "3b:00.0" as "00000000:3b:00.0", so that ids of different libraries compare.
/// None if it is no PCI address.
[[nodiscard]] std::optional<std::string> normal_pci_id(std::string_view text);

}  // namespace flopwatt::telemetry
