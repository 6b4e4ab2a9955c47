#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/stats/sample.hpp"

/// Ordinary least squares with an intercept.  Formulas: Draper and Smith, "Applied Regression Analysis", 3rd ed.,
/// chapters 1 to 5.  Errc::bad_data where the fit does not exist: no more rows than parameters, a predictor that does
/// not vary, predictors that are linear combinations of each other, values that are not finite.
namespace flopwatt::stats {

/// Centred sums of a sample of pairs, all that a straight line needs.  Pairs are added one by one (Welford's update)
/// and samples are merged without losing digits to a large mean.
struct PairMoments {
  std::size_t n = 0;
  double x_mean = 0;
  double y_mean = 0;
  double sxx = 0;  ///< Σ (x - x̄)²
  double sxy = 0;  ///< Σ (x - x̄)(y - ȳ)
  double syy = 0;  ///< Σ (y - ȳ)²

  void add(double x, double y);
  void merge(const PairMoments& other);
  /// Of a whole sample at once, in two passes.  The caller guarantees equal lengths.
  [[nodiscard]] static PairMoments of(std::span<const double> x, std::span<const double> y);
};

/// A fitted line y = intercept + slope x.
struct SimpleFit {
  std::size_t n = 0;
  double intercept = 0;
  double slope = 0;
  double intercept_se = 0;
  double slope_se = 0;
  double intercept_slope_covariance = 0;
  double sse = 0;            ///< Σ residual²
  double residual_sd = 0;    ///< sqrt(sse / (n - 2))
  std::optional<double> r2;  ///< 1 - sse / syy; absent where y does not vary
  double x_mean = 0;
  double sxx = 0;

  [[nodiscard]] double predict(double x) const { return intercept + slope * x; }
  [[nodiscard]] std::size_t degrees_of_freedom() const { return n - 2; }
};

[[nodiscard]] Result<SimpleFit> fit_simple_ols(std::span<const double> x, std::span<const double> y);
[[nodiscard]] Result<SimpleFit> fit_simple_ols(const PairMoments& moments);

/// Where one new observation at `x` falls with probability `level`, residuals being normal:
/// ŷ ± t s sqrt(1 + 1/n + (x - x̄)²/sxx).
[[nodiscard]] Result<Interval> prediction_interval(const SimpleFit& fit, double x, double level);
/// Where the mean of the response at `x` lies: ŷ ± t s sqrt(1/n + (x - x̄)²/sxx).
[[nodiscard]] Result<Interval> mean_interval(const SimpleFit& fit, double x, double level);

/// estimate ± t · standard_error, for any coefficient of a fit.
[[nodiscard]] Result<Interval> coefficient_interval(double estimate, double standard_error,
                                                    std::size_t degrees_of_freedom, double level);

/// A fitted plane y = b0 + b1 x1 + … + bk xk.
struct LinearFit {
  std::size_t n = 0;
  std::vector<double> coefficients;     ///< k + 1, the intercept first
  std::vector<double> standard_errors;  ///< k + 1, in the same order
  std::vector<double> covariance;       ///< (k + 1) × (k + 1) row-major, of the coefficients
  double sse = 0;
  double residual_sd = 0;  ///< sqrt(sse / (n - k - 1))
  std::optional<double> r2;
  std::vector<double> predictor_means;   ///< k
  std::vector<double> slope_covariance;  ///< k × k row-major: the covariance without the intercept

  [[nodiscard]] std::size_t predictors() const { return predictor_means.size(); }
  [[nodiscard]] std::size_t degrees_of_freedom() const { return n - coefficients.size(); }
  /// `row` holds the k predictors.
  [[nodiscard]] double predict(std::span<const double> row) const;
};

/// `predictors` is row-major, y.size() rows of `columns` values, without a column for the intercept.  Columns are
/// centred and scaled before a rank-revealing QR; a column is called collinear where what is left of it after the
/// others is below 1e-10 of its size.
[[nodiscard]] Result<LinearFit> fit_ols(std::span<const double> predictors, std::size_t columns,
                                        std::span<const double> y);

[[nodiscard]] Result<Interval> prediction_interval(const LinearFit& fit, std::span<const double> row, double level);

}  // namespace flopwatt::stats
