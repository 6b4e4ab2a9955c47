#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::power {
namespace {

using io::JsonObject;

Result<units::Precision> precision(const JsonObject& object, std::string_view key, std::string_view text) {
  if (const auto found = units::parse_precision(text)) return *found;
  return fail(object.error(key, fmt::format("\"{}\" is no dtype", base::excerpt(text))));
}

Result<units::Precision> dtype_of(const JsonObject& object) {
  FLOPWATT_TRY(const std::string text, object.require_string("dtype"));
  return precision(object, "dtype", text);
}

Result<std::size_t> count(const JsonObject& object, std::string_view key, std::int64_t min = 0) {
  FLOPWATT_TRY(const std::int64_t value, object.require_int(key, min));
  return static_cast<std::size_t>(value);
}

/// A square matrix written as an array of rows.
Result<std::vector<double>> square(const JsonObject& object, std::string_view key, std::size_t n) {
  const io::Json* matrix = object.find(key);
  std::vector<double> out;
  const auto refuse = [&] {
    return fail(object.error(key, fmt::format("expected {} rows of {} finite numbers", n, n)));
  };
  if (matrix == nullptr || !matrix->is_array() || matrix->size() != n) return refuse();
  for (const io::Json& row : *matrix) {
    if (!row.is_array() || row.size() != n) return refuse();
    for (const io::Json& cell : row) {
      if (!cell.is_number()) return refuse();
      out.push_back(cell.get<double>());
    }
  }
  return out;
}

Result<Line> read_line(const JsonObject& object) {
  Line line;
  FLOPWATT_TRY(line.rows, count(object, "rows", 3));
  FLOPWATT_TRY(line.intercept_watts, object.require_number("intercept_watts"));
  FLOPWATT_TRY(line.slope_watts_per_pct, object.require_number("slope_watts_per_pct"));
  FLOPWATT_TRY(const std::vector<double> covariance, square(object, "covariance", 2));
  if (covariance[0] < 0 || covariance[3] < 0 || covariance[1] != covariance[2]) {
    return fail(object.error("covariance", "expected a symmetric matrix with no negative variance"));
  }
  line.intercept_variance = covariance[0];
  line.covariance = covariance[1];
  line.slope_variance = covariance[3];
  FLOPWATT_TRY(line.residual_sd_watts, object.require_number("residual_sd_watts", 0));
  FLOPWATT_TRY(line.mfu_mean_pct, object.require_number("mfu_mean_pct"));
  FLOPWATT_TRY(line.mfu_spread_pct2, object.require_number("mfu_spread_pct2", 0));
  if (line.mfu_spread_pct2 == 0) return fail(object.error("mfu_spread_pct2", "expected a positive number, found 0"));
  FLOPWATT_TRY(line.r2, object.optional_number("r2"));
  FLOPWATT_TRY(line.mape_pct, object.require_number("mape_pct", 0));
  return line;
}

Result<Lines> read_lines(const JsonObject& models) {
  Lines lines;
  FLOPWATT_TRY(const auto linear, models.optional_object("linear"));
  if (linear) {
    FLOPWATT_TRY(lines.linear, read_line(*linear));
  }
  FLOPWATT_TRY(const auto by_dtype, models.require_objects("dtype"));
  for (const JsonObject& entry : by_dtype) {
    FLOPWATT_TRY(const auto dtype, dtype_of(entry));
    FLOPWATT_TRY(Line line, read_line(entry));
    if (!lines.dtype.emplace(dtype, line).second) return fail(entry.error("dtype", "appears twice"));
  }
  FLOPWATT_TRY(const auto cells, models.require_objects("cell"));
  for (const JsonObject& entry : cells) {
    FLOPWATT_TRY(const auto dtype, dtype_of(entry));
    FLOPWATT_TRY(const std::int64_t batch, entry.require_int("batch", 1));
    FLOPWATT_TRY(Line line, read_line(entry));
    if (!lines.cell.emplace(std::pair{dtype, batch}, line).second) {
      return fail(entry.error("batch", "this dtype and batch appear twice"));
    }
  }
  return lines;
}

/// An object keyed by dtype.
template <class Store>
Result<void> by_dtype(const JsonObject& parent, std::string_view key, double min, const Store& store) {
  FLOPWATT_TRY(const JsonObject object, parent.require_object(key));
  for (const std::string& name : object.keys()) {
    FLOPWATT_TRY(const units::Precision dtype, precision(object, name, name));
    FLOPWATT_TRY(const double value, object.require_number(name, min));
    store(dtype, value);
  }
  return {};
}

Result<Saturating> read_saturating(const JsonObject& object) {
  constexpr double kTiny = std::numeric_limits<double>::min();  // above zero
  Saturating model;
  FLOPWATT_TRY(model.rows, count(object, "rows", 1));
  FLOPWATT_TRY(model.mape_pct, object.require_number("mape_pct", 0));
  FLOPWATT_TRY(model.floor_watts, object.require_number("floor_watts", 0));
  FLOPWATT_TRY_VOID(
      by_dtype(object, "joules_per_flop", 0, [&](auto dtype, double v) { model.joules_per_flop[dtype] = v; }));
  FLOPWATT_TRY(model.joules_per_byte, object.require_number("joules_per_byte", 0));
  FLOPWATT_TRY_VOID(by_dtype(object, "byte_factor", 0, [&](auto dtype, double v) { model.byte_factor[dtype] = v; }));
  FLOPWATT_TRY(model.activation_factor, object.require_number("activation_factor", 0));
  FLOPWATT_TRY(model.cap_watts, object.require_number("cap_watts", kTiny));
  FLOPWATT_TRY(model.softness_watts, object.require_number("softness_watts", kTiny));
  FLOPWATT_TRY(model.traffic_per_mbu_byte, object.optional_number("traffic_per_mbu_byte", kTiny));
  FLOPWATT_TRY(model.parameter_names, object.require_strings("parameters"));
  const io::Json* covariance = object.find("covariance");
  if (covariance != nullptr && !covariance->empty()) {
    FLOPWATT_TRY(model.covariance, square(object, "covariance", model.parameter_names.size()));
  }
  return model;
}

Result<ErrorFigures> read_figures(const JsonObject& object) {
  ErrorFigures figures;
  FLOPWATT_TRY(figures.rows, count(object, "rows"));
  FLOPWATT_TRY(figures.mape_pct, object.require_number("mape_pct", 0));
  FLOPWATT_TRY(figures.p95_pct, object.require_number("p95_pct", 0));
  FLOPWATT_TRY(figures.bias_pct, object.require_number("bias_pct"));
  return figures;
}

Result<Form> form_of(const JsonObject& object, std::string_view key) {
  const auto form = parse_form(key);
  if (form && *form != Form::automatic) return *form;
  return fail(object.error(key, "is no model form"));
}

Result<std::map<Form, CrossValidation>> read_cross_validation(const JsonObject& errors, std::string_view key) {
  std::map<Form, CrossValidation> out;
  FLOPWATT_TRY(const auto forms, errors.optional_object(key));
  if (!forms) return out;
  for (const std::string& name : forms->keys()) {
    FLOPWATT_TRY(const Form form, form_of(*forms, name));
    FLOPWATT_TRY(const JsonObject entry, forms->require_object(name));
    FLOPWATT_TRY(out[form].pooled, read_figures(entry));
    FLOPWATT_TRY(const JsonObject folds, entry.require_object("folds"));
    for (const std::string& held_out : folds.keys()) {
      FLOPWATT_TRY(const JsonObject fold, folds.require_object(held_out));
      FLOPWATT_TRY(out[form].folds[held_out], read_figures(fold));
    }
  }
  return out;
}

/// A list of scores a configuration.
Result<std::vector<std::vector<double>>> read_scores(const JsonObject& object, std::string_view key) {
  const io::Json* configurations = object.find(key);
  const auto refuse = [&] { return fail(object.error(key, "expected an array of arrays of numbers of at least 0")); };
  if (configurations == nullptr || !configurations->is_array()) return refuse();
  std::vector<std::vector<double>> out;
  for (const io::Json& scores : *configurations) {
    if (!scores.is_array() || scores.empty()) return refuse();
    auto& row = out.emplace_back();
    for (const io::Json& score : scores) {
      if (!score.is_number() || !(score.get<double>() >= 0)) return refuse();
      row.push_back(score.get<double>());
    }
  }
  return out;
}

Result<void> read_errors(const JsonObject& root, Calibration& calibration) {
  FLOPWATT_TRY(const JsonObject errors, root.require_object("errors"));
  FLOPWATT_TRY(const JsonObject in_sample, errors.require_object("in_sample"));
  for (const std::string& name : in_sample.keys()) {
    FLOPWATT_TRY(const Form form, form_of(in_sample, name));
    FLOPWATT_TRY(const JsonObject entry, in_sample.require_object(name));
    FLOPWATT_TRY(calibration.in_sample[form], read_figures(entry));
  }
  FLOPWATT_TRY(calibration.leave_one_model_out, read_cross_validation(errors, "leave_one_model_out"));
  FLOPWATT_TRY(calibration.leave_one_batch_out, read_cross_validation(errors, "leave_one_batch_out"));
  FLOPWATT_TRY(calibration.leave_one_dtype_out, read_cross_validation(errors, "leave_one_dtype_out"));
  FLOPWATT_TRY(const JsonObject scores, errors.require_object("conformal_scores_pct"));
  for (const std::string& name : scores.keys()) {
    FLOPWATT_TRY(const Form form, form_of(scores, name));
    FLOPWATT_TRY(calibration.conformal_scores_pct[form], read_scores(scores, name));
  }
  return {};
}

Result<std::optional<Range>> read_range(const JsonObject& object, std::string_view key) {
  FLOPWATT_TRY(const auto ends, object.optional_numbers(key));
  if (!ends) return std::optional<Range>{};
  if (ends->size() != 2 || !((*ends)[0] <= (*ends)[1])) return fail(object.error(key, "expected [lo, hi]"));
  return std::optional<Range>{Range{(*ends)[0], (*ends)[1]}};
}

Result<void> read_ranges(const JsonObject& root, InputRanges& ranges) {
  FLOPWATT_TRY(const JsonObject object, root.require_object("ranges"));
  FLOPWATT_TRY(const JsonObject rates, object.require_object("flops_per_second"));
  for (const std::string& name : rates.keys()) {
    FLOPWATT_TRY(const units::Precision dtype, precision(rates, name, name));
    FLOPWATT_TRY(const auto range, read_range(rates, name));
    if (range) ranges.flops_per_second[dtype] = *range;
  }
  FLOPWATT_TRY(ranges.bytes_per_second, read_range(object, "bytes_per_second"));
  FLOPWATT_TRY(ranges.batch, read_range(object, "batch"));
  FLOPWATT_TRY(ranges.sequence, read_range(object, "sequence"));
  FLOPWATT_TRY(ranges.tokens_per_step, read_range(object, "tokens_per_step"));
  return {};
}

Result<void> read_peaks(const JsonObject& root, Calibration& calibration) {
  FLOPWATT_TRY(const auto peaks, root.require_objects("peaks"));
  for (const JsonObject& entry : peaks) {
    Peak peak;
    FLOPWATT_TRY(peak.dtype, dtype_of(entry));
    FLOPWATT_TRY(const double rate, entry.require_number("flops_per_second", 1));
    peak.rate = rate * units::flop_per_second;
    FLOPWATT_TRY(peak.path, entry.require_string("path"));
    FLOPWATT_TRY(peak.accumulate, entry.require_string("accumulate"));
    FLOPWATT_TRY(peak.known_by, entry.require_string("known_by"));
    FLOPWATT_TRY(peak.source, entry.require_string("source"));
    if (calibration.peak(peak.dtype) != nullptr) return fail(entry.error("dtype", "appears twice"));
    calibration.peaks.push_back(std::move(peak));
  }
  return {};
}

Result<void> read_provenance(const JsonObject& root, Calibration& calibration) {
  FLOPWATT_TRY(calibration.device, root.require_string("device"));
  FLOPWATT_TRY(calibration.family, root.require_bool("family"));
  FLOPWATT_TRY(calibration.label, root.require_string("label"));
  FLOPWATT_TRY(calibration.driver, root.optional_string("driver"));
  FLOPWATT_TRY(calibration.clocks, root.optional_string("clocks"));
  FLOPWATT_TRY(calibration.tool, root.require_string("tool"));
  FLOPWATT_TRY(const auto sources, root.require_objects("sources"));
  for (const JsonObject& entry : sources) {
    DataSource source;
    FLOPWATT_TRY(source.name, entry.require_string("name"));
    FLOPWATT_TRY(source.sha256, entry.require_string("sha256"));
    FLOPWATT_TRY(source.rows, count(entry, "rows"));
    calibration.sources.push_back(std::move(source));
  }
  FLOPWATT_TRY(calibration.rows_read, count(root, "rows_read"));
  FLOPWATT_TRY(calibration.rows_used, count(root, "rows_used"));
  FLOPWATT_TRY(const auto dropped, root.require_objects("dropped"));
  for (const JsonObject& entry : dropped) {
    DroppedRows rows;
    FLOPWATT_TRY(rows.reason, entry.require_string("reason"));
    FLOPWATT_TRY(rows.rows, count(entry, "rows"));
    calibration.dropped.push_back(std::move(rows));
  }
  return {};
}

}  // namespace

Result<Calibration> read_calibration(std::string_view text, std::string_view where) {
  FLOPWATT_TRY(const io::Json document, io::parse_json(text, where));
  FLOPWATT_TRY(const JsonObject root, JsonObject::root(document, where));
  Calibration calibration;
  FLOPWATT_TRY(const std::int64_t schema, root.require_int("schema"));
  if (schema != kCalibrationSchema) {
    return fail(root.error("schema", fmt::format("this program reads schema {}, found {}", kCalibrationSchema, schema),
                           "fit the data again"));
  }
  FLOPWATT_TRY_VOID(root.refuse_other_keys(
      {"flopwatt",    "schema",           "device",    "family",    "label",   "driver",   "clocks",
       "tool",        "sources",          "rows_read", "rows_used", "dropped", "peaks",    "idle_watts",
       "limit_watts", "repeat_noise_pct", "models",    "errors",    "ranges",  "findings", "notes"}));
  FLOPWATT_TRY_VOID(read_provenance(root, calibration));
  FLOPWATT_TRY_VOID(read_peaks(root, calibration));
  FLOPWATT_TRY(calibration.idle_watts, root.optional_number("idle_watts", 0));
  FLOPWATT_TRY(calibration.limit_watts, root.optional_number("limit_watts", 0));
  FLOPWATT_TRY(calibration.repeat_noise_pct, root.optional_number("repeat_noise_pct", 0));
  FLOPWATT_TRY(const JsonObject models, root.require_object("models"));
  FLOPWATT_TRY(calibration.lines, read_lines(models));
  FLOPWATT_TRY(const auto saturating, models.optional_object("saturating"));
  if (saturating) {
    FLOPWATT_TRY(calibration.saturating, read_saturating(*saturating));
  }
  FLOPWATT_TRY_VOID(read_errors(root, calibration));
  FLOPWATT_TRY_VOID(read_ranges(root, calibration.ranges));
  FLOPWATT_TRY(const auto findings, root.require_objects("findings"));
  for (const JsonObject& entry : findings) {
    Finding finding;
    FLOPWATT_TRY(finding.code, entry.require_string("code"));
    FLOPWATT_TRY(finding.severity, entry.require_string("severity"));
    FLOPWATT_TRY(finding.rows, count(entry, "rows"));
    FLOPWATT_TRY(finding.text, entry.require_string("text"));
    calibration.findings.push_back(std::move(finding));
  }
  FLOPWATT_TRY(calibration.notes, root.require_strings("notes"));
  return calibration;
}

}  // namespace flopwatt::power
