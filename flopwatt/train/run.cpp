#include "flopwatt/train/run.hpp"

#include <cmath>

namespace flopwatt::train {
namespace {

using units::kilowatt_hour;

Spread<double> times_kwh(const Spread<units::Energy>& energy, double per_kwh) {
  return {energy.mean.in(kilowatt_hour)*per_kwh, energy.lo.in(kilowatt_hour)*per_kwh,
          energy.hi.in(kilowatt_hour)*per_kwh};
}

}  // namespace

Result<Run> price(units::Duration step, double tokens_per_step, const power::Prediction& power, const Length& length,
                  const Tariff& tariff) {
  if (!(tariff.pue >= 1)) return fail(Errc::usage, "a PUE is at least 1", "--pue");
  Run run;
  run.steps = length.tokens ? *length.tokens / tokens_per_step : length.steps.value_or(1);
  run.tokens = run.steps * tokens_per_step;
  run.time = run.steps * step;
  run.device_energy = {power.power * run.time, power.lo * run.time, power.hi * run.time};
  run.facility_energy = {tariff.pue * run.device_energy.mean, tariff.pue * run.device_energy.lo,
                         tariff.pue * run.device_energy.hi};
  if (tariff.carbon_g_per_kwh) run.carbon_grams = times_kwh(run.facility_energy, *tariff.carbon_g_per_kwh);
  if (tariff.price_per_kwh) run.price = times_kwh(run.facility_energy, *tariff.price_per_kwh);
  const double largest = run.facility_energy.hi.in(units::joule) + (run.carbon_grams ? run.carbon_grams->hi : 0) +
                         (run.price ? run.price->hi : 0);
  if (!std::isfinite(largest)) return fail(Errc::usage, "the run is so long that its energy has no finite value");
  return run;
}

}  // namespace flopwatt::train
