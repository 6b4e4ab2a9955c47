#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/flag.hpp"
#include "flopwatt/audit/audit.hpp"
#include "flopwatt/device/device.hpp"
#include "flopwatt/metrics/utilization.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/units/quantity.hpp"
#include "flopwatt/work/formula.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/workload.hpp"

namespace flopwatt::answers {

/// An estimate of the same work by a published formula, and the MFU that it would give.
struct OtherCount {
  work::Comparison comparison;
  double mfu = 0;
};

/// An MFU that somebody reports for the same run, and what it was divided by.
struct ReportedMfu {
  double mfu = 0;
  audit::ImpliedPeak implied;
};

/// `flopwatt mfu`: the utilisation that a measured rate means.
struct Mfu {
  model::Architecture architecture;
  work::Workload workload;   ///< of the whole job
  std::int64_t devices = 1;  ///< that share the job, data-parallel
  device::Device device;
  device::Peak peak;

  units::Duration elapsed;           ///< of one step, or of the whole generation
  units::TokenRate job_tokens;       ///< of the whole job
  work::Totals job;                  ///< work of the whole job
  metrics::Utilization utilization;  ///< of one device
  /// What the MFU of the same run would be under the default conventions; absent where those were used.
  std::optional<double> default_conventions_mfu;
  metrics::MbuDefinition mbu_definition = metrics::MbuDefinition::step;
  std::vector<OtherCount> other_counts;  ///< training only
  std::optional<ReportedMfu> reported;
  std::vector<Flag> flags;
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
