#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/device/device.hpp"

namespace flopwatt::answers {

/// What products in one dtype reach here, and a copy beside them.
struct MeasuredCeiling {
  units::Precision dtype = units::Precision::float32;
  std::optional<units::FlopRate> flops;  ///< of the fastest square matrix product
  std::int64_t matrix_size = 0;
  std::optional<units::Bandwidth> bandwidth;  ///< of a copy, bytes read and written
  std::int64_t copy_bytes = 0;
  std::string reason;  ///< why there is no figure: "unsupported: …"; empty where there is one
  /// What the catalogue's device says of this dtype; absent: no such device, or no such peak.
  std::optional<device::Peak> datasheet;
};

/// `flopwatt devices --measure`: the device of this machine.
struct MeasuredDevice {
  std::string place;    ///< "cpu", "cuda:0"
  std::string name;     ///< as the library reports it
  std::string library;  ///< "LibTorch 1.13.0"
  std::int64_t threads = 1;
  std::vector<MeasuredCeiling> ceilings;
};

/// `flopwatt devices`: the catalogue, or one device of it or of arithmetic.
struct Devices {
  std::vector<device::Device> devices;
  bool detailed = false;                   ///< one device was asked for: every figure with its source
  std::string asked;                       ///< the name or the --derive request; empty: all
  std::optional<MeasuredDevice> measured;  ///< its catalogue entry, if it has one, is the only one in `devices`
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
