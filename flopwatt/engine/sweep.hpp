#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/sweep.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/facts.hpp"

namespace flopwatt::engine {

struct SweepRequest {
  std::string plan;   ///< file
  std::string store;  ///< file; empty: the plan's name with .sqlite (a shard's number before it), in this folder
  sweep::Shard shard;
  bool retry_failed = false;
  std::optional<workload::Padding> padding;  ///< in place of the plan's
};

/// What would be measured; writes nothing.  Errors: those of read_plan, of models that cannot be found (Errc::bad_data
/// at the plan) and of a store that is no store.
[[nodiscard]] Result<answers::SweepPlan> plan_sweep(const Facts& facts, const SweepRequest& request);

struct SweepWatch {
  std::function<void(const answers::SweepPlan&)> before;  ///< called once, before the first run
  std::function<void(const sweep::Progress&)> progress;
  std::function<bool()> stop;
};
/// Measures what remains.  Errors: as above; Errc::unavailable for a workload program or a power source that is not
/// there.  Runs that failed, a sweep that was stopped, and one that a full disk ended are answers.
[[nodiscard]] Result<answers::SweepRun> run_sweep(const Facts& facts, const SweepRequest& request,
                                                  const SweepWatch& watch);

[[nodiscard]] Result<answers::SweepReport> report_sweep(const std::string& store);

/// Joins `inputs` into `out`, which may exist.
[[nodiscard]] Result<answers::SweepMerge> merge_sweeps(const std::string& out, const std::vector<std::string>& inputs);

/// The samples as CSV in the study's columns; the models as a catalogue file.
[[nodiscard]] Result<std::string> export_samples(const std::string& store);
[[nodiscard]] Result<std::string> export_models(const std::string& store);

}  // namespace flopwatt::engine
