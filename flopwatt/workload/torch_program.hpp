#pragma once

#include <string>

#include "flopwatt/base/result.hpp"

namespace flopwatt::workload {

/// Path of the program that runs workloads on LibTorch: the value of FLOPWATT_TORCH if it is set, else `flopwatt-torch`
/// beside the running program, else the first in PATH.  Errc::unavailable (exit code 4) where there is none, with how
/// to get it.
[[nodiscard]] Result<std::string> torch_program();

}  // namespace flopwatt::workload
