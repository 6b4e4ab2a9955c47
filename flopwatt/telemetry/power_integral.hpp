#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/trace.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::telemetry {

/// The area under a trace's power readings, and what is missing of it.
struct PowerIntegral {
  units::Energy energy;
  units::Energy uncertainty;
  units::Duration covered;
  std::vector<Gap> gaps;  ///< stretches without power, in order
};

/// Trapezoids over [from, to]; samples farther apart than `longest` have a gap between them.
[[nodiscard]] PowerIntegral integrate_power(const Trace& trace, SteadyTime from, SteadyTime to,
                                            units::Duration longest);

/// Power at a moment, on the line between the readings around it.
struct PowerAt {
  units::Power power;
  std::size_t sample = 0;  ///< a reading that it is made of
};
/// Empty outside of the readings, and between two that lie farther apart than `longest`.
[[nodiscard]] std::optional<PowerAt> power_at(const Trace& trace, SteadyTime time, units::Duration longest);

/// Five times the median distance of the samples in [from, to], at least one second.
[[nodiscard]] units::Duration longest_trapezoid(const Trace& trace, SteadyTime from, SteadyTime to);

}  // namespace flopwatt::telemetry
