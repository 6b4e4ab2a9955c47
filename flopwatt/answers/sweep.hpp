#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flopwatt/answers/flag.hpp"
#include "flopwatt/sweep/configuration.hpp"
#include "flopwatt/sweep/merge.hpp"
#include "flopwatt/sweep/plan.hpp"
#include "flopwatt/sweep/run.hpp"
#include "flopwatt/sweep/summary.hpp"

namespace flopwatt::answers {

/// `flopwatt sweep PLAN --dry-run`: what would be measured, and what a sweep prints before it starts.
struct SweepPlan {
  sweep::Plan plan;
  std::string store;
  sweep::Shard shard;
  std::vector<sweep::Configuration> configurations;   ///< of the shard, in the plan's order
  std::int64_t all_configurations = 0;                ///< of the plan
  std::int64_t to_run = 0, finished = 0, failed = 0;  ///< repeats
  sweep::TimeEstimate estimate;
  std::vector<std::string> notes;
};

/// `flopwatt sweep report STORE`.
struct SweepReport {
  std::string store;
  std::vector<sweep::Summary> summaries;
  std::vector<Flag> flags;
  std::vector<std::string> notes;
};

/// `flopwatt sweep PLAN`: the report of the store after it.
struct SweepRun {
  SweepPlan plan;
  sweep::SweepCounts counts;
  std::int64_t left = 0;  ///< repeats that remain
  SweepReport report;
};

/// `flopwatt sweep merge OUT IN…`.
struct SweepMerge {
  struct Input {
    std::string store;
    sweep::Merged merged;
  };
  std::string store;
  std::vector<Input> inputs;
  std::int64_t configurations = 0, finished = 0, failed = 0, interrupted = 0, samples = 0;  ///< of OUT now
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
