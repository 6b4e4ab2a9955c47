#pragma once

#include <memory>
#include <string>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/meter.hpp"
#include "flopwatt/sweep/plan.hpp"

namespace flopwatt::engine {

/// The meter that a plan asks for.  Errc::unavailable with the reason where this machine has no such source;
/// Errc::bad_data for a recorded log that cannot be read.
[[nodiscard]] Result<std::unique_ptr<sweep::Meter>> open_meter(const sweep::Plan& plan, const std::string& plan_file);

}  // namespace flopwatt::engine
