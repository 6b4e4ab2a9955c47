#include "flopwatt/fit/lines.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "flopwatt/stats/bootstrap.hpp"
#include "flopwatt/stats/error_metrics.hpp"
#include "flopwatt/stats/ols.hpp"

namespace flopwatt::fit {
namespace {

using power::Form;
using power::Line;

struct Columns {
  std::vector<double> mfu_pct, power_watts;
  void add(const Sample& sample) {
    mfu_pct.push_back(sample.mfu_pct);
    power_watts.push_back(sample.power_watts);
  }
};

Result<Line> fit_line(const Columns& columns) {
  FLOPWATT_TRY(const stats::SimpleFit fit, stats::fit_simple_ols(columns.mfu_pct, columns.power_watts));
  std::vector<double> predicted;
  predicted.reserve(columns.mfu_pct.size());
  for (const double x : columns.mfu_pct) predicted.push_back(fit.predict(x));
  FLOPWATT_TRY(const double mape, stats::mape_pct(columns.power_watts, predicted));
  return Line{.rows = fit.n,
              .intercept_watts = fit.intercept,
              .slope_watts_per_pct = fit.slope,
              .intercept_variance = fit.intercept_se * fit.intercept_se,
              .slope_variance = fit.slope_se * fit.slope_se,
              .covariance = fit.intercept_slope_covariance,
              .residual_sd_watts = fit.residual_sd,
              .mfu_mean_pct = fit.x_mean,
              .mfu_spread_pct2 = fit.sxx,
              .r2 = fit.r2,
              .mape_pct = mape};
}

template <class Key>
void fit_keyed(const std::map<Key, Columns>& groups, std::map<Key, Line>& lines, std::vector<std::string>& notes,
               std::string (*text)(const Key&)) {
  for (const auto& [key, columns] : groups) {
    if (auto line = fit_line(columns)) {
      lines.emplace(key, *line);
    } else {
      notes.push_back(fmt::format("no line for {}: {}", text(key), line.error().what));
    }
  }
}

Interval interval(const stats::BootstrapEstimate& estimate) { return {estimate.interval.lo, estimate.interval.hi}; }

std::optional<Interval> interval(const std::optional<stats::BootstrapEstimate>& estimate) {
  if (!estimate) return std::nullopt;
  return interval(*estimate);
}

}  // namespace

bool wants(std::span<const Form> forms, Form form) {
  for (const Form candidate : forms) {
    if (candidate == form) return true;
  }
  return false;
}

Result<LinesFit> fit_lines(std::span<const Sample> samples, std::span<const Form> forms) {
  Columns all;
  std::map<units::Precision, Columns> by_dtype;
  std::map<std::pair<units::Precision, std::int64_t>, Columns> by_cell;
  for (const Sample& sample : samples) {
    all.add(sample);
    by_dtype[sample.dtype].add(sample);
    by_cell[{sample.dtype, sample.batch}].add(sample);
  }
  LinesFit out;
  if (wants(forms, Form::linear)) {
    FLOPWATT_TRY(out.lines.linear, fit_line(all));
  }
  if (wants(forms, Form::dtype)) {
    fit_keyed(
        by_dtype, out.lines.dtype, out.notes,
        +[](const units::Precision& dtype) { return std::string{units::name(dtype)}; });
  }
  if (wants(forms, Form::cell)) {
    fit_keyed(
        by_cell, out.lines.cell, out.notes, +[](const std::pair<units::Precision, std::int64_t>& key) {
          return fmt::format("{} at batch {}", units::name(key.first), key.second);
        });
  }
  return out;
}

const Line* line_of(const power::Lines& lines, Form form, const Sample& sample) {
  if (form == Form::linear) return lines.linear ? &*lines.linear : nullptr;
  if (form == Form::dtype) {
    const auto found = lines.dtype.find(sample.dtype);
    return found == lines.dtype.end() ? nullptr : &found->second;
  }
  const auto found = lines.cell.find({sample.dtype, sample.batch});
  return found == lines.cell.end() ? nullptr : &found->second;
}

Result<FormSummary> summarize(std::span<const Sample> samples, const power::Lines& lines, Form form,
                              const FitOptions& options) {
  FormSummary summary;
  std::map<const Line*, std::size_t> number;  // of the lines in order of appearance
  std::vector<const Line*> in_order;
  std::vector<double> x, measured, predicted;
  std::vector<std::size_t> group;
  for (const Sample& sample : samples) {
    const Line* line = line_of(lines, form, sample);
    if (line == nullptr) continue;
    const auto [entry, fresh] = number.try_emplace(line, in_order.size());
    if (fresh) in_order.push_back(line);
    group.push_back(entry->second);
    x.push_back(sample.mfu_pct);
    measured.push_back(sample.power_watts);
    predicted.push_back(line->intercept_watts + line->slope_watts_per_pct * sample.mfu_pct);
  }
  summary.rows = measured.size();
  summary.cells = in_order.size();
  FLOPWATT_TRY(summary.mape_pct, stats::mape_pct(measured, predicted));
  double residual = 0, total = 0;
  FLOPWATT_TRY(const double mean_power, stats::mean(measured));
  for (std::size_t i = 0; i < measured.size(); ++i) {
    residual += (measured[i] - predicted[i]) * (measured[i] - predicted[i]);
    total += (measured[i] - mean_power) * (measured[i] - mean_power);
  }
  if (total > 0) summary.r2 = 1 - residual / total;
  std::vector<double> r2;
  for (const Line* line : in_order) {
    if (line->r2) r2.push_back(*line->r2);
  }
  if (!r2.empty()) {
    FLOPWATT_TRY(summary.r2_median, stats::median(r2));
    FLOPWATT_TRY(summary.r2_mean, stats::mean(r2));
  }
  if (r2.size() > 1) {
    FLOPWATT_TRY(summary.r2_sd, stats::sd(r2));
  }
  if (options.resamples > 0) {
    const auto resampled = stats::bootstrap_grouped_ols(x, measured, group, in_order.size(), options.resamples,
                                                        options.seed, options.level);
    if (resampled) summary.mape_pct_ci = interval(resampled->mape_pct);
  }
  return summary;
}

Result<Predictor> fit_predictor(std::span<const double> percent, std::span<const double> power_watts,
                                const FitOptions& options) {
  Columns columns{{percent.begin(), percent.end()}, {power_watts.begin(), power_watts.end()}};
  FLOPWATT_TRY(const Line line, fit_line(columns));
  Predictor predictor{.rows = line.rows,
                      .r2 = line.r2,
                      .mape_pct = line.mape_pct,
                      .slope_watts_per_pct = line.slope_watts_per_pct,
                      .intercept_watts = line.intercept_watts,
                      .r2_ci = {},
                      .mape_pct_ci = {},
                      .slope_ci = {},
                      .intercept_ci = {}};
  if (options.resamples > 0) {
    FLOPWATT_TRY(const auto resampled,
                 stats::bootstrap_simple_ols(percent, power_watts, options.resamples, options.seed, options.level));
    predictor.r2_ci = interval(resampled.r2);
    predictor.mape_pct_ci = interval(resampled.mape_pct);
    predictor.slope_ci = interval(resampled.slope);
    predictor.intercept_ci = interval(resampled.intercept);
  }
  return predictor;
}

}  // namespace flopwatt::fit
