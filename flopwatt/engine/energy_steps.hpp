#pragma once

#include <optional>
#include <vector>

#include "flopwatt/answers/energy.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/energy.hpp"
#include "flopwatt/engine/energy_logs.hpp"

namespace flopwatt::engine {

/// Steps of a step log, on the clock of the energy logs.
struct StepsInTime {
  answers::EnergySteps steps;
  /// From the beginning of the first to the end of the last; empty where the step log does not say when they were.
  std::optional<telemetry::SteadyTime> from, to;
};

/// Reads the step log.  A step between two stamps, where only its end is logged, begins at the end of the one before:
/// the first such line only tells when the second step began, and its tokens are left out.
[[nodiscard]] Result<StepsInTime> read_steps(const EnergyRequest& request, const std::vector<LoggedDevice>& devices,
                                             answers::Energy& answer);

/// Energy, J/token, FLOP/J and MFU of the steps, once the devices have been measured over their window.
[[nodiscard]] Result<void> price_steps(const Facts& facts, const EnergyRequest& request, answers::EnergySteps steps,
                                       answers::Energy& answer);

}  // namespace flopwatt::engine
