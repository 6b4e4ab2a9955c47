#include "flopwatt/io/descriptor.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace flopwatt::io {

tl::unexpected<Error> system_failure(std::string_view doing, const std::string& path, int code) {
  std::string remedy;
  switch (code) {
    case ENOENT:
      return fail(Errc::bad_data, "no such file or folder", path, "check the path");
    case ENOTDIR:
      return fail(Errc::bad_data, "a part of the path is not a folder", path, "check the path");
    case EACCES:
    case EPERM:
      remedy = "check the permissions";
      break;
    case EROFS:
      remedy = "choose a folder that can be written";
      break;
    case ENOSPC:
    case EDQUOT:
      remedy = "free some space";
      break;
    case EISDIR:
      return fail(Errc::bad_data, "is a folder, not a file", path, "name a file");
    default:
      remedy = "check the path";
      break;
  }
  return fail(Errc::bad_data, fmt::format("cannot {}: {}", doing, std::strerror(code)), path, std::move(remedy));
}

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return system_failure("write", path, errno);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace flopwatt::io
