#pragma once

#include <string>
#include <vector>

#include "flopwatt/cli/console.hpp"

namespace flopwatt::cli {

/// The whole program: `words` are the arguments without the program's name.  Returns the exit code (docs/cli.md).
[[nodiscard]] int run_program(const std::vector<std::string>& words, Console& console);

}  // namespace flopwatt::cli
