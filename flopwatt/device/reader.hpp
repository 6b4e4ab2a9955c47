#pragma once

#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/device.hpp"

namespace flopwatt::device {

/// The version of the catalogue format that is read.
inline constexpr int kDeviceSchema = 1;

/// Reads one catalogue file (see data/schema/device.schema.json); Catalogue::parse lists what it refuses.
[[nodiscard]] Result<std::vector<Device>> read_devices(std::string_view text, std::string_view where);

}  // namespace flopwatt::device
