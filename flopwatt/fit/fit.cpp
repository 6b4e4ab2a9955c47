#include "flopwatt/fit/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "flopwatt/audit/audit.hpp"
#include "flopwatt/base/counted.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/fit/across_devices.hpp"
#include "flopwatt/fit/calibrate.hpp"
#include "flopwatt/fit/cross_validate.hpp"
#include "flopwatt/fit/device_facts.hpp"
#include "flopwatt/fit/lines.hpp"
#include "flopwatt/fit/points.hpp"
#include "flopwatt/fit/rates.hpp"
#include "flopwatt/fit/saturating.hpp"
#include "flopwatt/fit/selection.hpp"
#include "flopwatt/model/catalogue.hpp"
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

Result<void> fit_line_forms(const Selection& selection, const FitOptions& options, DeviceFit& out) {
  FLOPWATT_TRY(LinesFit fitted, fit_lines(selection.samples, options.forms));
  out.notes.insert(out.notes.end(), fitted.notes.begin(), fitted.notes.end());
  const bool has[] = {fitted.lines.linear.has_value(), !fitted.lines.dtype.empty(), !fitted.lines.cell.empty()};
  constexpr Form kForms[] = {Form::linear, Form::dtype, Form::cell};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!has[i]) continue;
    FLOPWATT_TRY(out.models[kForms[i]], summarize(selection.samples, fitted.lines, kForms[i], options));
    FLOPWATT_TRY(out.calibration.in_sample[kForms[i]], in_sample(selection.samples, fitted.lines, kForms[i]));
  }
  out.calibration.lines = std::move(fitted.lines);
  return {};
}

SaturatingPrior prior_of(const dataset::Dataset& dataset, const DeviceFacts& facts, const Selection& selection) {
  SaturatingPrior prior{.idle_watts = idle_watts(dataset), .limit_watts = facts.limit_watts, .peaks = {}};
  for (const power::Peak& peak : selection.peaks) prior.peaks[peak.dtype] = peak.rate;
  return prior;
}

/// Rows that cannot be used, or too few of them, leave the form out with a note: the others do not need it.
Result<void> fit_saturating_form(const Rates& rates, const SaturatingPrior& prior, DeviceFit& out) {
  for (const power::DroppedRows& entry : rates.dropped) {
    const bool unknown = entry.reason.starts_with("no model is called");
    out.notes.push_back(fmt::format("saturating: {} left out, {}{}", base::counted(entry.rows, "row"), entry.reason,
                                    unknown ? "; give it by --data DIR, as DIR/models/NAME.json ('flopwatt sweep "
                                              "export --models' writes such a file)"
                                            : ""));
  }
  auto fitted = fit_saturating(rates.samples, prior);
  if (!fitted) {
    out.notes.push_back(fmt::format("saturating: not fitted, {}", fitted.error().what));
    return {};
  }
  out.notes.insert(out.notes.end(), fitted->notes.begin(), fitted->notes.end());
  std::vector<double> measured, predicted;
  for (const RateSample& row : rates.samples) {
    measured.push_back(row.power_watts);
    predicted.push_back(fitted->model.watts(row.sample->dtype, row.flops, row.traffic));
  }
  FLOPWATT_TRY(const stats::ErrorSummary errors, stats::summarize_errors(measured, predicted));
  out.calibration.in_sample[Form::saturating] = {errors.n, errors.mape_pct, errors.p95_pct, errors.bias_pct};
  FormSummary& summary = out.models[Form::saturating];
  summary.rows = errors.n;
  summary.mape_pct = errors.mape_pct;
  summary.parameters = named_parameters(fitted->model);
  double residual = 0, total = 0;
  FLOPWATT_TRY(const double mean_power, stats::mean(measured));
  for (std::size_t i = 0; i < measured.size(); ++i) {
    residual += (measured[i] - predicted[i]) * (measured[i] - predicted[i]);
    total += (measured[i] - mean_power) * (measured[i] - mean_power);
  }
  if (total > 0) summary.r2 = 1 - residual / total;
  out.calibration.saturating = std::move(fitted->model);
  return {};
}

std::pair<double, double> batch_one_and_others(const HeldOutRows& held_out) {
  double sum[2] = {0, 0}, rows[2] = {0, 0};
  for (const HeldOut& row : held_out.rows) {
    const int of = row.batch == 1 ? 0 : 1;
    sum[of] += 100 * std::abs(row.predicted_watts / row.measured_watts - 1);
    rows[of] += 1;
  }
  return {rows[0] > 0 ? sum[0] / rows[0] : 0, rows[1] > 0 ? sum[1] / rows[1] : 0};
}

/// A form that cannot be validated on an axis (one group only, too few rows left) has no entry there.
/// `by_model` receives the rows of the leave-one-model-out folds.
Result<void> cross_validate(const Selection& selection, const Rates& rates, const SaturatingPrior& prior,
                            std::map<Form, HeldOutRows>& by_model, DeviceFit& out) {
  const auto hold_out = [&](Form form, Axis axis) {
    return form == Form::saturating ? hold_out_saturating(rates.samples, prior, axis)
                                    : hold_out_lines(selection.samples, form, axis);
  };
  for (const auto& [form, summary] : out.models) {
    for (const Axis axis : {Axis::model, Axis::batch, Axis::dtype}) {
      auto held_out = hold_out(form, axis);
      if (!held_out) {
        out.notes.push_back(fmt::format("{}: not cross-validated, {}", power::name(form), held_out.error().what));
        continue;
      }
      if (held_out->rows.empty()) continue;
      FLOPWATT_TRY(power::CrossValidation result, errors(*held_out));
      if (axis == Axis::model) {
        FLOPWATT_TRY(Coverage covered, coverage(*held_out, 0.9));
        out.coverage_90[form] = covered.pooled;
        out.coverage_90_folds[form] = std::move(covered.folds);
        out.batch_one_and_others_pct[form] = batch_one_and_others(*held_out);
        out.calibration.conformal_scores_pct[form] = conformal_scores(*held_out);
        out.leave_one_model_out[form] = std::move(result);
        by_model[form] = std::move(*held_out);
      } else {
        (axis == Axis::batch ? out.leave_one_batch_out : out.leave_one_dtype_out)[form] = std::move(result);
      }
    }
  }
  out.calibration.leave_one_model_out = out.leave_one_model_out;
  out.calibration.leave_one_batch_out = out.leave_one_batch_out;
  out.calibration.leave_one_dtype_out = out.leave_one_dtype_out;
  return {};
}

Result<void> fit_predictors(const Selection& selection, const dataset::Dataset& dataset, const FitOptions& options,
                            DeviceFit& out) {
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
  return {};
}

/// A device's fit, and what the prior over devices wants of it.
struct Fitted {
  DeviceFit fit;
  std::optional<Measured> measured;
};

std::optional<Measured> measured(const DeviceFit& device, const DeviceFacts& facts, const SaturatingPrior& prior,
                                 const Rates& rates) {
  if (!device.calibration.saturating) return std::nullopt;
  Measured out;
  out.name = facts.name;
  out.model = *device.calibration.saturating;
  // Where variants differ in their limit, the rows' own cap stands for it.
  out.limit_watts = facts.limit_watts.value_or(out.model.cap_watts / kCapOverLimit);
  out.idle_watts = prior.idle_watts;
  out.bytes_per_second = facts.bytes_per_second;
  out.peaks = prior.peaks;
  for (const RateSample& row : rates.samples) {
    out.rows.push_back(row);
  }
  return out;
}

/// What the audit found on the rows of one device, as a calibration carries it.
std::vector<power::Finding> findings_of(const audit::AuditResult& audited, const std::string& device) {
  std::vector<power::Finding> out;
  for (const audit::Finding& finding : audited.findings) {
    if (finding.device != device) continue;
    out.push_back({finding.code, std::string{audit::name(finding.severity)}, finding.text, finding.rows});
  }
  return out;
}

/// Power in another unit makes a calibration that is wrong by a thousand with small errors.  Every other finding may
/// hold for some of the rows only, and is carried instead.
bool refuses_fit(const audit::Finding& finding) {
  return finding.severity == audit::Severity::error &&
         (finding.code == "unit_milliwatts" || finding.code == "unit_kilowatts");
}

Result<void> refuse_unusable(std::span<const dataset::Dataset> datasets, const audit::AuditResult& audited) {
  for (const audit::Finding& finding : audited.findings) {
    if (!refuses_fit(finding)) continue;
    std::string where = finding.places.empty() ? std::string{} : finding.places.front();
    if (where.empty()) {
      for (const dataset::Dataset& one : datasets) {
        if (one.device == finding.device) where = one.files.front().name;
      }
    }
    return fail(Errc::bad_data,
                fmt::format("{}: {}; a fit to them would be wrong without looking so", finding.code, finding.text),
                where, fmt::format("{}; or insist with --fit-anyway", finding.remedy));
  }
  return {};
}

struct Catalogues {
  const device::Catalogue* devices = nullptr;
  const model::Catalogue* models = nullptr;
};

/// `selection` outlives the result: the rows of `Fitted::measured` point into it.
Result<Fitted> fit_device(const dataset::Dataset& dataset, const Catalogues& catalogues, const FitOptions& options,
                          Selection& selection) {
  const DeviceFacts facts = device_facts(*catalogues.devices, dataset.device);
  FLOPWATT_TRY(selection, select(dataset, facts, options));
  Fitted fitted;
  DeviceFit& out = fitted.fit;
  out.device = facts.name;
  out.rows_read = dataset.rows_read();
  out.rows = selection.samples.size();
  out.averaged = dataset.averaged;
  out.dropped = selection.dropped;
  out.notes = dataset.notes;
  out.notes.insert(out.notes.end(), facts.notes.begin(), facts.notes.end());
  out.notes.insert(out.notes.end(), selection.notes.begin(), selection.notes.end());
  if (selection.samples.size() < 3) {
    return fail(Errc::bad_data,
                fmt::format("{} of {} rows can be used, a fit needs 3; {}left out: {}", out.rows, out.rows_read,
                            out.averaged.samples == 0 ? std::string{}
                                                      : fmt::format("a run is one row, {} of {} samples; ",
                                                                    out.averaged.runs, out.averaged.samples),
                            out.dropped.empty() ? "none" : reasons(out.dropped)),
                dataset.files.front().name);
  }
  FLOPWATT_TRY_VOID(fit_predictors(selection, dataset, options, out));
  FLOPWATT_TRY_VOID(fit_line_forms(selection, options, out));
  const SaturatingPrior prior = prior_of(dataset, facts, selection);
  Rates absolute;
  if (wants(options.forms, Form::saturating)) {
    absolute = rates(selection.usable, *catalogues.models);
    FLOPWATT_TRY_VOID(fit_saturating_form(absolute, prior, out));
  }
  std::map<Form, HeldOutRows> held_out;
  if (options.cross_validate) FLOPWATT_TRY_VOID(cross_validate(selection, absolute, prior, held_out, out));
  FLOPWATT_TRY_VOID(fill_provenance(dataset, facts, selection, absolute, out));
  if (options.details) out.details = details(dataset, facts, selection, absolute, held_out, out);
  fitted.measured = measured(out, facts, prior, absolute);
  return fitted;
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

bool concerns_fit(const audit::Finding& finding, PeaksFrom peaks_from) {
  if (finding.severity != audit::Severity::error) return false;
  constexpr std::string_view kOfPower[] = {"unit_milliwatts", "unit_kilowatts", "power_scope", "power_below_idle",
                                           "sensor_stuck"};
  if (std::ranges::find(kOfPower, finding.code) != std::end(kOfPower)) return true;
  const auto has = [&](std::string_view key) {
    return std::ranges::any_of(finding.evidence, [&](const audit::Evidence& one) { return one.key == key; });
  };
  // The MFU's carries the peak that it implies; that of utilisation, which no power model reads, does not.
  if (finding.code == "unit_fraction_for_percent") {
    return peaks_from == PeaksFrom::recorded && has("implied_peak_flops_per_second");
  }
  if (finding.code == "mfu_clamped") return peaks_from == PeaksFrom::recorded;
  return std::ranges::any_of(finding.evidence, [](const audit::Evidence& one) {
    const auto* column = std::get_if<std::string>(&one.value);
    return one.key == "column" && column != nullptr && *column == "calflops_total";
  });
}

Result<FitResult> fit(std::span<const dataset::Dataset> datasets, const FitOptions& options) {
  FLOPWATT_TRY_VOID(check(options));
  std::optional<device::Catalogue> shipped_devices;
  std::optional<model::Catalogue> shipped_models;
  Catalogues catalogues{options.devices, options.models};
  if (catalogues.devices == nullptr) {
    FLOPWATT_TRY(shipped_devices, device::Catalogue::shipped());
    catalogues.devices = &*shipped_devices;
  }
  if (catalogues.models == nullptr) {
    shipped_models = model::Catalogue::builtin();
    catalogues.models = &*shipped_models;
  }
  FitResult result;
  std::vector<dataset::Dataset> merged = dataset::merge({datasets.begin(), datasets.end()});
  if (merged.empty()) return fail(Errc::usage, "no data to fit");
  if (options.audit) result.audited = audit::audit(merged, *catalogues.devices, *catalogues.models);
  if (!options.anyway) FLOPWATT_TRY_VOID(refuse_unusable(merged, result.audited));
  std::deque<Selection> selections;  // what the measured rows point into
  std::vector<Measured> all;
  for (dataset::Dataset& one : merged) {
    one = dataset::aggregate(std::move(one));
    FLOPWATT_TRY(Fitted fitted, fit_device(one, catalogues, options, selections.emplace_back()));
    fitted.fit.calibration.findings = findings_of(result.audited, one.device);
    if (fitted.measured) all.push_back(std::move(*fitted.measured));
    result.devices.push_back(std::move(fitted.fit));
  }
  if (all.size() >= 3) {
    if (auto prior = fit_prior(all)) result.prior = std::move(*prior);
  }
  return result;
}

}  // namespace flopwatt::fit
