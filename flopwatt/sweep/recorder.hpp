#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/sweep/convergence.hpp"
#include "flopwatt/sweep/measure.hpp"
#include "flopwatt/sweep/one_run.hpp"
#include "flopwatt/sweep/run.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

namespace flopwatt::sweep {

/// Puts the events of one run, one after the other, into the store, and says when the run is over.
class Recorder {
 public:
  /// All but `job` and `run` must outlive it; `run` stands in the store.
  Recorder(const Plan& plan, const model::Architecture& architecture, const Configuration& configuration,
           workload::Job job, Store& store, const Machine& machine, RunRecord run);

  [[nodiscard]] const workload::Job& job() const noexcept { return job_; }
  [[nodiscard]] RunRecord& run() noexcept { return run_; }

  /// For a run that goes on after an interruption: the samples that it has count.
  [[nodiscard]] Result<void> load();
  /// An ending where the run is over: converged, capped, or events that no workload of ours sends.  Errors: the
  /// store's.
  [[nodiscard]] Result<std::optional<Ending>> take(const workload::Event& event, Progress& progress);

 private:
  using Taken = Result<std::optional<Ending>>;
  [[nodiscard]] Taken on_ready(const workload::Ready& ready, Progress& progress);
  [[nodiscard]] Taken on_warm(const workload::Warm& warm, Progress& progress);
  [[nodiscard]] Taken on_sample(const workload::Sample& sample, Progress& progress);
  /// Counts the step for what the tensors hold and the attention that ran.
  [[nodiscard]] Taken recount(std::optional<bool> fused);
  [[nodiscard]] Result<void> leave_behind();
  [[nodiscard]] std::uint64_t seed_of(std::int64_t number) const;
  void add(const SampleRecord& sample);

  const Plan& plan_;
  const model::Architecture& architecture_;
  const Configuration& configuration_;
  workload::Job job_;
  Store& store_;
  const Machine& machine_;
  RunRecord run_;
  std::optional<workload::Ready> ready_;
  bool warm_ = false;
  Denominators denominators_;
  StepWork work_;
  Spread mfu_, utilization_;
  std::int64_t number_ = 0, life_ = 1;
};

}  // namespace flopwatt::sweep
