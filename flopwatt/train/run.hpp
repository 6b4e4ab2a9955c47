#pragma once

#include <optional>

#include "flopwatt/base/result.hpp"
#include "flopwatt/power/predict.hpp"
#include "flopwatt/units/quantity.hpp"

/// A training run on one device: the step, priced, times the number of steps.

namespace flopwatt::train {

/// How long the run is.  Tokens need not be a multiple of a step's: the cost of a token is the same either way.
struct Length {
  std::optional<double> tokens, steps;  ///< at most one; neither: one step
};

/// What energy costs, outside the device.
struct Tariff {
  double pue = 1;                          ///< facility energy / device energy, ≥ 1
  std::optional<double> carbon_g_per_kwh;  ///< grams of CO2 equivalent
  std::optional<double> price_per_kwh;     ///< any currency
};

/// A value with the interval that its power has.
template <class Quantity>
struct Spread {
  Quantity mean{}, lo{}, hi{};
};

struct Run {
  units::Duration time;
  double steps = 0, tokens = 0;
  Spread<units::Energy> device_energy;
  Spread<units::Energy> facility_energy;  ///< device energy · PUE
  std::optional<Spread<double>> carbon_grams;
  std::optional<Spread<double>> price;
};

/// The run whose steps take `step`, each of `tokens_per_step` tokens, at the predicted power.
/// Errors: Errc::usage where a figure is out of range or the result has no finite value.
[[nodiscard]] Result<Run> price(units::Duration step, double tokens_per_step, const power::Prediction& power,
                                const Length& length, const Tariff& tariff);

}  // namespace flopwatt::train
