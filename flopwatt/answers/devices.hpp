#pragma once

#include <string>
#include <vector>

#include "flopwatt/device/device.hpp"

namespace flopwatt::answers {

/// `flopwatt devices`: the catalogue, or one device of it or of arithmetic.
struct Devices {
  std::vector<device::Device> devices;
  bool detailed = false;  ///< one device was asked for: every figure with its source
  std::string asked;      ///< the name or the --derive request; empty: all
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
