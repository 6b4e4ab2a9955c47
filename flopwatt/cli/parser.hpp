#pragma once

#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/cli/command.hpp"

namespace flopwatt::cli {

enum class Asked : std::uint8_t { run, help };

/// Gives the words after the verb to the options of `command`.  Errors are Errc::usage and name the option: an unknown
/// one (with the one that was probably meant), a missing or repeated value, a value that its reader refuses.
[[nodiscard]] Result<Asked> parse(const Command& command, const std::string& verb, std::vector<std::string> words);

}  // namespace flopwatt::cli
