#pragma once

#include <optional>
#include <string>

#include "flopwatt/answers/mfu.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/count.hpp"
#include "flopwatt/engine/facts.hpp"

namespace flopwatt::engine {

struct MfuRequest {
  std::string model, as_family;
  WorkloadWords workload;  ///< of the whole job
  DeviceWords device;
  std::int64_t devices = 1;
  metrics::MbuDefinition mbu = metrics::MbuDefinition::step;
  /// Exactly one of them: tokens of the whole job a second; the time of one step, pass or generation.
  std::optional<double> tokens_per_second, elapsed_seconds;
  std::optional<double> reported_mfu;  ///< a fraction that somebody reports for this run: what was it divided by?
};

/// Errors: those of Facts, work::count, device::peak and metrics::utilization; Errc::usage unless one rate is given.
[[nodiscard]] Result<answers::Mfu> mfu(const Facts& facts, const MfuRequest& request);

}  // namespace flopwatt::engine
