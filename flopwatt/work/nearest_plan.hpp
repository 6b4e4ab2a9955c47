#pragma once

#include <optional>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/work/workload.hpp"

namespace flopwatt::work {

/// The plan next to one that does not divide: each degree at fault is replaced by the nearest one that works, the
/// smaller of two, in the order in which the faults are found; stages of other lengths become even ones.  Nothing where
/// that does not end in a plan, or where the workload is refused for another reason.
[[nodiscard]] std::optional<Parallel> nearest_plan(const model::Architecture& architecture, const Workload& workload);

}  // namespace flopwatt::work
