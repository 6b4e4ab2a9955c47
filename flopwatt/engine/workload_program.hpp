#pragma once

#include <string>

#include "flopwatt/base/result.hpp"

namespace flopwatt::engine {

/// The program that runs training steps (flopwatt/workload/job.hpp): what FLOPWATT_TORCH names, else `named` where it
/// is not empty, else flopwatt-torch (flopwatt/workload/torch_program.hpp).  Errc::unavailable where there is none.
[[nodiscard]] Result<std::string> workload_program(const std::string& named = {});

}  // namespace flopwatt::engine
