#pragma once

#include <string>
#include <string_view>

#include "flopwatt/base/result.hpp"

namespace flopwatt::cli {

/// The two output streams of the program.
class Console {
 public:
  /// Writes all of `text` to standard output and flushes.  Errc::bad_data, as for any other file, where that fails: a
  /// full disk, a reader that went away, a closed descriptor.
  [[nodiscard]] Result<void> print(std::string_view text);
  /// To standard output, or to `file` where it is not empty.
  [[nodiscard]] Result<void> deliver(std::string_view text, const std::string& file);
  /// To standard error, as it is: what a person watching wants to know.
  void say(std::string_view text);
  /// "flopwatt: WHERE: WHAT; REMEDY", one line on standard error.
  void complain(const Error& error);
};

/// Makes writing to a closed pipe an error instead of a signal, keeps files that are opened later from landing on a
/// closed standard descriptor, and turns an abort at a bug of ours into exit code 1.
void prepare_process();

}  // namespace flopwatt::cli
