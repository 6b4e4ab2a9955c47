#pragma once

#include <span>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/log.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"

namespace flopwatt::telemetry {

/// Slurm's accounting: `sacct --parsable2 --format=JobID,Start,End,ConsumedEnergyRaw[,NNodes]` (man sacct).
///
/// ConsumedEnergyRaw is joules of the whole nodes of a job or step, so its scope is `node`: on a shared node it holds
/// what others drew.  Steps are parts of their job.  Empty, 0 and Slurm's "no value" (2^64 − 2) are absent.
[[nodiscard]] bool is_sacct_header(std::string_view line);
[[nodiscard]] Result<Log> read_sacct(std::span<const Line> lines, std::string_view where, const LogOptions& options);

}  // namespace flopwatt::telemetry
