#include "flopwatt/io/append_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "flopwatt/io/file.hpp"

namespace flopwatt::io {
namespace {

constexpr std::size_t kLongestFirstLine = 64UL << 10U;

/// The last byte of a file that is not empty.
char last_byte(int fd, off_t size) {
  char last = '\n';
  return ::pread(fd, &last, 1, size - 1) == 1 ? last : '\n';
}

}  // namespace

Result<AppendFile> AppendFile::open(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return fail(Errc::bad_data, "not a path", path, "name a file");
  }
  Descriptor file{::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666)};
  if (!file.valid()) return system_failure("open", path, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_failure("read", path, errno);
  AppendFile result{std::move(file), path};
  if (!S_ISREG(status.st_mode) || status.st_size == 0) return result;
  result.was_empty_ = false;
  FLOPWATT_TRY(const FilePrefix prefix, read_file_prefix(path, kLongestFirstLine));
  result.first_line_ = prefix.bytes.substr(0, prefix.bytes.find('\n'));
  if (last_byte(result.file_.get(), status.st_size) != '\n') {
    FLOPWATT_TRY_VOID(write_all(result.file_.get(), "\n", path));
  }
  return result;
}

Result<void> AppendFile::append_line(std::string_view line) {
  buffer_.assign(line);
  buffer_ += '\n';
  return write_all(file_.get(), buffer_, path_);
}

}  // namespace flopwatt::io
