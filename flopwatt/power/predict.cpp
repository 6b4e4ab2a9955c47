#include "flopwatt/power/predict.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "flopwatt/power/predict_parts.hpp"
#include "flopwatt/stats/students_t.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::power {
namespace {

/// How far a rate may lie beyond the edge of the measured range and still count as inside: counts of the same run by
/// different conventions (operators, parameters) differ by less.
constexpr double kEdge = 0.01;

Result<const Peak*> require_peak(const Calibration& calibration, units::Precision dtype) {
  if (const Peak* peak = calibration.peak(dtype)) return peak;
  std::string known;
  for (const Peak& peak : calibration.peaks) {
    known += (known.empty() ? "" : ", ") + std::string{units::name(peak.dtype)};
  }
  return fail(Errc::usage,
              fmt::format("the calibration of {} has no rows in {}", calibration.device, units::name(dtype)), {},
              known.empty() ? std::string{} : fmt::format("choose among {}, or fit data that has it", known));
}

/// The dtype that the rows were recorded under: a framework calls the TF32 path of tensor cores float32.
units::Precision recorded_dtype(const Calibration& calibration, units::Precision dtype) noexcept {
  if (dtype != units::Precision::tf32 || calibration.peak(dtype) != nullptr) return dtype;
  const Peak* peak = calibration.peak(units::Precision::float32);
  return peak != nullptr && peak->path == "tensor_dense" ? units::Precision::float32 : dtype;
}

/// What a form says about a query, or the reason why it has nothing to say.
struct Choice {
  Form form = Form::automatic;
  const Line* line = nullptr;              // linear, dtype, cell
  const Saturating* saturating = nullptr;  // saturating
  std::string why_not;

  [[nodiscard]] bool found() const { return line != nullptr || saturating != nullptr; }
};

Choice choose_saturating(const Calibration& calibration, const Query& query) {
  Choice choice{.form = Form::saturating, .line = nullptr, .saturating = nullptr, .why_not = {}};
  if (!calibration.saturating) {
    choice.why_not = "the calibration has no saturating model";
  } else if (!calibration.saturating->joules_per_flop.contains(query.dtype)) {
    choice.why_not = fmt::format("the saturating model was not fitted to {}", units::name(query.dtype));
  } else if (!traffic_of(query, calibration.saturating->traffic_per_mbu_byte)) {
    choice.why_not = "the saturating model needs the byte rate";
  } else {
    choice.saturating = &*calibration.saturating;
  }
  return choice;
}

/// How many standard deviations of its own MFUs a cell's line is stretched at most.  A cell holds a few models at one
/// batch, all at a similar MFU: beyond, its slope says nothing (a batch-1 cell measured at 0.4 % would give kilowatts
/// at 30 %).
constexpr double kCellReach = 3;

bool reaches(const Line& line, double mfu_pct) {
  const double sd = std::sqrt(line.mfu_spread_pct2 / static_cast<double>(line.rows));
  return std::abs(mfu_pct - line.mfu_mean_pct) <= kCellReach * sd;
}

Choice choose_cell(const Calibration& calibration, const Query& query, double mfu_pct) {
  Choice choice{.form = Form::cell, .line = nullptr, .saturating = nullptr, .why_not = {}};
  if (calibration.lines.cell.empty()) {
    choice.why_not = "the calibration has no cell lines";
  } else if (!query.batch) {
    choice.why_not = "a cell needs the batch";
  } else if (const auto found = calibration.lines.cell.find({query.dtype, *query.batch});
             found != calibration.lines.cell.end()) {
    if (reaches(found->second, mfu_pct)) {
      choice.line = &found->second;
    } else {
      choice.why_not =
          fmt::format("the cell of {} at batch {} was measured around an MFU of {:.3g} %, far from {:.3g} %",
                      units::name(query.dtype), *query.batch, found->second.mfu_mean_pct, mfu_pct);
    }
  } else {
    choice.why_not = fmt::format("no cell for {} at batch {}", units::name(query.dtype), *query.batch);
  }
  return choice;
}

Choice choose_dtype(const Calibration& calibration, const Query& query) {
  Choice choice{.form = Form::dtype, .line = nullptr, .saturating = nullptr, .why_not = {}};
  const auto found = calibration.lines.dtype.find(query.dtype);
  if (found != calibration.lines.dtype.end()) {
    choice.line = &found->second;
  } else {
    choice.why_not = fmt::format("no line for {}", units::name(query.dtype));
  }
  return choice;
}

Choice choose_linear(const Calibration& calibration) {
  Choice choice{.form = Form::linear, .line = nullptr, .saturating = nullptr, .why_not = {}};
  if (calibration.lines.linear) {
    choice.line = &*calibration.lines.linear;
  } else {
    choice.why_not = "the calibration has no linear line";
  }
  return choice;
}

/// The form asked for, else the next simpler one, each step with its reason.
Result<Choice> choose(const Calibration& calibration, const Query& query, double mfu_pct,
                      std::vector<std::string>& why_not) {
  const bool any = query.form == Form::automatic;
  const auto attempt = [&](Choice candidate, Choice& choice) {
    if (choice.found()) return;
    if (candidate.found()) {
      choice = std::move(candidate);
    } else {
      why_not.push_back(std::move(candidate.why_not));
    }
  };
  Choice choice;
  // Without byte rate nobody asked for the saturating form by leaving the choice to us; with one it is the best.
  const bool saturating = query.form == Form::saturating || (any && calibration.saturating);
  if (saturating) attempt(choose_saturating(calibration, query), choice);
  if (any || query.form == Form::saturating || query.form == Form::cell)
    attempt(choose_cell(calibration, query, mfu_pct), choice);
  if (query.form != Form::linear) attempt(choose_dtype(calibration, query), choice);
  attempt(choose_linear(calibration), choice);
  if (choice.found()) return choice;
  return fail(Errc::usage, fmt::format("the calibration of {} has no {} model for this: {}", calibration.device,
                                       name(query.form), fmt::join(why_not, "; ")));
}

template <class Text>
void range_flag(Prediction& prediction, std::string_view what, double value, const std::optional<Range>& range,
                const Text& text) {
  if (!range) return;
  if (value >= range->lo * (1 - kEdge) && value <= range->hi * (1 + kEdge)) return;
  const bool above = value > range->hi;
  const double edge = above ? range->hi : range->lo;
  const std::string_view side = above ? "above" : "below";
  std::string distance{side};
  if (edge > 0 && value > 0) distance = fmt::format("{:.3g}x {}", above ? value / edge : edge / value, side);
  prediction.flags.push_back(
      {FlagKind::extrapolates, fmt::format("{} {} lies {} the measured range {} to {}", what, text(value), distance,
                                           text(range->lo), text(range->hi))});
}

void range_flags(Prediction& prediction, const Calibration& calibration, const Query& query) {
  const InputRanges& ranges = calibration.ranges;
  const auto plain = [](double v) { return fmt::format("{:.6g}", v); };
  const auto found = ranges.flops_per_second.find(query.dtype);
  if (found != ranges.flops_per_second.end()) {
    range_flag(prediction, fmt::format("{} rate", units::name(query.dtype)), query.flops.in(units::flop_per_second),
               found->second, [](double v) { return units::to_text(v * units::flop_per_second); });
  }
  if (prediction.form == Form::saturating) {
    const auto traffic = traffic_of(query, calibration.saturating->traffic_per_mbu_byte);
    range_flag(prediction, "byte rate", (traffic->parameters + traffic->activations).in(units::byte_per_second),
               ranges.bytes_per_second, [](double v) { return units::to_text(v * units::byte_per_second); });
  }
  if (query.batch) range_flag(prediction, "batch", static_cast<double>(*query.batch), ranges.batch, plain);
  if (query.sequence) range_flag(prediction, "sequence", *query.sequence, ranges.sequence, plain);
  if (query.batch && query.sequence) {
    range_flag(prediction, "tokens a step", static_cast<double>(*query.batch) * *query.sequence, ranges.tokens_per_step,
               plain);
  }
}

/// ŷ ± t s sqrt(1 + 1/n + (x − x̄)²/Sxx): Draper and Smith, "Applied Regression Analysis", 3rd ed., 1.4.
Result<void> line_interval(const Line& line, double mfu_pct, Prediction& prediction) {
  FLOPWATT_TRY(const double t, stats::students_t_factor(prediction.level, static_cast<double>(line.rows - 2)));
  const double from_mean = mfu_pct - line.mfu_mean_pct;
  const double half = t * line.residual_sd_watts *
                      std::sqrt(1 + 1 / static_cast<double>(line.rows) + from_mean * from_mean / line.mfu_spread_pct2);
  prediction.lo = prediction.power - half * units::watt;
  prediction.hi = prediction.power + half * units::watt;
  prediction.interval_method = "prediction interval of the least-squares line, for rows like those fitted";
  return {};
}

}  // namespace

std::string_view name(FlagKind kind) noexcept {
  switch (kind) {
    case FlagKind::extrapolates:
      return "extrapolates";
    case FlagKind::uncalibrated:
      return "uncalibrated";
    case FlagKind::above_limit:
      return "above_limit";
    case FlagKind::fallback:
      return "fallback";
  }
  return "";
}

const Peak* peak_of_rows(const Calibration& calibration, units::Precision dtype) noexcept {
  return calibration.peak(recorded_dtype(calibration, dtype));
}

Result<units::FlopRate> flop_rate(const Calibration& calibration, units::Precision dtype, double mfu) {
  if (!std::isfinite(mfu) || mfu < 0) return fail(Errc::usage, "the MFU must be finite and not negative");
  FLOPWATT_TRY(const Peak* peak, require_peak(calibration, recorded_dtype(calibration, dtype)));
  return mfu * peak->rate;
}

Result<Prediction> predict(const Calibration& calibration, const Query& asked) {
  FLOPWATT_TRY_VOID(check(asked));
  Query query = asked;
  query.dtype = recorded_dtype(calibration, asked.dtype);
  FLOPWATT_TRY(const Peak* peak, require_peak(calibration, query.dtype));
  const double mfu_pct = 100 * (query.flops / peak->rate);

  Prediction prediction;
  prediction.level = query.level;
  prediction.calibration = calibration.device;
  std::vector<std::string> why_not;
  FLOPWATT_TRY(const Choice choice, choose(calibration, query, mfu_pct, why_not));
  prediction.form = choice.form;
  if (!why_not.empty()) {
    prediction.flags.push_back(
        {FlagKind::fallback, fmt::format("{} model: {}", name(choice.form), fmt::join(why_not, "; "))});
  }
  if (choice.saturating != nullptr) {
    const Traffic traffic = *traffic_of(query, choice.saturating->traffic_per_mbu_byte);
    prediction.power = choice.saturating->watts(query.dtype, query.flops, traffic) * units::watt;
    if (!query.traffic) prediction.notes.push_back(traffic_note(*choice.saturating->traffic_per_mbu_byte));
  } else {
    prediction.power = (choice.line->intercept_watts + choice.line->slope_watts_per_pct * mfu_pct) * units::watt;
  }

  const auto scores = calibration.conformal_scores_pct.find(choice.form);
  if (scores != calibration.conformal_scores_pct.end() && !scores->second.empty()) {
    FLOPWATT_TRY_VOID(conformal_interval(scores->second, prediction));
  } else if (choice.line != nullptr) {
    FLOPWATT_TRY_VOID(line_interval(*choice.line, mfu_pct, prediction));
  } else {
    return fail(Errc::bad_data,
                fmt::format("the calibration of {} has no held-out errors for the saturating model, so "
                            "no interval can be given",
                            calibration.device),
                {}, "fit it again with cross-validation, or choose another model");
  }
  FLOPWATT_TRY_VOID(settle(prediction));
  range_flags(prediction, calibration, query);
  std::optional<units::Power> limit = query.limit;
  if (!limit && calibration.limit_watts) limit = *calibration.limit_watts * units::watt;
  limit_flag(limit, prediction);
  if (query.dtype == units::Precision::float32 && peak->path == "tensor_dense") {
    prediction.notes.push_back(
        fmt::format("float32 was measured on the tensor cores, as TF32 (peak {})", units::to_text(peak->rate)));
  }
  if (calibration.family) {
    prediction.notes.push_back(
        fmt::format("calibrated on rows that say {} without naming the variant; limits and bandwidth of the variants "
                    "differ",
                    calibration.device));
  }
  return prediction;
}

}  // namespace flopwatt::power
