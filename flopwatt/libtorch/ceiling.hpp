#pragma once

#include "flopwatt/base/result.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

namespace flopwatt::libtorch {

/// What the job's device reaches at best in the job's dtype: square matrix products of several sizes, and a copy from
/// one buffer of the device's memory to another, far larger than its caches.  Each size runs for
/// `job.sample_seconds`, in spells of at least a twentieth of a second; the fastest spell counts.  Sizes whose single
/// product takes longer than the time for all are left out.
[[nodiscard]] tl::expected<workload::Ceiling, workload::Failed> measure_ceiling(const workload::Job& job);

}  // namespace flopwatt::libtorch
