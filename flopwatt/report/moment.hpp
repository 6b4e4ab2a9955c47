#pragma once

#include <string>

#include "flopwatt/telemetry/reading.hpp"

namespace flopwatt::report {

/// "2026-05-06T10:00:00.123Z": milliseconds where there are any, more digits never.
[[nodiscard]] std::string moment_text(telemetry::WallTime time);

}  // namespace flopwatt::report
