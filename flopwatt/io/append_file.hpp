#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "flopwatt/base/result.hpp"
#include "flopwatt/io/descriptor.hpp"

namespace flopwatt::io {

/// A text file that grows by whole lines, each in one write: a process that is killed loses no line that was appended,
/// and leaves at most one torn line, which the next opening ends.
class AppendFile {
 public:
  /// Opens or creates.  Errc::bad_data at PATH for a missing folder, no permission, a path that is a folder.
  [[nodiscard]] static Result<AppendFile> open(const std::string& path);

  /// `line` without its newline.  Errc::bad_data at PATH, for a full disk for example.
  [[nodiscard]] Result<void> append_line(std::string_view line);

  [[nodiscard]] bool was_empty() const noexcept { return was_empty_; }                  ///< when it was opened
  [[nodiscard]] const std::string& first_line() const noexcept { return first_line_; }  ///< when it was opened

 private:
  AppendFile(Descriptor file, std::string path) : file_{std::move(file)}, path_{std::move(path)} {}
  Descriptor file_;
  std::string path_;
  std::string buffer_;  ///< a line with its newline, so that one write takes both
  bool was_empty_ = true;
  std::string first_line_;
};

}  // namespace flopwatt::io
