#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/power/predict.hpp"

/// What predictions with and without a calibration share.

namespace flopwatt::power {

/// Errc::usage for rates, sizes and levels that make no sense.
[[nodiscard]] Result<void> check(const Query& query);

/// The traffic of a query, from its MBU bytes if need be; absent where it has no byte rate.
[[nodiscard]] std::optional<Traffic> traffic_of(const Query& query, std::optional<double> traffic_per_mbu_byte);
/// What is to be said where the traffic came from MBU bytes.
[[nodiscard]] std::string traffic_note(double traffic_per_mbu_byte);

/// power ± the split-conformal bound of the scores (percent of the predicted power) at the prediction's level.
/// Errc::usage where there are too few configurations for the level.
[[nodiscard]] Result<void> conformal_interval(std::span<const std::vector<double>> scores_pct, Prediction& prediction);

/// Cuts the interval at zero watts.  Errc::usage where rates so large were asked about that the power is not finite,
/// Errc::bad_data where it is negative.
[[nodiscard]] Result<void> settle(Prediction& prediction);

/// Flags a value above the limit.
void limit_flag(const std::optional<units::Power>& limit, Prediction& prediction);

}  // namespace flopwatt::power
