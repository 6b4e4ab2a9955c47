#pragma once

#include <optional>
#include <string>

#include "flopwatt/answers/count.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/facts.hpp"

namespace flopwatt::engine {

/// A workload whose open places are filled from the model.
struct WorkloadWords {
  work::Workload workload;                ///< its `sequence` and `precision` are filled from the next two
  std::optional<std::int64_t> sequence;   ///< absent: 2048, or what the model was built for where that is less
  std::optional<units::Precision> dtype;  ///< absent: the model's own, or else bfloat16
};

/// Fills the open places, and says so in `notes`, as it does of options that the phase or the model leaves without
/// effect.  Errc::usage at the option for two that contradict each other, or that mean nothing without another.
[[nodiscard]] Result<work::Workload> complete(const WorkloadWords& words, const model::Architecture& architecture,
                                              std::vector<std::string>& notes);

struct CountRequest {
  std::string model, as_family;
  WorkloadWords workload;
  std::optional<work::Formula> formula;  ///< shown as the step in place of the exact count
  std::string checkpoint;                ///< to hold the census against (checkpoint.hpp); empty: none
};

/// A plan that does not divide is an answer (`infeasible`), not an error.
/// Errors: those of Facts::model, work::count and read_checkpoint; Errc::usage for a formula of a phase that is not
/// training.
[[nodiscard]] Result<answers::Count> count(const Facts& facts, const CountRequest& request);

}  // namespace flopwatt::engine
