#pragma once

#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/log.hpp"

namespace flopwatt::telemetry {

/// `rocm-smi --showpower … --json`: an object of cards, printed once each call.
///
/// Power is "Current Socket Graphics Package Power (W)" where that is a number, else "Average Graphics Package Power
/// (W)" (the names of MI300 and of what came before it).  A card whose power is "N/A (Secondary die)" is the second
/// half of the package of the card before it: that one's reading then covers both (scope module, two dies).
[[nodiscard]] Result<Log> read_rocm_smi_json(std::string_view text, std::string_view where, const LogOptions& options);

/// `amd-smi metric … --json [--watch]`: a list of devices, or an object with one under "gpu_data".
[[nodiscard]] Result<Log> read_amd_smi_json(std::string_view text, std::string_view where, const LogOptions& options);

}  // namespace flopwatt::telemetry
