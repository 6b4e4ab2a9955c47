#include <cmath>

#include "flopwatt/telemetry/energy.hpp"

namespace flopwatt::telemetry {

using units::Duration;
using units::Energy;
using units::Power;

Power plausible_power(Scope scope) noexcept {
  switch (scope) {
    case Scope::package:
    case Scope::core:
    case Scope::uncore:
    case Scope::dram:
      return 1 * units::kilowatt;
    case Scope::device:
    case Scope::partition:
    case Scope::rail:
      return 3 * units::kilowatt;
    case Scope::module:
    case Scope::platform:
      return 6 * units::kilowatt;
    case Scope::node:
    case Scope::external_meter:
    case Scope::unknown:
      break;
  }
  return 50 * units::kilowatt;
}

Reading<Energy> counter_difference(Energy before, Energy after, Duration elapsed, std::optional<Energy> range,
                                   Power max_power) noexcept {
  const double from = before.in(units::joule);
  const double to = after.in(units::joule);
  if (!std::isfinite(from) || !std::isfinite(to) || from < 0 || to < 0 || elapsed < Duration{}) return Absence::garbage;
  // The counter may be up to a tenth of a second behind its clock: that much is no evidence.
  const Energy most = max_power * (elapsed + 100 * units::millisecond);
  const bool fell = after < before;
  if (fell && !range) return Absence::range_unknown;
  if (range && (before > *range || after > *range)) return Absence::garbage;
  const Energy difference = fell ? *range - before + after : after - before;
  if (difference > most) return fell ? Absence::counter_reset : Absence::garbage;
  if (range && difference + *range <= most) return Absence::wrapped_twice;
  return difference;
}

std::vector<CounterPower> counter_power(const Trace& trace) {
  const CounterTraits& traits = trace.device().counter;
  const Power most = traits.max_power.value_or(plausible_power(trace.device().scope));
  std::vector<CounterPower> result;
  const Snapshot* last = nullptr;  // at the last step
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Snapshot& now = trace[i];
    if (!now.energy) continue;
    if (last == nullptr) {
      last = &now;
      continue;
    }
    if (*now.energy == *last->energy) continue;
    const Duration elapsed = to_duration(now.time - last->time);
    const Reading<Energy> gained = counter_difference(*last->energy, *now.energy, elapsed, traits.range, most);
    if (gained && elapsed > Duration{}) result.push_back({last->time, now.time, *gained / elapsed});
    last = &now;
  }
  return result;
}

}  // namespace flopwatt::telemetry
