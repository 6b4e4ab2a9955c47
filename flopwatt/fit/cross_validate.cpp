#include "flopwatt/fit/cross_validate.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "flopwatt/fit/lines.hpp"
#include "flopwatt/stats/conformal.hpp"
#include "flopwatt/stats/cross_validation.hpp"
#include "flopwatt/stats/error_metrics.hpp"

namespace flopwatt::fit {
namespace {

using power::Form;

std::string label(const Sample& sample, Axis axis) {
  switch (axis) {
    case Axis::model:
      return sample.observation->model;
    case Axis::batch:
      return fmt::format("{}", sample.batch);
    case Axis::dtype:
      return std::string{units::name(sample.dtype)};
  }
  return {};
}

/// The folds of the rows, and what each leaves out; none where there is only one group.
struct Folds {
  std::vector<std::string> groups;
  std::vector<stats::Fold> folds;
};
Result<Folds> folds(std::span<const Sample* const> samples, Axis axis) {
  std::vector<std::string> labels;
  for (const Sample* sample : samples) labels.push_back(label(*sample, axis));
  stats::GroupIndex index = stats::index_groups(labels);
  Folds out;
  if (index.names.size() < 2) return out;
  FLOPWATT_TRY(out.folds, stats::leave_one_group_out(index.of_row));
  out.groups = std::move(index.names);
  return out;
}

double at(const power::Line& line, const Sample& sample) {
  return line.intercept_watts + line.slope_watts_per_pct * sample.mfu_pct;
}

/// Mean over the dtypes that have a line for this sample by the form.
std::optional<double> mean_of_other_dtypes(const power::Lines& lines, Form form, const Sample& sample) {
  double sum = 0, n = 0;
  for (const units::Precision dtype : units::kPrecisions) {
    Sample other = sample;
    other.dtype = dtype;
    if (const power::Line* line = line_of(lines, form, other)) {
      sum += at(*line, sample);
      n += 1;
    }
  }
  if (n == 0) return std::nullopt;
  return sum / n;
}

double predict(const power::Lines& lines, Form form, const Sample& sample) {
  for (const Form attempt : {form, Form::dtype}) {
    if (attempt == Form::linear) break;
    if (const power::Line* line = line_of(lines, attempt, sample)) return at(*line, sample);
    if (lines.dtype.contains(sample.dtype)) continue;  // the dtype is known: only this batch is not
    if (const auto mean = mean_of_other_dtypes(lines, attempt, sample)) return *mean;
  }
  return at(*lines.linear, sample);
}

}  // namespace

Result<HeldOutRows> hold_out_lines(std::span<const Sample> samples, Form form, Axis axis) {
  std::vector<const Sample*> pointers;
  for (const Sample& sample : samples) pointers.push_back(&sample);
  FLOPWATT_TRY(Folds all, folds(pointers, axis));
  HeldOutRows out;
  for (const stats::Fold& fold : all.folds) {
    std::vector<Sample> train;
    for (const std::size_t row : fold.train) train.push_back(samples[row]);
    constexpr Form kForms[] = {Form::linear, Form::dtype, Form::cell};
    const auto fitted = fit_lines(train, kForms);
    if (!fitted)
      return fail(Errc::bad_data, fmt::format("without {}: {}", all.groups[fold.group], fitted.error().what));
    for (const std::size_t row : fold.test) {
      const Sample& sample = samples[row];
      out.rows.push_back({.fold = fold.group,
                          .configuration = sample.configuration,
                          .batch = static_cast<double>(sample.batch),
                          .measured_watts = sample.power_watts,
                          .predicted_watts = predict(fitted->lines, form, sample),
                          .observation = sample.observation});
    }
  }
  out.groups = std::move(all.groups);
  return out;
}

Result<HeldOutRows> hold_out_saturating(std::span<const RateSample> samples, const SaturatingPrior& prior, Axis axis) {
  std::vector<const Sample*> pointers;
  for (const RateSample& row : samples) pointers.push_back(row.sample);
  FLOPWATT_TRY(Folds all, folds(pointers, axis));
  HeldOutRows out;
  for (const stats::Fold& fold : all.folds) {
    std::vector<RateSample> train;
    for (const std::size_t row : fold.train) train.push_back(samples[row]);
    const auto fitted = fit_saturating(train, prior);
    if (!fitted)
      return fail(Errc::bad_data, fmt::format("without {}: {}", all.groups[fold.group], fitted.error().what));
    for (const std::size_t row : fold.test) {
      const RateSample& sample = samples[row];
      out.rows.push_back({.fold = fold.group,
                          .configuration = sample.sample->configuration,
                          .batch = static_cast<double>(sample.sample->batch),
                          .measured_watts = sample.power_watts,
                          .predicted_watts = watts(fitted->model, sample, prior.peaks),
                          .observation = sample.sample->observation});
    }
  }
  out.groups = std::move(all.groups);
  return out;
}

Result<power::CrossValidation> errors(const HeldOutRows& held_out) {
  const auto figures = [&](std::optional<std::size_t> fold) -> Result<power::ErrorFigures> {
    std::vector<double> measured, predicted;
    for (const HeldOut& row : held_out.rows) {
      if (fold && row.fold != *fold) continue;
      measured.push_back(row.measured_watts);
      predicted.push_back(row.predicted_watts);
    }
    FLOPWATT_TRY(const stats::ErrorSummary summary, stats::summarize_errors(measured, predicted));
    return power::ErrorFigures{summary.n, summary.mape_pct, summary.p95_pct, summary.bias_pct};
  };
  power::CrossValidation out;
  FLOPWATT_TRY(out.pooled, figures(std::nullopt));
  for (std::size_t fold = 0; fold < held_out.groups.size(); ++fold) {
    FLOPWATT_TRY(out.folds[held_out.groups[fold]], figures(fold));
  }
  return out;
}

std::vector<std::vector<double>> conformal_scores(const HeldOutRows& held_out) {
  std::map<std::size_t, std::size_t> place;  // of a configuration
  std::vector<std::vector<double>> out;
  for (const HeldOut& row : held_out.rows) {
    const auto [entry, fresh] = place.try_emplace(row.configuration, out.size());
    if (fresh) out.emplace_back();
    // Four decimals of a percent are finer than any sensor, and keep the file short.
    const double score = 100 * std::abs(row.measured_watts / row.predicted_watts - 1);
    out[entry->second].push_back(std::round(score * 1e4) / 1e4);
  }
  return out;
}

Result<Coverage> coverage(const HeldOutRows& held_out, double level) {
  Coverage out;
  double covered = 0;
  for (std::size_t fold = 0; fold < held_out.groups.size(); ++fold) {
    std::vector<double> scores;
    std::vector<std::size_t> configuration;
    for (const HeldOut& row : held_out.rows) {
      if (row.fold == fold) continue;
      scores.push_back(std::abs(row.measured_watts / row.predicted_watts - 1));
      configuration.push_back(row.configuration);
    }
    FLOPWATT_TRY(const std::optional<double> bound, stats::conformal_bound(scores, configuration, level));
    double inside = 0, rows = 0;
    for (const HeldOut& row : held_out.rows) {
      if (row.fold != fold) continue;
      rows += 1;
      if (!bound || std::abs(row.measured_watts / row.predicted_watts - 1) <= *bound) inside += 1;
    }
    out.folds[held_out.groups[fold]] = inside / rows;
    covered += inside;
  }
  if (!held_out.rows.empty()) out.pooled = covered / static_cast<double>(held_out.rows.size());
  return out;
}

}  // namespace flopwatt::fit
