#pragma once

#include "flopwatt/power/calibration.hpp"
#include "flopwatt/units/quantity.hpp"
#include "flopwatt/work/ledger.hpp"

namespace flopwatt::power {

/// What a step that takes `step_time` moves a second.  `totals` are those of the eager ledger of what really runs
/// (work::Execution::eager).  Logits are left out: in cross-validation their bytes explained no device's power.
[[nodiscard]] Traffic traffic(const work::Totals& totals, units::Duration step_time) noexcept;

}  // namespace flopwatt::power
