#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::fit {

/// What the catalogue knows of the device that the data name.
struct DeviceFacts {
  std::string name;     ///< of the catalogue; as the data say it where it is not there
  bool family = false;  ///< the name fits several variants; figures in which they differ are absent
  std::optional<device::Device> device;
  std::optional<double> limit_watts;
  std::optional<double> bytes_per_second;  ///< of the memory; the mean of the variants where they differ
  std::vector<std::string> notes;
};
[[nodiscard]] DeviceFacts device_facts(const device::Catalogue& catalogue, std::string_view label);

/// The catalogue's default peak of a dtype.  Errors: those of device::peak.
[[nodiscard]] Result<power::Peak> catalogue_peak(const DeviceFacts& facts, units::Precision dtype);

/// The smallest peak of the paths that rows of this dtype can run on and did not exceed: float32 on the vector units,
/// else on tensor cores as tf32 or float32; every other dtype dense on the tensor path.  `achieved` is the fastest row.
/// Errc::bad_data where every known path is slower than that.
[[nodiscard]] Result<power::Peak> executed_peak(const DeviceFacts& facts, units::Precision dtype,
                                                units::FlopRate achieved);

/// Adds to a recorded peak which path of the catalogue has it.
void explain(power::Peak& peak, const DeviceFacts& facts);

}  // namespace flopwatt::fit
