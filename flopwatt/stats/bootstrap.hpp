#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/stats/sample.hpp"

/// Bootstrap over rows with percentile intervals (Efron and Tibshirani 1993, chapter 13).
///
/// Resample b draws n rows with replacement from one Random(seed), resample after resample, so that the lists of drawn
/// rows depend on (n, seed) alone: every statistic asked for with the same seed sees the same lists, whichever of the
/// functions below computes it, and more resamples only add lists.  The interval at a level is the type-7 quantile at
/// (1 - level) / 2 and (1 + level) / 2 of the statistic over the resamples.
///
/// A statistic may not exist on a resample (all drawn rows equal).  Such resamples are left out and counted; where more
/// than half are left out the result is Errc::bad_data.
namespace flopwatt::stats {

inline constexpr std::size_t kDefaultResamples = 2000;
inline constexpr double kDefaultBootstrapLevel = 0.95;

/// A statistic on the sample itself and over the resamples.
struct BootstrapEstimate {
  double estimate = 0;        ///< on the sample
  Interval interval;          ///< percentile interval
  double standard_error = 0;  ///< standard deviation over the resamples
  std::size_t undefined = 0;  ///< resamples on which the statistic does not exist

  /// (hi - lo) / 2, the number printed after ±.
  [[nodiscard]] double half_width() const { return (interval.hi - interval.lo) / 2; }
};

/// Computes statistics of the drawn `rows` (indices, repeated as drawn) into `out`, an empty optional where one does
/// not exist.
using Statistic = std::function<void(std::span<const std::uint32_t> rows, std::span<std::optional<double>> out)>;

/// Any `statistics` figures of `n` rows at once.  The sample itself is passed as rows 0 … n - 1.
[[nodiscard]] Result<std::vector<BootstrapEstimate>> bootstrap(std::size_t n, std::size_t statistics,
                                                               std::size_t resamples, std::uint64_t seed,
                                                               const Statistic& statistic,
                                                               double level = kDefaultBootstrapLevel);

/// A line refitted on every resample; R² and MAPE are those of the refitted line on the resample itself.
struct SimpleOlsBootstrap {
  BootstrapEstimate slope;
  BootstrapEstimate intercept;
  std::optional<BootstrapEstimate> r2;        ///< absent where y does not vary
  std::optional<BootstrapEstimate> mape_pct;  ///< absent where some y is zero
};
[[nodiscard]] Result<SimpleOlsBootstrap> bootstrap_simple_ols(std::span<const double> x, std::span<const double> y,
                                                              std::size_t resamples, std::uint64_t seed,
                                                              double level = kDefaultBootstrapLevel);

/// A model that is several independent lines, one per group of rows.
struct GroupedOlsBootstrap {
  std::vector<SimpleOlsBootstrap> groups;     ///< one per group
  std::optional<BootstrapEstimate> mape_pct;  ///< of all rows together; absent where some y is zero
  std::optional<BootstrapEstimate> r2;        ///< 1 - Σ sse / Σ (y - ȳ)² of all rows; absent where y does not vary
  std::optional<BootstrapEstimate> r2_mean;   ///< mean over the groups of their own R²; absent where a group lacks it
};
/// `group` holds 0 … groups - 1 per row.  Rows are drawn within their group, so that each keeps its size; every group
/// needs three rows and a predictor that varies.
[[nodiscard]] Result<GroupedOlsBootstrap> bootstrap_grouped_ols(std::span<const double> x, std::span<const double> y,
                                                                std::span<const std::size_t> group, std::size_t groups,
                                                                std::size_t resamples, std::uint64_t seed,
                                                                double level = kDefaultBootstrapLevel);

}  // namespace flopwatt::stats
