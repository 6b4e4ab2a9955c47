#include "flopwatt/stats/ols.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/stats/students_t.hpp"

namespace flopwatt::stats {
namespace {

// Rounding alone leaves a spread of about n (ε |x|)² in a column that does not vary.
bool varies(double sum_of_squares, double center, double n) {
  const double noise = 8 * std::numeric_limits<double>::epsilon() * std::abs(center);
  return sum_of_squares > n * noise * noise;
}

tl::unexpected<Error> constant_predictor(std::size_t column, double value) {
  return fail(Errc::bad_data, fmt::format("predictor {} is {} in every row, a slope cannot be fitted", column, value),
              "", "leave the predictor out or add rows where it differs");
}

tl::unexpected<Error> too_few_rows(std::size_t rows, std::size_t parameters) {
  return fail(Errc::bad_data,
              fmt::format("{} too few to fit {} and their error", base::counted(rows, "row is", "rows are"),
                          base::counted(parameters, "parameter")),
              "", fmt::format("give at least {} rows", parameters + 1));
}

Result<Interval> around(double center, double factor_of_sd, double sd, std::size_t dof, double level) {
  FLOPWATT_TRY(const double t, students_t_factor(level, static_cast<double>(dof)));
  const double half = t * sd * factor_of_sd;
  return Interval{center - half, center + half};
}

// Fills in all that follows from the slope, the intercept and the sum of squared residuals.
void set_errors(SimpleFit& fit, double sse, const PairMoments& moments) {
  const double n = static_cast<double>(fit.n);
  const double variance = sse / (n - 2);
  fit.sse = sse;
  if (varies(moments.syy, moments.y_mean, n)) fit.r2 = 1 - sse / moments.syy;
  fit.residual_sd = std::sqrt(variance);
  fit.slope_se = std::sqrt(variance / fit.sxx);
  fit.intercept_se = std::sqrt(variance * (1 / n + fit.x_mean * fit.x_mean / fit.sxx));
  fit.intercept_slope_covariance = -variance * fit.x_mean / fit.sxx;
}

double leverage(const SimpleFit& fit, double x) {
  const double distance = x - fit.x_mean;
  return 1 / static_cast<double>(fit.n) + distance * distance / fit.sxx;
}

}  // namespace

void PairMoments::add(double x, double y) {
  ++n;
  const double count = static_cast<double>(n);
  const double dx = x - x_mean;
  const double dy = y - y_mean;
  x_mean += dx / count;
  y_mean += dy / count;
  sxx += dx * (x - x_mean);
  sxy += dx * (y - y_mean);
  syy += dy * (y - y_mean);
}

void PairMoments::merge(const PairMoments& other) {
  if (other.n == 0) return;
  const double a = static_cast<double>(n);
  const double b = static_cast<double>(other.n);
  const double dx = other.x_mean - x_mean;
  const double dy = other.y_mean - y_mean;
  const double weight = a * b / (a + b);
  n += other.n;
  x_mean += dx * b / (a + b);
  y_mean += dy * b / (a + b);
  sxx += other.sxx + dx * dx * weight;
  sxy += other.sxy + dx * dy * weight;
  syy += other.syy + dy * dy * weight;
}

PairMoments PairMoments::of(std::span<const double> x, std::span<const double> y) {
  PairMoments moments;
  moments.n = x.size();
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    moments.x_mean += x[i];
    moments.y_mean += y[i];
  }
  moments.x_mean /= n;
  moments.y_mean /= n;
  double x_rest = 0;
  double y_rest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - moments.x_mean;
    const double dy = y[i] - moments.y_mean;
    x_rest += dx;
    y_rest += dy;
    moments.sxx += dx * dx;
    moments.sxy += dx * dy;
    moments.syy += dy * dy;
  }
  // The means are rounded; these terms take back what that did to the sums.
  moments.sxx -= x_rest * x_rest / n;
  moments.sxy -= x_rest * y_rest / n;
  moments.syy -= y_rest * y_rest / n;
  moments.x_mean += x_rest / n;
  moments.y_mean += y_rest / n;
  return moments;
}

Result<SimpleFit> fit_simple_ols(const PairMoments& moments) {
  if (moments.n < 3) return too_few_rows(moments.n, 2);
  if (!std::isfinite(moments.sxx) || !std::isfinite(moments.sxy) || !std::isfinite(moments.syy)) {
    return fail(Errc::bad_data, "the sums of squares are not finite", "", "check the values for infinities and size");
  }
  const double n = static_cast<double>(moments.n);
  if (!varies(moments.sxx, moments.x_mean, n)) return constant_predictor(0, moments.x_mean);

  SimpleFit fit;
  fit.n = moments.n;
  fit.x_mean = moments.x_mean;
  fit.sxx = moments.sxx;
  fit.slope = moments.sxy / moments.sxx;
  fit.intercept = moments.y_mean - fit.slope * moments.x_mean;
  set_errors(fit, std::max(0.0, moments.syy - fit.slope * moments.sxy), moments);
  return fit;
}

Result<SimpleFit> fit_simple_ols(std::span<const double> x, std::span<const double> y) {
  FLOPWATT_TRY_VOID(require_same_length(x.size(), "x", y.size(), "y"));
  FLOPWATT_TRY_VOID(require_finite(x, "x"));
  FLOPWATT_TRY_VOID(require_finite(y, "y"));
  if (x.size() < 3) return too_few_rows(x.size(), 2);
  const PairMoments moments = PairMoments::of(x, y);
  FLOPWATT_TRY(SimpleFit fit, fit_simple_ols(moments));
  // syy - slope sxy loses every digit on a perfect line; the residuals themselves do not.
  double sse = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double residual = (y[i] - moments.y_mean) - fit.slope * (x[i] - moments.x_mean);
    sse += residual * residual;
  }
  set_errors(fit, sse, moments);
  return fit;
}

Result<Interval> prediction_interval(const SimpleFit& fit, double x, double level) {
  return around(fit.predict(x), std::sqrt(1 + leverage(fit, x)), fit.residual_sd, fit.degrees_of_freedom(), level);
}

Result<Interval> mean_interval(const SimpleFit& fit, double x, double level) {
  return around(fit.predict(x), std::sqrt(leverage(fit, x)), fit.residual_sd, fit.degrees_of_freedom(), level);
}

Result<Interval> coefficient_interval(double estimate, double standard_error, std::size_t degrees_of_freedom,
                                      double level) {
  return around(estimate, 1, standard_error, degrees_of_freedom, level);
}

double LinearFit::predict(std::span<const double> row) const {
  double y = coefficients[0];
  for (std::size_t j = 0; j < row.size(); ++j) y += coefficients[j + 1] * row[j];
  return y;
}

Result<LinearFit> fit_ols(std::span<const double> predictors, std::size_t columns, std::span<const double> y) {
  const std::size_t rows = y.size();
  if (columns == 0) return fail(Errc::bad_data, "no predictors", "", "use the mean where there is nothing to fit");
  FLOPWATT_TRY_VOID(require_same_length(predictors.size(), "predictors", rows * columns, "rows x columns"));
  FLOPWATT_TRY_VOID(require_finite(predictors, "predictors"));
  FLOPWATT_TRY_VOID(require_finite(y, "y"));
  if (rows <= columns + 1) return too_few_rows(rows, columns + 1);

  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto n = static_cast<Eigen::Index>(rows);
  const auto k = static_cast<Eigen::Index>(columns);
  Eigen::MatrixXd centred = Eigen::Map<const RowMajor>(predictors.data(), n, k);
  Eigen::VectorXd means = centred.colwise().mean();
  centred.rowwise() -= means.transpose();
  const Eigen::VectorXd rest = centred.colwise().mean();
  means += rest;
  centred.rowwise() -= rest.transpose();
  const Eigen::VectorXd norms = centred.colwise().norm();
  for (Eigen::Index j = 0; j < k; ++j) {
    if (!std::isfinite(norms[j])) return fail(Errc::bad_data, fmt::format("predictor {} is too large to square", j));
    if (!varies(norms[j] * norms[j], means[j], static_cast<double>(n))) {
      return constant_predictor(static_cast<std::size_t>(j), means[j]);
    }
    centred.col(j) /= norms[j];
  }
  const Eigen::Map<const Eigen::VectorXd> response(y.data(), n);
  double y_mean = response.mean();
  y_mean += (response.array() - y_mean).mean();
  const Eigen::VectorXd centred_y = response.array() - y_mean;

  Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(centred);
  qr.setThreshold(1e-10);
  if (qr.rank() < k) {
    return fail(
        Errc::bad_data,
        fmt::format("predictor {} is a linear combination of the others", qr.colsPermutation().indices()[qr.rank()]),
        "", "leave it out");
  }
  const Eigen::VectorXd scaled = qr.solve(centred_y);
  const Eigen::VectorXd residuals = centred_y - centred * scaled;
  const Eigen::VectorXd slopes = scaled.cwiseQuotient(norms);

  // (XᵀX)⁻¹ = P R⁻¹ R⁻ᵀ Pᵀ of the centred and scaled columns.
  Eigen::MatrixXd inverse_r = Eigen::MatrixXd::Identity(k, k);
  qr.matrixR().topLeftCorner(k, k).template triangularView<Eigen::Upper>().solveInPlace(inverse_r);
  const Eigen::MatrixXd root = norms.cwiseInverse().asDiagonal() * (qr.colsPermutation() * inverse_r);
  const Eigen::MatrixXd inverse = root * root.transpose();

  LinearFit fit;
  fit.n = rows;
  fit.sse = residuals.squaredNorm();
  const double syy = centred_y.squaredNorm();
  if (varies(syy, y_mean, static_cast<double>(n))) fit.r2 = 1 - fit.sse / syy;
  const double variance = fit.sse / static_cast<double>(n - k - 1);
  fit.residual_sd = std::sqrt(variance);

  Eigen::MatrixXd covariance(k + 1, k + 1);
  const Eigen::VectorXd weighted = inverse * means;
  covariance(0, 0) = variance * (1 / static_cast<double>(n) + means.dot(weighted));
  covariance.block(1, 0, k, 1) = -variance * weighted;
  covariance.block(0, 1, 1, k) = -variance * weighted.transpose();
  covariance.block(1, 1, k, k) = variance * inverse;

  fit.coefficients.push_back(y_mean - slopes.dot(means));
  fit.coefficients.insert(fit.coefficients.end(), slopes.begin(), slopes.end());
  fit.predictor_means.assign(means.begin(), means.end());
  for (Eigen::Index i = 0; i <= k; ++i) {
    fit.standard_errors.push_back(std::sqrt(covariance(i, i)));
    for (Eigen::Index j = 0; j <= k; ++j) fit.covariance.push_back(covariance(i, j));
  }
  for (Eigen::Index i = 1; i <= k; ++i) {
    for (Eigen::Index j = 1; j <= k; ++j) fit.slope_covariance.push_back(covariance(i, j));
  }
  return fit;
}

Result<Interval> prediction_interval(const LinearFit& fit, std::span<const double> row, double level) {
  const std::size_t k = fit.predictors();
  FLOPWATT_TRY_VOID(require_same_length(row.size(), "row", k, "predictors"));
  // About the means of the predictors the intercept and the slopes are uncorrelated, so no digits cancel.
  const double variance = fit.residual_sd * fit.residual_sd;
  double of_the_mean = variance / static_cast<double>(fit.n);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) {
      of_the_mean +=
          (row[i] - fit.predictor_means[i]) * fit.slope_covariance[i * k + j] * (row[j] - fit.predictor_means[j]);
    }
  }
  return around(fit.predict(row), 1, std::sqrt(variance + of_the_mean), fit.degrees_of_freedom(), level);
}

}  // namespace flopwatt::stats
