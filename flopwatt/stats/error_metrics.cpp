#include "flopwatt/stats/error_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flopwatt/stats/sample.hpp"

namespace flopwatt::stats {
namespace {

Result<void> require_sample(std::span<const double> values, std::size_t least) {
  if (values.size() < least) {
    return fail(Errc::bad_data, fmt::format("a sample of {} is too small, {} needed", values.size(), least));
  }
  return require_finite(values, "value");
}

double mean_of_checked(std::span<const double> values) {
  const double n = static_cast<double>(values.size());
  // Dividing first keeps a sum of huge values finite.
  double first = 0;
  for (const double value : values) first += value / n;
  double correction = 0;
  for (const double value : values) correction += (value - first) / n;
  return first + correction;
}

}  // namespace

Result<double> mean(std::span<const double> values) {
  FLOPWATT_TRY_VOID(require_sample(values, 1));
  return mean_of_checked(values);
}

Result<double> sd(std::span<const double> values) {
  FLOPWATT_TRY_VOID(require_sample(values, 2));
  const double center = mean_of_checked(values);
  double squares = 0;
  for (const double value : values) squares += (value - center) * (value - center);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double quantile_of_sorted(std::span<const double> ascending, double probability) {
  const double h = static_cast<double>(ascending.size() - 1) * probability;
  const auto below = static_cast<std::size_t>(h);
  if (below + 1 >= ascending.size()) return ascending.back();
  return std::lerp(ascending[below], ascending[below + 1], h - static_cast<double>(below));
}

Result<double> quantile(std::span<const double> values, double probability) {
  if (!(probability >= 0 && probability <= 1)) {
    return fail(Errc::usage, fmt::format("probability {} is not in [0, 1]", probability));
  }
  FLOPWATT_TRY_VOID(require_sample(values, 1));
  std::vector<double> ascending(values.begin(), values.end());
  std::sort(ascending.begin(), ascending.end());
  return quantile_of_sorted(ascending, probability);
}

Result<double> median(std::span<const double> values) { return quantile(values, 0.5); }

Result<std::vector<double>> percentage_errors(std::span<const double> measured, std::span<const double> predicted) {
  FLOPWATT_TRY_VOID(require_same_length(measured.size(), "measured", predicted.size(), "predicted"));
  FLOPWATT_TRY_VOID(require_sample(measured, 1));
  FLOPWATT_TRY_VOID(require_finite(predicted, "predicted"));
  std::vector<double> errors(measured.size());
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i] == 0) {
      return fail(Errc::bad_data, fmt::format("measured[{}] is zero, a percentage of it does not exist", i), "",
                  "drop the row");
    }
    errors[i] = 100 * (predicted[i] - measured[i]) / std::abs(measured[i]);
  }
  FLOPWATT_TRY_VOID(require_finite(errors, "percentage error"));
  return errors;
}

Result<double> mape_pct(std::span<const double> measured, std::span<const double> predicted) {
  FLOPWATT_TRY(auto errors, percentage_errors(measured, predicted));
  for (double& error : errors) error = std::abs(error);
  return mean_of_checked(errors);
}

Result<double> bias_pct(std::span<const double> measured, std::span<const double> predicted) {
  FLOPWATT_TRY(const auto errors, percentage_errors(measured, predicted));
  return mean_of_checked(errors);
}

Result<ErrorSummary> summarize_errors(std::span<const double> measured, std::span<const double> predicted) {
  FLOPWATT_TRY(auto errors, percentage_errors(measured, predicted));
  ErrorSummary summary;
  summary.n = errors.size();
  summary.bias_pct = mean_of_checked(errors);
  for (double& error : errors) error = std::abs(error);
  summary.mape_pct = mean_of_checked(errors);
  std::sort(errors.begin(), errors.end());
  summary.median_pct = quantile_of_sorted(errors, 0.5);
  summary.p90_pct = quantile_of_sorted(errors, 0.90);
  summary.p95_pct = quantile_of_sorted(errors, 0.95);
  summary.max_pct = errors.back();
  return summary;
}

}  // namespace flopwatt::stats
