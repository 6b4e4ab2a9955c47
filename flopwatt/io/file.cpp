#include "flopwatt/io/file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "flopwatt/io/descriptor.hpp"

namespace flopwatt::io {
namespace {

tl::unexpected<Error> too_large(const std::string& path, std::size_t limit) {
  return fail(Errc::bad_data, fmt::format("larger than {} bytes, too large for this kind of file", limit), path,
              "this is not the file that is meant");
}

bool path_has_nul(const std::string& path) { return path.find('\0') != std::string::npos; }

// Waits until a pipe has something to say.
Result<void> wait_readable(int fd, const std::string& path, std::chrono::milliseconds patience) {
  pollfd waiting{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) return system_failure("read", path, errno);
  if (ready == 0) {
    return fail(Errc::bad_data, fmt::format("nothing arrives from this pipe within {} ms", patience.count()), path,
                "start its writer, or name a file");
  }
  return {};
}

// A new file beside the target, under a name that nobody uses; its permissions are those of any new file.
int open_temporary(const std::string& folder, std::string& name) {
  constexpr int kAttempts = 100;
  const auto ticks = std::chrono::steady_clock::now().time_since_epoch().count();
  for (int attempt = 0;; ++attempt) {
    name = fmt::format("{}/.flopwatt-{}-{}-{}", folder, ::getpid(), ticks, attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST || attempt == kAttempts) return fd;
  }
}

// A rename survives a power cut only once the folder is flushed; a file system that cannot do that is no failure.
void flush_folder(const std::string& folder) {
  const Descriptor descriptor{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (descriptor.valid()) static_cast<void>(::fsync(descriptor.get()));
}

Result<void> write_directly(const std::string& path, std::string_view content) {
  const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (!file.valid()) return system_failure("open", path, errno);
  return write_all(file.get(), content, path);
}

}  // namespace

Result<std::string> read_file(const std::string& path, const ReadOptions& options) {
  if (path.empty() || path_has_nul(path)) return fail(Errc::bad_data, "not a path", path, "name a file");
  // O_NONBLOCK: to open a pipe without a writer must not wait for one.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file.valid()) {
    const int code = errno;
    if (code == ENXIO) return fail(Errc::bad_data, "is a socket or device, not a file", path, "name a file");
    return system_failure("open", path, code);
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_failure("read", path, errno);
  if (S_ISDIR(status.st_mode)) return fail(Errc::bad_data, "is a folder, not a file", path, "name a file");
  const bool pipe = S_ISFIFO(status.st_mode);
  if (!pipe && !S_ISREG(status.st_mode))
    return fail(Errc::bad_data, "is a socket or device, not a file", path, "name a file");
  if (status.st_size > 0 && static_cast<std::size_t>(status.st_size) > options.max_bytes)
    return too_large(path, options.max_bytes);

  // The size is a hint only: files of /proc say 0, and a log may grow while it is read.
  std::string content;
  std::size_t size = 0;
  content.resize(std::min<std::size_t>(std::max<std::size_t>(static_cast<std::size_t>(status.st_size) + 1, 4096),
                                       options.max_bytes + 1));
  for (;;) {
    if (size > options.max_bytes) return too_large(path, options.max_bytes);
    if (size == content.size()) content.resize(std::min(2 * size, options.max_bytes + 1));
    if (pipe) FLOPWATT_TRY_VOID(wait_readable(file.get(), path, options.patience));
    const ssize_t got = ::read(file.get(), content.data() + size, content.size() - size);
    if (got < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return system_failure("read", path, errno);
    }
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  content.resize(size);
  return content;
}

Result<FilePrefix> read_file_prefix(const std::string& path, std::size_t length) {
  if (path.empty() || path_has_nul(path)) return fail(Errc::bad_data, "not a path", path, "name a file");
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (!file.valid()) return system_failure("open", path, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return system_failure("read", path, errno);
  if (S_ISDIR(status.st_mode)) return fail(Errc::bad_data, "is a folder, not a file", path, "name a file");
  if (!S_ISREG(status.st_mode)) return fail(Errc::bad_data, "is no regular file", path, "name a file");
  FilePrefix prefix{.file_size = static_cast<std::uint64_t>(status.st_size)};
  prefix.bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(length, prefix.file_size)));
  std::size_t size = 0;
  while (size < prefix.bytes.size()) {
    const ssize_t got = ::read(file.get(), prefix.bytes.data() + size, prefix.bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_failure("read", path, errno);
    if (got == 0) break;  // it shrank meanwhile
    size += static_cast<std::size_t>(got);
  }
  prefix.bytes.resize(size);
  return prefix;
}

Result<void> write_file_atomic(const std::string& path, std::string_view content) {
  if (path.empty() || path_has_nul(path)) return fail(Errc::bad_data, "not a path", path, "name a file");
  std::string target = path;
  std::optional<mode_t> mode;
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return fail(Errc::bad_data, "is a folder, not a file", path, "name a file");
    if (!S_ISREG(status.st_mode)) return write_directly(path, content);
    mode = status.st_mode & 07777U;
    const std::unique_ptr<char, decltype(&std::free)> resolved{::realpath(path.c_str(), nullptr), &std::free};
    if (resolved) target = resolved.get();
  }
  const std::size_t slash = target.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : target.substr(0, slash);
  if (slash != std::string::npos && slash + 1 == target.size()) {
    return fail(Errc::bad_data, "is a folder, not a file", path, "name a file");
  }
  std::string temporary;
  Descriptor file{open_temporary(folder, temporary)};
  if (!file.valid()) {
    const int code = errno;
    if (code == ENOENT) return fail(Errc::bad_data, "the folder does not exist", path, "make it first");
    return system_failure("write into the folder", path, code);
  }
  const auto give_up = [&](tl::unexpected<Error> error) -> Result<void> {
    ::unlink(temporary.c_str());
    return error;
  };
  if (auto written = write_all(file.get(), content, path); !written) return give_up(fail(written.error()));
  if ((mode && ::fchmod(file.get(), *mode) != 0) || ::fsync(file.get()) != 0 || !file.close()) {
    return give_up(system_failure("write", path, errno));
  }
  if (::rename(temporary.c_str(), target.c_str()) != 0) return give_up(system_failure("write", path, errno));
  flush_folder(folder);
  return {};
}

Result<void> make_folder(const std::string& path) {
  if (path.empty() || path_has_nul(path)) return fail(Errc::bad_data, "not a path", path, "name a folder");
  // Every prefix that ends before a '/', then the whole.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string prefix = path.substr(0, end);
    const int code = ::mkdir(prefix.c_str(), 0777) == 0 ? 0 : errno;
    if (code != 0 && !is_folder(prefix)) {
      if (code == EEXIST) return fail(Errc::bad_data, "is a file, not a folder", prefix, "name another folder");
      return system_failure("make the folder", prefix, code);
    }
    if (end == std::string::npos) return {};
  }
}

Result<void> remove_file(const std::string& path) {
  if (path.empty() || path_has_nul(path)) return fail(Errc::bad_data, "not a path", path, "name a file");
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_failure("remove", path, errno);
  return {};
}

Result<std::vector<FolderEntry>> list_folder(const std::string& path) {
  if (path.empty() || path_has_nul(path)) return fail(Errc::bad_data, "not a path", path, "name a folder");
  const std::unique_ptr<DIR, int (*)(DIR*)> folder{::opendir(path.c_str()), [](DIR* open) { return ::closedir(open); }};
  if (!folder) {
    const int code = errno;
    if (code == ENOTDIR) return fail(Errc::bad_data, "is not a folder", path, "name a folder");
    return system_failure("list the folder", path, code);
  }
  std::vector<FolderEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr) {
      if (errno != 0) return system_failure("list the folder", path, errno);
      break;
    }
    std::string name{static_cast<const char*>(entry->d_name)};
    if (name == "." || name == "..") continue;
    const bool folder_inside = is_folder(path + "/" + name);
    entries.push_back({std::move(name), folder_inside});
  }
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  return entries;
}

std::string program_folder() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) == path.size()) return {};
  const std::string file{path.data(), static_cast<std::size_t>(length)};
  return file.substr(0, std::max<std::size_t>(file.rfind('/'), 1));
}

bool is_folder(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool exists(const std::string& path) noexcept {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0;
}

}  // namespace flopwatt::io
