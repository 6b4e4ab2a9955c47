#include "flopwatt/engine/sweep_meter.hpp"

#include <fmt/format.h>

namespace flopwatt::engine {

Result<std::unique_ptr<sweep::Meter>> open_meter(const sweep::Plan& plan, const std::string& plan_file) {
  using Source = sweep::PowerPlan::Source;
  switch (plan.power.source) {
    case Source::none:
      return sweep::no_meter();
    case Source::synthetic:
      return sweep::synthetic_meter(plan.power, static_cast<std::uint64_t>(plan.seed));
    case Source::automatic:
    case Source::named:
    case Source::recorded:
      break;
  }
  return fail(Errc::unavailable, fmt::format("power.source: no source '{}' on this machine", plan.power.name),
              plan_file, "name another source, or none");
}

}  // namespace flopwatt::engine
