#pragma once

#include <span>
#include <string>

#include "flopwatt/cli/command.hpp"

namespace flopwatt::cli {

/// What `flopwatt VERB --help` prints: usage, options by group, an example.  80 columns.
[[nodiscard]] std::string help(const Verb& verb, const Command& command);

/// What `flopwatt --help` prints: the verbs.
[[nodiscard]] std::string overview(std::span<const Verb> verbs);

}  // namespace flopwatt::cli
