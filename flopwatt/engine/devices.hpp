#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/devices.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/facts.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::engine {

struct DevicesRequest {
  std::string name;    ///< one device, or a family; empty: all
  std::string derive;  ///< "arch=ampere,units=108,clock-mhz=1410": a device from arithmetic instead
};

/// Errors: Errc::usage for an unknown or ambiguous name and for a derivation that the table of rates does not allow.
[[nodiscard]] Result<answers::Devices> devices(const Facts& facts, const DevicesRequest& request);

struct MeasureRequest {
  std::string name;                      ///< compare with this device of the catalogue; empty: by the reported name
  std::string place = "cpu";             ///< --device: "cpu", "cuda:0", "hip:1"
  std::vector<units::Precision> dtypes;  ///< empty: every one that the place may have
  units::Duration spell = 0.5 * units::second;  ///< for each size of product, and for the copy
  std::optional<std::int64_t> threads;
  /// Told of each dtype before it is measured; may be empty.
  std::function<void(units::Precision)> progress;
};

/// Measures the device of this machine, each dtype in a child process.  Errors: Errc::usage for a place or a device
/// that does not exist, Errc::unavailable where there is no LibTorch, or nothing could be measured.
[[nodiscard]] Result<answers::Devices> measure_device(const Facts& facts, const MeasureRequest& request);

}  // namespace flopwatt::engine
