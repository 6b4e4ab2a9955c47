#include "flopwatt/power/predict_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flopwatt/stats/conformal.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::power {
namespace {

Result<void> check_rate(double rate, std::string_view what) {
  if (std::isfinite(rate) && rate >= 0) return {};
  return fail(Errc::usage, fmt::format("the {} rate must be finite and not negative", what));
}

}  // namespace

Result<void> check(const Query& query) {
  FLOPWATT_TRY_VOID(check_rate(query.flops.in(units::flop_per_second), "FLOP"));
  if (query.bytes) FLOPWATT_TRY_VOID(check_rate(query.bytes->in(units::byte_per_second), "byte"));
  if (query.traffic) {
    FLOPWATT_TRY_VOID(check_rate(query.traffic->parameters.in(units::byte_per_second), "parameter byte"));
    FLOPWATT_TRY_VOID(check_rate(query.traffic->activations.in(units::byte_per_second), "activation byte"));
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

std::optional<Traffic> traffic_of(const Query& query, std::optional<double> traffic_per_mbu_byte) {
  if (query.traffic) return query.traffic;
  if (!query.bytes || !traffic_per_mbu_byte) return std::nullopt;
  return Traffic{*traffic_per_mbu_byte * *query.bytes, {}};
}

std::string traffic_note(double traffic_per_mbu_byte) {
  return fmt::format(
      "the MBU was taken as parameter traffic, {:.3g} bytes moved a byte counted, as in the calibrated runs; naming "
      "the "
      "model, batch and sequence is more exact",
      traffic_per_mbu_byte);
}

Result<void> conformal_interval(std::span<const std::vector<double>> scores_pct, Prediction& prediction) {
  std::vector<double> scores;
  std::vector<std::size_t> group;
  for (std::size_t i = 0; i < scores_pct.size(); ++i) {
    for (const double score : scores_pct[i]) {
      scores.push_back(score);
      group.push_back(i);
    }
  }
  FLOPWATT_TRY(const std::optional<double> bound, stats::conformal_bound(scores, group, prediction.level));
  if (!bound) {
    FLOPWATT_TRY(const std::size_t needed, stats::groups_needed(prediction.level));
    return fail(Errc::usage,
                fmt::format("an interval at level {} needs {} held-out configurations, the calibration has {}",
                            prediction.level, needed, scores_pct.size()),
                {}, "ask for a lower level");
  }
  prediction.lo = prediction.power * (1 - *bound / 100);
  prediction.hi = prediction.power * (1 + *bound / 100);
  prediction.interval_method =
      "split conformal over configurations, on the errors of rows whose model was held out of the fit";
  return {};
}

Result<void> settle(Prediction& prediction) {
  for (const units::Power value : {prediction.power, prediction.lo, prediction.hi}) {
    if (!std::isfinite(value.in(units::watt))) {
      return fail(Errc::usage, "the power at these rates is not finite", {}, "check the rates and the calibration");
    }
  }
  if (prediction.power < units::Power{}) {
    const std::string whose = prediction.calibration.empty() ? std::string{"what measured devices have in common"}
                                                             : "the calibration of " + prediction.calibration;
    return fail(Errc::bad_data,
                fmt::format("{} gives {:.4g} W at these rates by its {} model, and no device draws less than nothing",
                            whose, prediction.power.in(units::watt), name(prediction.form)),
                {}, "choose another --power-model, or fit rows that reach these rates");
  }
  prediction.lo = std::max(prediction.lo, units::Power{});
  return {};
}

void limit_flag(const std::optional<units::Power>& limit, Prediction& prediction) {
  if (!limit || !(prediction.power > *limit)) return;
  prediction.flags.push_back(
      {FlagKind::above_limit,
       fmt::format("{} exceeds the board limit of {}", units::to_text(prediction.power), units::to_text(*limit))});
}

}  // namespace flopwatt::power
