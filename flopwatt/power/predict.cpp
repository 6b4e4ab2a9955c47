#include "flopwatt/power/predict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flopwatt/stats/students_t.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::power {
namespace {

/// A rate this close to the edge of the measured range counts as inside: counts of the same run by different
/// conventions (operators, parameters) differ by less.
constexpr double kEdge = 0.01;

Result<void> check(const Query& query) {
  const double flops = query.flops.in(units::flop_per_second);
  if (!std::isfinite(flops) || flops < 0) return fail(Errc::usage, "the FLOP rate must be finite and not negative");
  if (query.bytes) {
    const double bytes = query.bytes->in(units::byte_per_second);
    if (!std::isfinite(bytes) || bytes < 0) return fail(Errc::usage, "the byte rate must be finite and not negative");
  }
  if (query.batch && *query.batch < 1) return fail(Errc::usage, fmt::format("batch {} is below 1", *query.batch));
  if (query.sequence && !(*query.sequence > 0 && std::isfinite(*query.sequence))) {
    return fail(Errc::usage, "the sequence length must be positive");
  }
  if (!(query.level > 0 && query.level < 1)) {
    return fail(Errc::usage, fmt::format("level {} does not lie between 0 and 1", query.level));
  }
  return {};
}

Result<const Peak*> require_peak(const Calibration& calibration, units::Precision dtype) {
  if (const Peak* peak = calibration.peak(dtype)) return peak;
  std::string known;
  for (const Peak& peak : calibration.peaks)
    known += (known.empty() ? "" : ", ") + std::string{units::name(peak.dtype)};
  return fail(Errc::usage,
              fmt::format("the calibration of {} has no rows in {}", calibration.device, units::name(dtype)), {},
              known.empty() ? std::string{} : fmt::format("choose among {}, or fit data that has it", known));
}

/// The line that `form` uses for this query, or the reason why there is none.
struct Choice {
  const Line* line = nullptr;
  std::string why_not;
};

Choice cell_line(const Calibration& calibration, const Query& query) {
  if (calibration.lines.cell.empty()) return {nullptr, "the calibration has no cell lines"};
  if (!query.batch) return {nullptr, "a cell needs the batch"};
  const auto found = calibration.lines.cell.find({query.dtype, *query.batch});
  if (found != calibration.lines.cell.end()) return {&found->second, {}};
  return {nullptr, fmt::format("no cell for {} at batch {}", units::name(query.dtype), *query.batch)};
}

Choice dtype_line(const Calibration& calibration, const Query& query) {
  const auto found = calibration.lines.dtype.find(query.dtype);
  if (found != calibration.lines.dtype.end()) return {&found->second, {}};
  return {nullptr, fmt::format("no line for {}", units::name(query.dtype))};
}

Choice linear_line(const Calibration& calibration) {
  if (calibration.lines.linear) return {&*calibration.lines.linear, {}};
  return {nullptr, "the calibration has no linear line"};
}

template <class Text>
void range_flag(Prediction& prediction, std::string_view what, double value, const std::optional<Range>& range,
                const Text& text) {
  if (!range) return;
  if (value >= range->lo * (1 - kEdge) && value <= range->hi * (1 + kEdge)) return;
  const bool above = value > range->hi;
  const double edge = above ? range->hi : range->lo;
  std::string ratio;
  if (edge > 0 && value > 0)
    ratio = fmt::format("{:.3g}x {} ", above ? value / edge : edge / value, above ? "above" : "below");
  else
    ratio = above ? "above " : "below ";
  prediction.flags.push_back(
      {FlagKind::extrapolates, fmt::format("{} {} lies {}the measured range {} to {}", what, text(value), ratio,
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
  if (query.bytes && prediction.form == Form::saturating) {
    range_flag(prediction, "byte rate", query.bytes->in(units::byte_per_second), ranges.bytes_per_second,
               [](double v) { return units::to_text(v * units::byte_per_second); });
  }
  if (query.batch) range_flag(prediction, "batch", static_cast<double>(*query.batch), ranges.batch, plain);
  if (query.sequence) range_flag(prediction, "sequence", *query.sequence, ranges.sequence, plain);
  if (query.batch && query.sequence) {
    range_flag(prediction, "tokens a step", static_cast<double>(*query.batch) * *query.sequence, ranges.tokens_per_step,
               plain);
  }
}

/// ŷ ± t s sqrt(1 + 1/n + (x − x̄)²/Sxx): Draper and Smith, "Applied Regression Analysis", 3rd ed., 1.4.
Result<void> line_interval(const Line& line, double mfu_pct, double level, Prediction& prediction) {
  FLOPWATT_TRY(const double t, stats::students_t_factor(level, static_cast<double>(line.rows - 2)));
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

Result<units::FlopRate> flop_rate(const Calibration& calibration, units::Precision dtype, double mfu) {
  if (!std::isfinite(mfu) || mfu < 0) return fail(Errc::usage, "the MFU must be finite and not negative");
  FLOPWATT_TRY(const Peak* peak, require_peak(calibration, dtype));
  return mfu * peak->rate;
}

Result<Prediction> predict(const Calibration& calibration, const Query& query) {
  FLOPWATT_TRY_VOID(check(query));
  FLOPWATT_TRY(const Peak* peak, require_peak(calibration, query.dtype));
  const double mfu_pct = 100 * (query.flops / peak->rate);

  Prediction prediction;
  prediction.level = query.level;
  prediction.calibration = calibration.device;

  const Form asked = query.form == Form::automatic ? Form::cell : query.form;
  Choice choice;
  std::vector<std::string> why_not;
  const auto attempt = [&](Form form, Choice candidate) {
    if (choice.line != nullptr) return;
    if (candidate.line == nullptr) {
      why_not.push_back(std::move(candidate.why_not));
      return;
    }
    choice = std::move(candidate);
    prediction.form = form;
  };
  if (asked == Form::cell) attempt(Form::cell, cell_line(calibration, query));
  if (asked == Form::cell || asked == Form::dtype) attempt(Form::dtype, dtype_line(calibration, query));
  attempt(Form::linear, linear_line(calibration));
  if (choice.line == nullptr) {
    return fail(Errc::usage, fmt::format("the calibration of {} has no {} model for this: {}", calibration.device,
                                         name(query.form), fmt::join(why_not, "; ")));
  }
  if (prediction.form != asked) {
    prediction.flags.push_back({FlagKind::fallback, fmt::format("{} instead of {}: {}", name(prediction.form),
                                                                name(asked), fmt::join(why_not, "; "))});
  }
  prediction.power = (choice.line->intercept_watts + choice.line->slope_watts_per_pct * mfu_pct) * units::watt;
  FLOPWATT_TRY_VOID(line_interval(*choice.line, mfu_pct, query.level, prediction));

  range_flags(prediction, calibration, query);
  std::optional<units::Power> limit = query.limit;
  if (!limit && calibration.limit_watts) limit = *calibration.limit_watts * units::watt;
  if (limit && prediction.power > *limit) {
    prediction.flags.push_back(
        {FlagKind::above_limit,
         fmt::format("{} exceeds the board limit of {}", units::to_text(prediction.power), units::to_text(*limit))});
  }
  if (calibration.family) {
    prediction.notes.push_back(fmt::format(
        "calibrated on rows that say {} without naming the variant; limits and bandwidth of the variants differ",
        calibration.device));
  }
  return prediction;
}

}  // namespace flopwatt::power
