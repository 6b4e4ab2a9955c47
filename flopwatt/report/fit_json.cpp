#include "flopwatt/report/json.hpp"
#include "flopwatt/report/json_parts.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;
using power::Form;

void write_interval(JsonWriter& json, std::string_view key, const std::optional<fit::Interval>& interval) {
  json.key(key);
  if (interval) {
    json.begin_row().value(interval->lo).value(interval->hi).end_array();
  } else {
    json.null();
  }
}

void write_predictor(JsonWriter& json, std::string_view key, const std::optional<fit::Predictor>& predictor) {
  json.key(key);
  if (!predictor) {
    json.null();
    return;
  }
  json.begin_object().member("rows", predictor->rows).member("r2", predictor->r2);
  json.member("mape_pct", predictor->mape_pct).member("slope_watts_per_pct", predictor->slope_watts_per_pct);
  json.member("intercept_watts", predictor->intercept_watts);
  write_interval(json, "r2_ci", predictor->r2_ci);
  write_interval(json, "mape_pct_ci", predictor->mape_pct_ci);
  write_interval(json, "slope_watts_per_pct_ci", predictor->slope_ci);
  write_interval(json, "intercept_watts_ci", predictor->intercept_ci);
  json.end_object();
}

void write_models(JsonWriter& json, const std::map<Form, fit::FormSummary>& models) {
  json.key("models").begin_object();
  for (const auto& [form, summary] : models) {
    json.key(power::name(form)).begin_object().member("rows", summary.rows).member("mape_pct", summary.mape_pct);
    write_interval(json, "mape_pct_ci", summary.mape_pct_ci);
    json.member("r2", summary.r2);
    if (form == Form::cell || form == Form::dtype) {
      json.member("r2_median", summary.r2_median).member("r2_mean", summary.r2_mean).member("r2_sd", summary.r2_sd);
    }
    if (form == Form::cell) json.member("cells", summary.cells);
    if (form == Form::dtype) json.member("lines", summary.cells);
    if (!summary.parameters.empty()) {
      json.key("parameters").begin_object();
      for (const auto& [name, value] : summary.parameters) json.member(name, value);
      json.end_object();
    }
    json.end_object();
  }
  json.end_object();
}

void write_errors(JsonWriter& json, const power::ErrorFigures& errors) {
  json.member("rows", errors.rows).member("mape_pct", errors.mape_pct);
  json.member("p95_pct", errors.p95_pct).member("bias_pct", errors.bias_pct);
}

/// Every form that was fitted has its key; null until it was cross-validated.
void write_folds(JsonWriter& json, std::string_view key, const std::map<Form, fit::FormSummary>& models,
                 const std::map<Form, power::CrossValidation>& folds) {
  json.key(key).begin_object();
  for (const auto& [form, summary] : models) {
    json.key(power::name(form));
    if (const auto found = folds.find(form); found != folds.end()) {
      json.begin_object();
      write_errors(json, found->second.pooled);
      json.key("folds").begin_object();
      for (const auto& [fold, errors] : found->second.folds) {
        json.key(fold).begin_object();
        write_errors(json, errors);
        json.end_object();
      }
      json.end_object().end_object();
    } else {
      json.null();
    }
  }
  json.end_object();
}

/// How held-out models fare: batch 1 beside the other batches, and the coverage of 90 % intervals.
void write_held_out(JsonWriter& json, const fit::DeviceFit& device) {
  json.key("held_out_by_batch").begin_object();
  for (const auto& [form, figures] : device.batch_one_and_others_pct) {
    json.key(power::name(form)).begin_object().member("batch_one_mape_pct", figures.first);
    json.member("other_batches_mape_pct", figures.second).end_object();
  }
  json.end_object().key("coverage_of_90_pct_interval").begin_object();
  for (const auto& [form, pooled] : device.coverage_90) {
    json.key(power::name(form)).begin_object().member("pooled", pooled).key("folds").begin_object();
    if (const auto folds = device.coverage_90_folds.find(form); folds != device.coverage_90_folds.end()) {
      for (const auto& [fold, share] : folds->second) json.member(fold, share);
    }
    json.end_object().end_object();
  }
  json.end_object();
}

void write_device(JsonWriter& json, const fit::DeviceFit& device) {
  json.begin_object().member("device", device.device).member("rows_read", device.rows_read);
  json.member("rows", device.rows).key("averaged").begin_object();
  json.member("samples", device.averaged.samples).member("runs", device.averaged.runs).end_object();
  json.key("dropped").begin_array();
  for (const power::DroppedRows& dropped : device.dropped) {
    json.begin_object().member("reason", dropped.reason).member("rows", dropped.rows).end_object();
  }
  json.end_array().key("audit").begin_array();
  for (const power::Finding& finding : device.calibration.findings) {
    json.begin_object().member("code", finding.code).member("severity", finding.severity);
    json.member("rows", finding.rows).end_object();
  }
  json.end_array().key("predictors").begin_object();
  write_predictor(json, "mfu", device.mfu);
  write_predictor(json, "utilization", device.utilization);
  if (!device.utilization) json.member("utilization_absent", device.utilization_absent);
  json.end_object();
  json.key("residual_sd_pct").begin_object().member("device", device.residual_sd_pct.device);
  json.member("cell", device.residual_sd_pct.cell).member("repeat_noise", device.residual_sd_pct.repeat_noise);
  json.end_object().key("regimes").begin_array();
  for (const fit::Regime& regime : device.regimes) {
    json.begin_object().member("batch", regime.batch).member("rows", regime.rows);
    json.member("mfu_mean", regime.mfu_mean).member("power_watts_mean", regime.power_watts_mean).end_object();
  }
  json.end_array();
  write_models(json, device.models);
  json.key("cross_validation").begin_object();
  write_folds(json, "leave_one_model_out", device.models, device.leave_one_model_out);
  write_folds(json, "leave_one_batch_out", device.models, device.leave_one_batch_out);
  write_folds(json, "leave_one_dtype_out", device.models, device.leave_one_dtype_out);
  json.end_object();
  write_held_out(json, device);
  json.key("peaks").begin_array();
  for (const power::Peak& peak : device.calibration.peaks) {
    json.begin_object().member("dtype", units::name(peak.dtype));
    json.member("flops_per_second", peak.rate.in(units::flop_per_second)).member("path", peak.path);
    json.member("known_by", peak.known_by).member("source", peak.source).end_object();
  }
  json.end_array().key("notes").begin_array();
  for (const std::string& note : device.notes) json.value(note);
  json.end_array().end_object();
}

}  // namespace

std::string to_json(const answers::Fit& answer) {
  JsonWriter json;
  begin_answer(json, "fit");
  json.key("files").begin_array();
  for (const std::string& file : answer.files) json.value(file);
  json.end_array().member("bootstrap", answer.options.resamples).member("seed", answer.options.seed);
  json.member("level", answer.options.level).end_object();
  json.key("devices").begin_array();
  for (const fit::DeviceFit& device : answer.result.devices) write_device(json, device);
  json.end_array();
  return finish_answer(std::move(json), answer.notes);
}

}  // namespace flopwatt::report
