#pragma once

#include <span>

#include "flopwatt/device/device.hpp"

namespace flopwatt::device {

/// The device that several variants have in common: figures that are equal in all of them are kept, the others are
/// absent and listed in `differences` with the value of each.  Named after the family where they share one.
/// `variants` must not be empty; a single one is returned as it is.
[[nodiscard]] Device common(std::span<const Device* const> variants);

}  // namespace flopwatt::device
