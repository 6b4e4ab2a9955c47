#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/track/window.hpp"

/// The whole job from what its ranks wrote, after the fact: nothing in the loop waits for another rank.

namespace flopwatt::track {

/// What one rank's last "run" line says.
struct RankRun {
  std::int64_t rank = 0, ranks = 1, devices = 1;
  std::int64_t steps = 0;
  units::Duration in_steps, wall;
  units::FlopCount model_flops;
  std::int64_t slots = 0;
  std::optional<std::int64_t> non_padding;
  std::optional<units::FlopRate> peak;
  std::optional<units::Energy> energy;
};

/// The last "run" line of a file that jsonl_sink wrote (the last "window" lines are of no use here); a torn last line
/// is skipped.  Errc::bad_data at WHERE for a text without one.
[[nodiscard]] Result<RankRun> read_run(std::string_view jsonl, const std::string& where);

struct GlobalRun {
  std::int64_t ranks = 0, devices = 0, steps = 0;
  units::Duration in_steps, wall;                     ///< of the slowest rank: the job waits for it
  units::TokenRate slots_per_second;                  ///< of all ranks
  std::optional<units::TokenRate> tokens_per_second;  ///< non-padding; absent where any rank does not tell
  Ratio mfu;  ///< all FLOPs over the slowest rank's time in steps and the peaks of all devices
  std::optional<double> slowest_rank_mfu, fastest_rank_mfu;
  std::optional<units::Energy> energy;
};

/// Errors: Errc::usage for no runs, a rank that is missing or there twice, ranks that count each other differently,
/// or that made different numbers of steps.
[[nodiscard]] Result<GlobalRun> combine(std::span<const RankRun> runs);

}  // namespace flopwatt::track
