#pragma once

#include <string>

#include "flopwatt/answers/devices.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/facts.hpp"

namespace flopwatt::engine {

struct DevicesRequest {
  std::string name;    ///< one device, or a family; empty: all
  std::string derive;  ///< "arch=ampere,units=108,clock-mhz=1410": a device from arithmetic instead
};

/// Errors: Errc::usage for an unknown or ambiguous name and for a derivation that the table of rates does not allow.
[[nodiscard]] Result<answers::Devices> devices(const Facts& facts, const DevicesRequest& request);

}  // namespace flopwatt::engine
