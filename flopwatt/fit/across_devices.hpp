#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/fit/rates.hpp"
#include "flopwatt/power/prior.hpp"

namespace flopwatt::fit {

/// A calibrated device, as the prior for uncalibrated ones needs it.
struct Measured {
  std::string name;
  double limit_watts = 0;
  std::optional<double> idle_watts;
  std::optional<double> bytes_per_second;  ///< of the memory
  std::map<units::Precision, units::FlopRate> peaks;
  power::Saturating model;
  std::vector<RateSample> rows;
};

/// What the devices have in common, and the errors on each of the prior made from the others.
/// Errc::bad_data for fewer than three devices, or where a figure that the prior needs is known of none.
[[nodiscard]] Result<power::DevicePrior> fit_prior(std::span<const Measured> devices);

}  // namespace flopwatt::fit
