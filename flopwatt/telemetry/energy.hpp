#pragma once

/// Energy over a window, with how it was found and how far it may be wrong.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "flopwatt/telemetry/reading.hpp"
#include "flopwatt/telemetry/trace.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::telemetry {

enum class EnergyMethod : std::uint8_t {
  none,            ///< no energy could be told
  counter,         ///< difference of the device's energy counter
  power_integral,  ///< trapezoids under the power readings
  mixed,           ///< counter, with the power integral where the counter failed
};
[[nodiscard]] std::string_view key(EnergyMethod method) noexcept;

/// A stretch in which the better reading failed.
struct Gap {
  SteadyTime from{};
  SteadyTime to{};
  Absence reason = Absence::no_samples;
  bool filled = false;  ///< by the power integral; otherwise its energy is missing from the total
};

/// What makes a figure weaker than it looks.
enum class EnergyFlag : std::uint8_t {
  averaged_power,      ///< the power readings are means over a second
  window_too_short,    ///< the window is shorter than twice the sensor's averaging window or update period
  part_time_sampling,  ///< the sensor looks only part of the time: loads that beat with its period mislead it
  sparse_samples,      ///< fewer than ten samples, or a sample missing for long
  incomplete,          ///< a gap was not filled: energy is a lower bound
  shared_device,       ///< other processes ran on the device: the energy is theirs too
  few_idle_readings,   ///< the lowest tenth that is the idle baseline holds fewer than five readings
  idle_above_mean,     ///< the idle baseline is above the mean power: the dynamic energy is negative
  recorded,            ///< from a recorded or synthetic source, no measurement of this machine
};
[[nodiscard]] std::string_view key(EnergyFlag flag) noexcept;
[[nodiscard]] std::string_view text(EnergyFlag flag) noexcept;

struct EnergyOptions {
  bool use_counter = true;
  /// Two power samples farther apart than this have a gap between them, not a trapezoid.  Empty: five times the median
  /// distance of the samples, at least one second.
  std::optional<units::Duration> longest_trapezoid;
  /// A counter that has not moved for so long while power says otherwise is stuck.
  units::Duration stuck_after = 1 * units::second;
  /// What the device draws when nothing runs; empty: the lowest tenth of the trace (idle_power).
  std::optional<units::Power> idle;
};

struct WindowEnergy {
  SteadyTime from{};
  SteadyTime to{};
  EnergyMethod method = EnergyMethod::none;
  Scope scope = Scope::unknown;
  PowerKind power_kind = PowerKind::unknown;
  Reading<units::Energy> energy;          ///< absent: the reason why it cannot be told
  units::Energy uncertainty;              ///< half-width: counter step, times of reading, shape between samples, sensor
  units::Duration duration;               ///< to − from
  units::Duration covered;                ///< of which the energy tells
  Reading<units::Power> mean_power;       ///< energy / covered
  Reading<units::Power> peak_power;       ///< highest reading in the window or interpolated at its ends (of its kind)
  Reading<units::Power> idle_power;       ///< baseline
  std::size_t idle_lowest = 0;            ///< readings that the baseline is the mean of; 0 if it was given or is absent
  std::size_t idle_readings = 0;          ///< of so many; 0 if it was given
  Reading<units::Energy> dynamic_energy;  ///< energy − idle · covered
  std::size_t samples = 0;                ///< in the window
  std::vector<Gap> gaps;
  std::vector<EnergyFlag> flags;

  [[nodiscard]] bool has(EnergyFlag flag) const;
};

/// Energy of [from, to].  The ends are interpolated between the samples around them.
///
/// The integral is made of trapezoids.  Where readings are means over a known window w and samples lie closer than w/2,
/// it is exact instead: a mean ending at t, times w, is the energy of [t − w, t], and such tiles are laid from the end.
///
/// Uncertainty of the counter: the larger of its resolution and mean power · update period, plus mean power · errors of
/// the times.  Of the integral: root of the sum of (½·ΔP·Δt)², since power may take any way between two samples, plus
/// what the averaging window hides at both ends.  Plus the sensor's relative accuracy where it is known.
///
/// The counter is used where it works: over each stretch between two of its steps the difference, modulo its range
/// where that is known.  Where it fell otherwise, is absent or stands still, the stretch is a Gap with its reason,
/// filled by the power integral if there are power readings.  The result is never negative and never more than one
/// range.
[[nodiscard]] WindowEnergy energy_over(const Trace& trace, SteadyTime from, SteadyTime to,
                                       const EnergyOptions& options = {});
/// Of the whole trace.
[[nodiscard]] WindowEnergy energy_of(const Trace& trace, const EnergyOptions& options = {});

/// More than any device of this scope draws: tells a wrap from a reset, and one wrap from two.  Generous round numbers:
/// a socket 1 kW, an accelerator 3 kW, a module 6 kW, a node or meter 50 kW.
[[nodiscard]] units::Power plausible_power(Scope scope) noexcept;

/// What a counter gained between two reads: modulo its range if it fell and the range is known.  Otherwise the reason:
/// range_unknown; counter_reset if the wrap would mean more than `max_power`; garbage if the difference itself would;
/// wrapped_twice if a further round of the counter would still mean less than `max_power`.
[[nodiscard]] Reading<units::Energy> counter_difference(units::Energy before, units::Energy after,
                                                        units::Duration elapsed, std::optional<units::Energy> range,
                                                        units::Power max_power) noexcept;

/// Mean power between two steps of a counter.
struct CounterPower {
  SteadyTime from{};
  SteadyTime to{};
  units::Power power;
};
/// Power as the counter tells it, between the moments at which the counter moved: a counter that publishes in batches
/// gives neither zeros nor double values.
[[nodiscard]] std::vector<CounterPower> counter_power(const Trace& trace);

/// What a device draws when nothing runs, as far as its readings tell.
struct IdleBaseline {
  Reading<units::Power> power;  ///< mean of the lowest
  std::size_t lowest = 0;       ///< readings that it is the mean of; 0 where it is absent
  std::size_t readings = 0;     ///< of so many
};
/// A tenth of fewer readings is less than one of them.
inline constexpr std::size_t kFewestForIdle = 10;
/// The mean of the lowest tenth, rounded up, of the power readings in [from, to]: of 20 readings two.  Where there are
/// none, of the powers that the counter tells.  Absent for no_samples with fewer than kFewestForIdle.
[[nodiscard]] IdleBaseline idle_power(const Trace& trace, SteadyTime from, SteadyTime to);

}  // namespace flopwatt::telemetry
