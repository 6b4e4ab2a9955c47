#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"

namespace flopwatt::power {

/// What calibrated devices have in common, free of units: for devices that nobody measured.  Geometric means over the
/// devices of their saturating parameters.
struct DevicePrior {
  double idle_over_limit = 0;
  double floor_over_idle = 0;     ///< P0 over idle power
  double compute_over_limit = 0;  ///< a_p · F_peak,p over the limit: what the arithmetic alone would draw at its peak
  double memory_over_limit = 0;   ///< c · s_p · B_peak over the limit
  double activation_factor = 0;   ///< κ
  double cap_over_limit = 0;
  double softness_over_limit = 0;
  double traffic_per_mbu_byte = 0;
  std::vector<std::string> devices;  ///< that it was made from
  /// |measured − predicted| in percent of the prediction, on each device with the prior of the others: percentiles 1,
  /// 2, … 100 (type 7) of the rows of all devices, each device weighing the same.
  std::vector<double> error_percentiles_pct;
};

/// Reads and writes data/calibrations/prior.json.  Errc::bad_data naming the key.
[[nodiscard]] Result<DevicePrior> read_prior(std::string_view text, std::string_view where);
[[nodiscard]] std::string write_prior(const DevicePrior& prior);

/// The one that ships with flopwatt.  An error here is a fault of the build.
[[nodiscard]] Result<DevicePrior> shipped_prior();

}  // namespace flopwatt::power
