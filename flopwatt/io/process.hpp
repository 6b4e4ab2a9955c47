#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"

namespace flopwatt::io {

/// Runs a program (the first word, looked up in PATH) with its arguments, without a shell and with empty standard
/// input. Returns what it wrote to standard output and standard error together, its last 64 KiB. Errc::unavailable
/// naming the program: not found, could not be started, killed because it took longer than `patience`, ended by a
/// signal or with another status than 0; then the end of its output is in the message.
[[nodiscard]] Result<std::string> run_program(const std::vector<std::string>& words,
                                              std::chrono::milliseconds patience);

/// The folder that holds the running program's file; empty where the system does not tell.
[[nodiscard]] std::string program_folder();

}  // namespace flopwatt::io
