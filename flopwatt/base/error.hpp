#pragma once

#include <string>
#include <string_view>

namespace flopwatt::base {

/// What kind of failure this is.  The value is the exit code of the command line (docs/cli.md).
enum class Errc {
  internal = 1,     ///< a bug of ours that was caught before it became a wrong number
  usage = 2,        ///< the caller asked for something that does not exist or lies out of range
  bad_data = 3,     ///< a file is missing, unreadable, malformed, or says something impossible
  unavailable = 4,  ///< this machine lacks what is asked for: sensor, permission, optional library
  infeasible = 5,   ///< the plan cannot work: out of memory, indivisible parallelism
};

/// A failure that a user or the environment caused: what happened, where, and what to do about it.
/// Every field is one line of plain text; `where` and `remedy` may be empty.
struct Error {
  Errc code = Errc::internal;
  std::string what;
  std::string where;   ///< "FILE:LINE", "FILE", an option name, or empty
  std::string remedy;  ///< what to do, in the imperative, or empty

  /// "WHERE: WHAT; REMEDY" on one line.  Control characters of foreign text (file names, cell contents, JSON keys)
  /// are shown as '?', so that an error never breaks a terminal or a log line.
  [[nodiscard]] std::string message() const;
};

/// Shortens foreign text for an error message: at most `limit` bytes, cut at a UTF-8 boundary and marked with "…".
[[nodiscard]] std::string excerpt(std::string_view text, std::size_t limit = 60);

}  // namespace flopwatt::base
