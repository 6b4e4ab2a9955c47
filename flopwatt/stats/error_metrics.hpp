#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "flopwatt/base/result.hpp"

/// Summaries of a sample and of prediction errors.  Every function returns Errc::bad_data for an empty sample (or one
/// too small), for values that are not finite, and for samples of different length; percentages also where a measured
/// value is zero, since a relative error does not exist there.
namespace flopwatt::stats {

/// Arithmetic mean, taken in two passes (the second adds the mean of the residuals of the first).
[[nodiscard]] Result<double> mean(std::span<const double> values);

/// Standard deviation of a sample, divisor n - 1.  Needs two values.
[[nodiscard]] Result<double> sd(std::span<const double> values);

/// The quantile at `probability` in [0, 1] by linear interpolation between order statistics: with h = (n - 1) p it is
/// x(⌊h⌋) + (h - ⌊h⌋)(x(⌊h⌋ + 1) - x(⌊h⌋)), zero-based.  This is type 7 of Hyndman and Fan (1996), the default of R,
/// NumPy and spreadsheets.  A probability outside [0, 1] is Errc::usage.
[[nodiscard]] Result<double> quantile(std::span<const double> values, double probability);

/// The same of values that are already ascending and finite; nothing is copied or sorted.  The caller guarantees a
/// non-empty sample and 0 <= probability <= 1.
[[nodiscard]] double quantile_of_sorted(std::span<const double> ascending, double probability);

/// quantile at 0.5.
[[nodiscard]] Result<double> median(std::span<const double> values);

/// Signed errors in percent of the measured values: 100 (predicted - measured) / |measured|, positive where the
/// prediction is too high.
[[nodiscard]] Result<std::vector<double>> percentage_errors(std::span<const double> measured,
                                                            std::span<const double> predicted);

/// Mean absolute percentage error, in percent.
[[nodiscard]] Result<double> mape_pct(std::span<const double> measured, std::span<const double> predicted);

/// Mean signed percentage error, in percent; positive where predictions are too high.
[[nodiscard]] Result<double> bias_pct(std::span<const double> measured, std::span<const double> predicted);

/// What a table says about the errors of one model.  All in percent of the measured value.
struct ErrorSummary {
  std::size_t n = 0;
  double mape_pct = 0;    ///< mean of the absolute errors
  double median_pct = 0;  ///< median of the absolute errors
  double p90_pct = 0;     ///< 90th percentile (type 7) of the absolute errors
  double p95_pct = 0;     ///< 95th percentile (type 7) of the absolute errors
  double max_pct = 0;     ///< largest absolute error
  double bias_pct = 0;    ///< mean signed error
};
[[nodiscard]] Result<ErrorSummary> summarize_errors(std::span<const double> measured,
                                                    std::span<const double> predicted);

}  // namespace flopwatt::stats
