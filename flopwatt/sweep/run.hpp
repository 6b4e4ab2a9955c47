#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/sweep/configuration.hpp"
#include "flopwatt/sweep/meter.hpp"
#include "flopwatt/sweep/plan.hpp"
#include "flopwatt/sweep/store.hpp"

/// Runs a plan into a store.

namespace flopwatt::sweep {

/// What is still to be measured of a plan, against a store; without one everything is.
struct Remaining {
  std::vector<Repeat> runs;   ///< in their order
  std::int64_t finished = 0;  ///< repeats that need nothing more
  std::int64_t failed = 0;    ///< repeats that are left as they failed
};
[[nodiscard]] Remaining remaining(std::span<const Configuration> configurations, const Plan& plan,
                                  std::span<const RunRecord> runs, bool retry_failed);

/// How long runs take when all of them stop as early, or as late, as the protocol lets them; starts, warm-ups and steps
/// longer than a sample come on top.
struct TimeEstimate {
  units::Duration least, most;
};
[[nodiscard]] TimeEstimate estimate(const Plan& plan, std::int64_t runs, bool idle);

/// Where a sweep stands, for whoever watches it.
struct Progress {
  enum class Phase : std::uint8_t { idle, ceiling, cooldown, start, warmup, sampling, ended };
  Phase phase = Phase::start;
  std::int64_t run = 0, runs = 0;  ///< the one that is measured, from 1, of this call
  std::string configuration;       ///< in words; the dtype of a ceiling
  std::int64_t repeat = 0, samples = 0;
  std::optional<double> mfu, half_width;
  std::optional<units::Duration> left;  ///< by the runs of this call so far
  std::string outcome;                  ///< of a run that ended: "converged", "out_of_memory: …"
};

struct Machine {
  std::vector<std::string> workload;  ///< program and arguments
  std::string host;
  const device::Catalogue* catalogue = nullptr;
  Meter* meter = nullptr;
  std::function<bool()> stop;                     ///< asked often: true ends the sweep
  std::function<void(const Progress&)> progress;  ///< may be empty
};

struct SweepCounts {
  std::int64_t finished = 0, failed = 0;  ///< runs of this call
  bool interrupted = false;
  std::optional<Error> ended_by;  ///< what ended the call early: a store that cannot be written, no workload to start
  std::vector<std::string> notes;
};

/// Measures what remains of the plan.  `models` and `architectures` in the order of plan.models; the store knows the
/// plan and the configurations.  What goes wrong in a run is a row with a reason, and the next run follows; an error of
/// the store, and Errc::unavailable for a workload that cannot be started at all, end the call (`ended_by`).
[[nodiscard]] SweepCounts run(const Plan& plan, std::span<const Model> models,
                              std::span<const model::Architecture> architectures,
                              std::span<const Configuration> configurations, const Remaining& remaining, Store& store,
                              const Machine& machine);

}  // namespace flopwatt::sweep
