#pragma once

#include <span>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/log.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"

namespace flopwatt::telemetry {

/// System metrics of Weights & Biases as CSV, from `run.history(stream="events")` or from the page's export: a column a
/// metric, told by the end of its name, whatever stands before it: "system.gpu.0.powerWatts",
/// "run-7 - system/gpu.0.powerWatts" (wandb SDK reference, system metrics).  Time is `_timestamp`, else `_runtime` or
/// "Relative Time …".  The columns "…__MIN" and "…__MAX" of an export are left out.
[[nodiscard]] bool is_wandb_header(std::string_view line);
[[nodiscard]] Result<Log> read_wandb_csv(std::span<const Line> lines, std::string_view where,
                                         const LogOptions& options);

}  // namespace flopwatt::telemetry
