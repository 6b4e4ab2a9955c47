#include <fmt/format.h>

#include <cmath>

#include "flopwatt/power/predict.hpp"
#include "flopwatt/power/predict_parts.hpp"
#include "flopwatt/power/prior.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::power {
namespace {

/// The prior's parameters at this device's limit, idle power, peak and bandwidth.
Saturating scaled(const DevicePrior& prior, const Prior& device, units::Precision dtype) {
  const double limit = device.limit.in(units::watt);
  const double idle = device.idle ? device.idle->in(units::watt) : prior.idle_over_limit * limit;
  Saturating model;
  model.floor_watts = prior.floor_over_idle * idle;
  model.joules_per_flop[dtype] = prior.compute_over_limit * limit / device.peak->in(units::flop_per_second);
  if (device.bandwidth) {
    model.joules_per_byte = prior.memory_over_limit * limit / device.bandwidth->in(units::byte_per_second);
  }
  model.activation_factor = prior.activation_factor;
  model.cap_watts = prior.cap_over_limit * limit;
  model.softness_watts = prior.softness_over_limit * limit;
  return model;
}

}  // namespace

Result<Prediction> predict_uncalibrated(std::string_view device, const Prior& known, const Query& query) {
  FLOPWATT_TRY_VOID(check(query));
  if (!(known.limit.in(units::watt) > 0) || !std::isfinite(known.limit.in(units::watt))) {
    return fail(Errc::usage, fmt::format("{} has neither a calibration nor a known board limit", device), {},
                "state --tdp-w or give a calibration");
  }
  if (!known.peak || !(known.peak->in(units::flop_per_second) > 0)) {
    return fail(Errc::usage,
                fmt::format("{} has neither a calibration nor a known peak in {}", device, units::name(query.dtype)),
                {}, "state --peak-tflops or give a calibration");
  }
  FLOPWATT_TRY(const DevicePrior prior, shipped_prior());
  const Saturating model = scaled(prior, known, query.dtype);

  Prediction prediction;
  prediction.form = Form::saturating;
  prediction.level = query.level;
  const auto traffic = traffic_of(query, prior.traffic_per_mbu_byte);
  prediction.power = model.watts(query.dtype, query.flops, traffic.value_or(Traffic{})) * units::watt;
  prediction.flags.push_back(
      {FlagKind::uncalibrated,
       fmt::format("no measurement of {}: what {} measured devices have in common, scaled to its "
                   "limit of {}",
                   device, prior.devices.size(), units::to_text(known.limit))});
  if (!traffic) prediction.notes.push_back("no byte rate is known: the memory's share of the power is left out");
  if (traffic && !query.traffic) prediction.notes.push_back(traffic_note(prior.traffic_per_mbu_byte));
  if (!known.bandwidth && traffic) {
    prediction.notes.push_back("the memory bandwidth is not known: the memory's share of the power is left out");
  }
  if (!known.idle) prediction.notes.push_back("the idle power is not known: the usual share of the limit is taken");

  const auto percentile = static_cast<std::size_t>(std::ceil(100 * query.level - 1e-9));
  if (percentile > 99) {
    return fail(Errc::usage, fmt::format("no interval at level {} for a device without calibration", query.level), {},
                "ask for at most 0.99");
  }
  const double bound = prior.error_percentiles_pct[percentile - 1];
  prediction.lo = prediction.power * (1 - bound / 100);
  prediction.hi = prediction.power * (1 + bound / 100);
  prediction.interval_method = "errors on each measured device with what the others have in common";
  FLOPWATT_TRY_VOID(settle(prediction));
  limit_flag(known.limit, prediction);
  return prediction;
}

}  // namespace flopwatt::power
