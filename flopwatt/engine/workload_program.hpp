#pragma once

#include <string>

#include "flopwatt/base/result.hpp"

namespace flopwatt::engine {

/// The program that runs training steps (flopwatt/workload/job.hpp): FLOPWATT_WORKLOAD, else `named` where it is not
/// empty, else `flopwatt-torch` in the folder of this program, else in PATH.  Errc::unavailable where there is none.
[[nodiscard]] Result<std::string> workload_program(const std::string& named = {});

}  // namespace flopwatt::engine
