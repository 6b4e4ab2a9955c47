#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/verify.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/work/conventions.hpp"
#include "flopwatt/work/formula.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/traffic.hpp"
#include "flopwatt/work/workload.hpp"

namespace flopwatt::answers {

/// Why a plan cannot work, and the nearest one that can.
struct Infeasible {
  Error error;  ///< Errc::infeasible; `where` names the option
  std::optional<work::Parallel> nearest;
};

/// `flopwatt count`: what a model holds and what one pass of a workload does.
struct Count {
  model::Architecture architecture;
  work::Workload workload;
  std::optional<work::Formula> formula;  ///< that replaces the exact count of the step; absent: none

  /// The plan does not divide: nothing is known of ledger, totals, conventions, memory and weight traffic.
  std::optional<Infeasible> infeasible;

  model::Census census;
  work::Ledger ledger;
  work::Totals totals;
  work::ConventionEffects conventions;  ///< what the choice of conventions does to the model FLOPs
  work::Memory memory;
  units::Count kv_cache_bytes_per_token;
  work::WeightTraffic weight_traffic;
  std::vector<work::Comparison> comparisons;  ///< published estimates of the same training step; else empty

  [[nodiscard]] const work::Comparison* comparison(work::Formula formula_asked) const noexcept {
    for (const work::Comparison& c : comparisons) {
      if (c.formula == formula_asked) return &c;
    }
    return nullptr;
  }
  std::optional<model::Verification> verification;  ///< against the checkpoint that the caller named
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
