#include "flopwatt/base/version.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::power {
namespace {

using io::JsonWriter;

template <class T, class Write>
void member_or_null(JsonWriter& json, std::string_view key, const std::optional<T>& value, const Write& write) {
  json.key(key);
  if (value) {
    write(json, *value);
  } else {
    json.null();
  }
}

void write_range(JsonWriter& json, const Range& range) { json.begin_row().value(range.lo).value(range.hi).end_array(); }

void line_members(JsonWriter& json, const Line& line) {
  json.member("rows", line.rows)
      .member("intercept_watts", line.intercept_watts)
      .member("slope_watts_per_pct", line.slope_watts_per_pct);
  json.key("covariance").begin_array();
  json.begin_row().value(line.intercept_variance).value(line.covariance).end_array();
  json.begin_row().value(line.covariance).value(line.slope_variance).end_array();
  json.end_array();
  json.member("residual_sd_watts", line.residual_sd_watts)
      .member("mfu_mean_pct", line.mfu_mean_pct)
      .member("mfu_spread_pct2", line.mfu_spread_pct2)
      .member("r2", line.r2)
      .member("mape_pct", line.mape_pct);
}

void write_lines(JsonWriter& json, const Lines& lines) {
  member_or_null(json, "linear", lines.linear, [](JsonWriter& out, const Line& line) {
    out.begin_object();
    line_members(out, line);
    out.end_object();
  });
  json.key("dtype").begin_array();
  for (const auto& [dtype, line] : lines.dtype) {
    json.begin_object().member("dtype", units::name(dtype));
    line_members(json, line);
    json.end_object();
  }
  json.end_array();
  json.key("cell").begin_array();
  for (const auto& [key, line] : lines.cell) {
    json.begin_object().member("dtype", units::name(key.first)).member("batch", key.second);
    line_members(json, line);
    json.end_object();
  }
  json.end_array();
}

void write_saturating(JsonWriter& json, const Saturating& model) {
  json.begin_object().member("rows", model.rows).member("mape_pct", model.mape_pct);
  json.member("floor_watts", model.floor_watts);
  json.key("joules_per_flop").begin_object();
  for (const auto& [dtype, value] : model.joules_per_flop) json.member(units::name(dtype), value);
  json.end_object();
  json.member("joules_per_byte", model.joules_per_byte);
  json.key("byte_factor").begin_object();
  for (const auto& [dtype, value] : model.byte_factor) json.member(units::name(dtype), value);
  json.end_object();
  json.member("activation_factor", model.activation_factor)
      .member("cap_watts", model.cap_watts)
      .member("softness_watts", model.softness_watts)
      .member("traffic_per_mbu_byte", model.traffic_per_mbu_byte);
  json.key("parameters").begin_row();
  for (const std::string& name : model.parameter_names) json.value(name);
  json.end_array();
  json.key("covariance").begin_array();
  const std::size_t n = model.parameter_names.size();
  for (std::size_t row = 0; n > 0 && row < model.covariance.size() / n; ++row) {
    json.begin_row();
    for (std::size_t column = 0; column < n; ++column) json.value(model.covariance[row * n + column]);
    json.end_array();
  }
  json.end_array().end_object();
}

void error_members(JsonWriter& json, const ErrorFigures& figures) {
  json.member("rows", figures.rows)
      .member("mape_pct", figures.mape_pct)
      .member("p95_pct", figures.p95_pct)
      .member("bias_pct", figures.bias_pct);
}

void write_cross_validation(JsonWriter& json, std::string_view key, const std::map<Form, CrossValidation>& forms) {
  json.key(key);
  if (forms.empty()) {
    json.null();
    return;
  }
  json.begin_object();
  for (const auto& [form, result] : forms) {
    json.key(name(form)).begin_object();
    error_members(json, result.pooled);
    json.key("folds").begin_object();
    for (const auto& [held_out, figures] : result.folds) {
      json.key(held_out).begin_object();
      error_members(json, figures);
      json.end_object();
    }
    json.end_object().end_object();
  }
  json.end_object();
}

void write_errors(JsonWriter& json, const Calibration& calibration) {
  json.key("errors").begin_object();
  json.key("in_sample").begin_object();
  for (const auto& [form, figures] : calibration.in_sample) {
    json.key(name(form)).begin_object();
    error_members(json, figures);
    json.end_object();
  }
  json.end_object();
  write_cross_validation(json, "leave_one_model_out", calibration.leave_one_model_out);
  write_cross_validation(json, "leave_one_batch_out", calibration.leave_one_batch_out);
  write_cross_validation(json, "leave_one_dtype_out", calibration.leave_one_dtype_out);
  json.key("conformal_scores_pct").begin_object();
  for (const auto& [form, configurations] : calibration.conformal_scores_pct) {
    json.key(name(form)).begin_array();
    for (const std::vector<double>& scores : configurations) {
      json.begin_row();
      for (const double score : scores) json.value(score);
      json.end_array();
    }
    json.end_array();
  }
  json.end_object().end_object();
}

void write_ranges(JsonWriter& json, const InputRanges& ranges) {
  json.key("ranges").begin_object();
  json.key("flops_per_second").begin_object();
  for (const auto& [dtype, range] : ranges.flops_per_second) {
    json.key(units::name(dtype));
    write_range(json, range);
  }
  json.end_object();
  member_or_null(json, "bytes_per_second", ranges.bytes_per_second, write_range);
  member_or_null(json, "batch", ranges.batch, write_range);
  member_or_null(json, "sequence", ranges.sequence, write_range);
  member_or_null(json, "tokens_per_step", ranges.tokens_per_step, write_range);
  json.end_object();
}

void write_provenance(JsonWriter& json, const Calibration& calibration) {
  json.member("device", calibration.device)
      .member("family", calibration.family)
      .member("label", calibration.label)
      .member("driver", calibration.driver)
      .member("clocks", calibration.clocks)
      .member("tool", calibration.tool);
  json.key("sources").begin_array();
  for (const DataSource& source : calibration.sources) {
    json.begin_object()
        .member("name", source.name)
        .member("sha256", source.sha256)
        .member("rows", source.rows)
        .end_object();
  }
  json.end_array();
  json.member("rows_read", calibration.rows_read).member("rows_used", calibration.rows_used);
  json.key("dropped").begin_array();
  for (const DroppedRows& dropped : calibration.dropped) {
    json.begin_object().member("reason", dropped.reason).member("rows", dropped.rows).end_object();
  }
  json.end_array();
  json.key("peaks").begin_array();
  for (const Peak& peak : calibration.peaks) {
    json.begin_object()
        .member("dtype", units::name(peak.dtype))
        .member("flops_per_second", peak.rate.in(units::flop_per_second))
        .member("path", peak.path)
        .member("accumulate", peak.accumulate)
        .member("known_by", peak.known_by)
        .member("source", peak.source)
        .end_object();
  }
  json.end_array();
}

}  // namespace

std::string write_calibration(const Calibration& calibration) {
  JsonWriter json;
  json.begin_object().member("flopwatt", base::kVersion).member("schema", calibration.schema);
  write_provenance(json, calibration);
  json.member("idle_watts", calibration.idle_watts)
      .member("limit_watts", calibration.limit_watts)
      .member("repeat_noise_pct", calibration.repeat_noise_pct);
  json.key("models").begin_object();
  write_lines(json, calibration.lines);
  member_or_null(json, "saturating", calibration.saturating, write_saturating);
  json.end_object();
  write_errors(json, calibration);
  write_ranges(json, calibration.ranges);
  json.key("findings").begin_array();
  for (const Finding& finding : calibration.findings) {
    json.begin_object()
        .member("code", finding.code)
        .member("severity", finding.severity)
        .member("rows", finding.rows)
        .member("text", finding.text)
        .end_object();
  }
  json.end_array();
  json.key("notes").begin_array();
  for (const std::string& note : calibration.notes) json.value(note);
  json.end_array().end_object();
  return std::move(json).take();
}

}  // namespace flopwatt::power
