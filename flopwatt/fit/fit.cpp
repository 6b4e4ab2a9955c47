#include "flopwatt/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flopwatt/base/version.hpp"
#include "flopwatt/fit/lines.hpp"
#include "flopwatt/fit/selection.hpp"
#include "flopwatt/stats/error_metrics.hpp"

namespace flopwatt::fit {
namespace {

using power::Form;

/// A utilisation that stands at exactly 0 or 1 in this share of the rows is a busy flag, not a measure.
constexpr double kBinaryShare = 0.9;

std::string reasons(const std::vector<power::DroppedRows>& dropped) {
  std::string out;
  for (const power::DroppedRows& entry : dropped) {
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", entry.rows, entry.reason);
  }
  return out;
}

Result<void> fit_utilization(std::span<const Sample> samples, const FitOptions& options, DeviceFit& out) {
  std::vector<double> percent, watts;
  std::size_t at_an_end = 0;
  for (const Sample& sample : samples) {
    const auto& utilization = sample.observation->gpu_utilization;
    if (!utilization) continue;
    percent.push_back(100 * *utilization);
    watts.push_back(sample.power_watts);
    if (*utilization == 0 || *utilization == 1) ++at_an_end;
  }
  if (percent.size() < 3) {
    out.utilization_absent = "not recorded";
    return {};
  }
  if (static_cast<double>(at_an_end) >= kBinaryShare * static_cast<double>(percent.size())) {
    out.utilization_absent =
        fmt::format("a busy flag, no measure: {} of {} rows stand at exactly 0 or 100 %", at_an_end, percent.size());
    return {};
  }
  auto predictor = fit_predictor(percent, watts, options);
  if (predictor) {
    out.utilization = *predictor;
  } else {
    out.utilization_absent = predictor.error().what;
  }
  return {};
}

double sum_of_squares(std::span<const Sample> samples, const power::Lines& lines, Form form, std::size_t& rows) {
  double sum = 0;
  rows = 0;
  for (const Sample& sample : samples) {
    const power::Line* line = line_of(lines, form, sample);
    if (line == nullptr) continue;
    const double residual = sample.power_watts - line->intercept_watts - line->slope_watts_per_pct * sample.mfu_pct;
    sum += residual * residual;
    ++rows;
  }
  return sum;
}

/// Mean over configurations of the standard deviation (n − 1) of power across their repeats; absent without repeats.
std::optional<double> repeat_noise_watts(std::span<const Sample> samples) {
  std::map<std::size_t, std::vector<double>> repeats;
  for (const Sample& sample : samples) repeats[sample.configuration].push_back(sample.power_watts);
  double sum = 0;
  std::size_t n = 0;
  for (const auto& [configuration, watts] : repeats) {
    const auto deviation = stats::sd(watts);  // needs two
    if (!deviation) continue;
    sum += *deviation;
    ++n;
  }
  if (n == 0) return std::nullopt;
  return sum / static_cast<double>(n);
}

Result<void> fit_residuals(std::span<const Sample> samples, DeviceFit& out) {
  double total = 0;
  for (const Sample& sample : samples) total += sample.power_watts;
  const double mean_power = total / static_cast<double>(samples.size());
  constexpr Form kForms[] = {Form::linear, Form::cell};
  FLOPWATT_TRY(const LinesFit fitted, fit_lines(samples, kForms));
  std::size_t rows = 0;
  const double of_device = sum_of_squares(samples, fitted.lines, Form::linear, rows);
  out.residual_sd_pct.device = 100 * std::sqrt(of_device / static_cast<double>(rows - 2)) / mean_power;
  const double of_cells = sum_of_squares(samples, fitted.lines, Form::cell, rows);
  if (rows > 2) out.residual_sd_pct.cell = 100 * std::sqrt(of_cells / static_cast<double>(rows - 2)) / mean_power;
  if (const auto noise = repeat_noise_watts(samples)) out.residual_sd_pct.repeat_noise = 100 * *noise / mean_power;
  return {};
}

std::vector<Regime> regimes(std::span<const Sample> samples) {
  std::map<std::int64_t, Regime> by_batch;
  for (const Sample& sample : samples) {
    Regime& regime = by_batch[sample.batch];
    regime.batch = sample.batch;
    ++regime.rows;
    regime.mfu_mean += sample.mfu_pct / 100;
    regime.power_watts_mean += sample.power_watts;
  }
  std::vector<Regime> out;
  for (auto& [batch, regime] : by_batch) {
    regime.mfu_mean /= static_cast<double>(regime.rows);
    regime.power_watts_mean /= static_cast<double>(regime.rows);
    out.push_back(regime);
  }
  return out;
}

void widen(std::optional<power::Range>& range, double value) {
  if (!range) {
    range = power::Range{value, value};
    return;
  }
  range->lo = std::min(range->lo, value);
  range->hi = std::max(range->hi, value);
}

power::InputRanges ranges(std::span<const Sample> samples, std::span<const power::Peak> peaks) {
  power::InputRanges out;
  std::map<units::Precision, std::optional<power::Range>> rates;
  for (const Sample& sample : samples) {
    for (const power::Peak& peak : peaks) {
      if (peak.dtype != sample.dtype) continue;
      widen(rates[sample.dtype], sample.mfu_pct / 100 * peak.rate.in(units::flop_per_second));
    }
    widen(out.batch, static_cast<double>(sample.batch));
    if (sample.observation->sequence) widen(out.sequence, *sample.observation->sequence);
    if (const auto tokens = dataset::tokens_per_step(*sample.observation)) {
      widen(out.tokens_per_step, tokens->in(units::token));
    }
  }
  for (const auto& [dtype, range] : rates) out.flops_per_second[dtype] = *range;
  return out;
}

Result<power::ErrorFigures> in_sample(std::span<const Sample> samples, const power::Lines& lines, Form form) {
  std::vector<double> measured, predicted;
  for (const Sample& sample : samples) {
    const power::Line* line = line_of(lines, form, sample);
    if (line == nullptr) continue;
    measured.push_back(sample.power_watts);
    predicted.push_back(line->intercept_watts + line->slope_watts_per_pct * sample.mfu_pct);
  }
  FLOPWATT_TRY(const stats::ErrorSummary errors, stats::summarize_errors(measured, predicted));
  return power::ErrorFigures{errors.n, errors.mape_pct, errors.p95_pct, errors.bias_pct};
}

std::string file_name(std::string_view path) {
  const auto slash = path.find_last_of("/\\");
  return std::string{slash == std::string_view::npos ? path : path.substr(slash + 1)};
}

Result<void> fill_calibration(const dataset::Dataset& dataset, const Selection& selection, const LinesFit& fitted,
                              DeviceFit& out) {
  power::Calibration& calibration = out.calibration;
  calibration.device = out.device;
  calibration.label = dataset.device;
  calibration.tool = fmt::format("flopwatt {}", base::kVersion);
  for (const dataset::File& file : dataset.files) {
    calibration.sources.push_back({file_name(file.name), file.sha256, file.rows});
  }
  calibration.rows_read = out.rows_read;
  calibration.rows_used = out.rows;
  calibration.dropped = out.dropped;
  calibration.peaks = selection.peaks;
  std::vector<double> idle;
  for (const dataset::Observation& row : dataset.idle) {
    if (row.power && row.power->in(units::watt) > 0) idle.push_back(row.power->in(units::watt));
  }
  if (!idle.empty()) {
    FLOPWATT_TRY(calibration.idle_watts, stats::mean(idle));
  }
  calibration.repeat_noise_pct = out.residual_sd_pct.repeat_noise;
  calibration.lines = fitted.lines;
  for (const auto& [form, summary] : out.models) {
    FLOPWATT_TRY(calibration.in_sample[form], in_sample(selection.samples, fitted.lines, form));
  }
  calibration.ranges = ranges(selection.samples, selection.peaks);
  calibration.notes = out.notes;
  return {};
}

Result<DeviceFit> fit_device(const dataset::Dataset& dataset, const FitOptions& options) {
  FLOPWATT_TRY(const Selection selection, select(dataset, options));
  DeviceFit out;
  out.device = dataset.device;
  out.rows_read = dataset.rows_read();
  out.rows = selection.samples.size();
  out.dropped = selection.dropped;
  out.notes = selection.notes;
  if (selection.samples.size() < 3) {
    return fail(Errc::bad_data,
                fmt::format("{} of {} rows can be used, a fit needs 3; left out: {}", out.rows, out.rows_read,
                            out.dropped.empty() ? "none" : reasons(out.dropped)),
                dataset.files.front().name);
  }
  std::vector<double> mfu, watts;
  for (const Sample& sample : selection.samples) {
    mfu.push_back(sample.mfu_pct);
    watts.push_back(sample.power_watts);
  }
  auto predictor = fit_predictor(mfu, watts, options);
  if (!predictor) {
    return fail(Errc::bad_data, fmt::format("power against MFU: {}", predictor.error().what),
                dataset.files.front().name);
  }
  out.mfu = *predictor;
  FLOPWATT_TRY_VOID(fit_utilization(selection.samples, options, out));
  FLOPWATT_TRY_VOID(fit_residuals(selection.samples, out));
  out.regimes = regimes(selection.samples);

  FLOPWATT_TRY(const LinesFit fitted, fit_lines(selection.samples, options.forms));
  out.notes.insert(out.notes.end(), fitted.notes.begin(), fitted.notes.end());
  const bool has[] = {fitted.lines.linear.has_value(), !fitted.lines.dtype.empty(), !fitted.lines.cell.empty()};
  constexpr Form kForms[] = {Form::linear, Form::dtype, Form::cell};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!has[i]) continue;
    FLOPWATT_TRY(out.models[kForms[i]], summarize(selection.samples, fitted.lines, kForms[i], options));
  }
  FLOPWATT_TRY_VOID(fill_calibration(dataset, selection, fitted, out));
  return out;
}

Result<void> check(const FitOptions& options) {
  if (options.resamples > 1'000'000) return fail(Errc::usage, "more than 1,000,000 resamples", "--bootstrap");
  if (!(options.level > 0 && options.level < 1)) {
    return fail(Errc::usage, fmt::format("level {} does not lie between 0 and 1", options.level), "--level");
  }
  if (options.forms.empty()) return fail(Errc::usage, "no model form asked for", "--models");
  return {};
}

}  // namespace

Result<FitResult> fit(std::span<const dataset::Dataset> datasets, const FitOptions& options) {
  FLOPWATT_TRY_VOID(check(options));
  FitResult result;
  for (dataset::Dataset& merged : dataset::merge({datasets.begin(), datasets.end()})) {
    const dataset::Dataset runs = dataset::aggregate(std::move(merged));
    FLOPWATT_TRY(DeviceFit fitted, fit_device(runs, options));
    result.devices.push_back(std::move(fitted));
  }
  if (result.devices.empty()) return fail(Errc::usage, "no data to fit");
  return result;
}

}  // namespace flopwatt::fit
