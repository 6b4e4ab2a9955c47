#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/stamp.hpp"

namespace flopwatt::engine {

/// One line of a step log.
struct LoggedStep {
  std::size_t line = 0;
  std::optional<telemetry::Stamp> start, end;
  std::optional<double> seconds, tokens, flops;
};

struct StepLog {
  std::vector<LoggedStep> steps;
  bool torn_tail = false;
  std::size_t records_of_other_kinds = 0;  ///< lines of a JSONL that are no steps: "kind" is neither "step" nor missing
};

/// Reads a step log, JSON lines or CSV.  Names, in any case: `start`, `start_time`; `end`, `end_time`, `timestamp`,
/// `time`, `ts`, `unix_time_seconds` (when the step ended); `step_time_seconds`, `step_time`, `duration_seconds`,
/// `elapsed_seconds`, `iteration_time`, `step_time_ms`; `tokens`, `num_tokens`, `step_tokens`, `slots`;
/// `model_flops`, `flops`.  A last line that was cut is left out.
///
/// Errc::bad_data at WHERE:LINE for what is neither, for a step without time, tokens and FLOPs, for a value that is no
/// number, negative or not finite.
[[nodiscard]] Result<StepLog> read_step_log(std::string_view bytes, std::string_view where);

}  // namespace flopwatt::engine
