#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"

namespace flopwatt::io {

struct ReadOptions {
  std::size_t max_bytes = std::size_t{256} << 20U;
  std::chrono::milliseconds patience{10'000};  ///< how long a pipe may keep silent
};

/// All bytes of a regular file or a pipe ("/dev/stdin", `<(command)`).  Never hangs and never takes more memory than
/// the limit.  Errc::bad_data at PATH for what is missing, a folder, not permitted, a device or socket, too large, a
/// pipe that stays silent.  An empty file is an empty string.
[[nodiscard]] Result<std::string> read_file(const std::string& path, const ReadOptions& options = {});

/// The beginning of a regular file, however large the file is.
struct FilePrefix {
  std::string bytes;            ///< fewer than asked for only where the file is shorter
  std::uint64_t file_size = 0;  ///< of the whole file
};
/// The first `length` bytes of a regular file.  Errc::bad_data at PATH for what is missing, a folder, not permitted, or
/// no regular file: a pipe has no size.
[[nodiscard]] Result<FilePrefix> read_file_prefix(const std::string& path, std::size_t length);

/// Writes `content` so that `path` holds the old content or the new one, never a part: into a temporary file of the
/// same folder, flushed to the disk, then renamed.  Keeps the permissions of an existing file and follows a symbolic
/// link; a pipe or device (/dev/stdout) is written directly.  Errc::bad_data at PATH for a missing or read-only folder,
/// a full disk, a path that is a folder; the temporary file is removed then.
[[nodiscard]] Result<void> write_file_atomic(const std::string& path, std::string_view content);

/// Makes the folder and those above it that are missing.  Errc::bad_data at PATH for a file in the way, no permission,
/// a read-only or full disk.
[[nodiscard]] Result<void> make_folder(const std::string& path);
/// Removes a file; one that is not there is no error.  Errc::bad_data at PATH.
[[nodiscard]] Result<void> remove_file(const std::string& path);

struct FolderEntry {
  std::string name;  ///< without the folder
  bool is_folder = false;
};

/// What a folder holds, sorted by name, without "." and "..".  Errc::bad_data at PATH.
[[nodiscard]] Result<std::vector<FolderEntry>> list_folder(const std::string& path);

/// The folder that holds the running program; empty where the system does not tell.
[[nodiscard]] std::string program_folder();

[[nodiscard]] bool is_folder(const std::string& path) noexcept;
[[nodiscard]] bool exists(const std::string& path) noexcept;

}  // namespace flopwatt::io
