#include "flopwatt/telemetry/sysfs.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <utility>

#include "flopwatt/base/text.hpp"
#include "flopwatt/telemetry/shared_library.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::size_t kLongestFile = 4096;  // of a sysfs attribute

int open_file(const std::string& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

/// "intel-rapl:0:10" as text and numbers, for sorting.
bool counts_before(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      std::uint64_t left = 0;
      std::uint64_t right = 0;
      const auto* const left_end = std::from_chars(a.data(), a.data() + a.size(), left).ptr;
      const auto* const right_end = std::from_chars(b.data(), b.data() + b.size(), right).ptr;
      if (left != right) return left < right;
      a.remove_prefix(static_cast<std::size_t>(left_end - a.data()));
      b.remove_prefix(static_cast<std::size_t>(right_end - b.data()));
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

}  // namespace

Absence sysfs_absence(int error) noexcept {
  switch (error) {
    case EACCES:
    case EPERM:
      return Absence::no_permission;
    case ENOENT:
    case ENOTDIR:
      return Absence::not_present;
    case ENODEV:
    case ENXIO:
      return Absence::device_lost;
    case EAGAIN:
    case ENODATA:
      return Absence::no_samples;
    case EINVAL:
    case EOPNOTSUPP:
      return Absence::not_supported;
    case ETIMEDOUT:
      return Absence::timed_out;
    default:
      return Absence::unknown_error;
  }
}

std::optional<std::int64_t> parse_sysfs_number(std::string_view text) noexcept {
  text = base::trimmed(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

SysfsNumber::SysfsNumber(std::string path) : path_{std::move(path)} {}
SysfsNumber::SysfsNumber(SysfsNumber&& other) noexcept
    : path_{std::move(other.path_)}, file_{std::exchange(other.file_, -1)} {}
SysfsNumber& SysfsNumber::operator=(SysfsNumber&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}
SysfsNumber::~SysfsNumber() {
  if (file_ >= 0) ::close(file_);
}

Reading<std::int64_t> SysfsNumber::read() {
  if (path_.empty()) return Absence::not_present;
  if (file_ < 0) file_ = open_file(path_);
  if (file_ < 0) return sysfs_absence(errno);
  std::array<char, 64> buffer{};
  const ssize_t size = ::pread(file_, buffer.data(), buffer.size(), 0);
  if (size < 0) {
    const int error = errno;
    // A driver that comes back makes the file anew.
    if (error == ENODEV || error == ENXIO) ::close(std::exchange(file_, -1));
    return sysfs_absence(error);
  }
  const auto value = parse_sysfs_number({buffer.data(), static_cast<std::size_t>(size)});
  return value ? Reading<std::int64_t>{*value} : Reading<std::int64_t>{Absence::garbage};
}

std::string sysfs_line(const std::string& path) {
  const int file = open_file(path);
  if (file < 0) return {};
  std::array<char, kLongestFile> buffer{};
  const ssize_t size = ::read(file, buffer.data(), buffer.size());
  ::close(file);
  if (size <= 0) return {};
  const std::string_view text{buffer.data(), static_cast<std::size_t>(size)};
  return printable(base::trimmed(text.substr(0, text.find('\n'))));
}

Reading<std::int64_t> sysfs_number(const std::string& path) { return SysfsNumber{path}.read(); }

std::vector<std::string> sysfs_folder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) {  // NOLINT(concurrency-mt-unsafe): the folder is ours alone
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(folder);
  std::sort(names.begin(), names.end(), counts_before);
  return names;
}

std::string sysfs_link_name(const std::string& path) {
  std::array<char, kLongestFile> buffer{};
  const ssize_t size = ::readlink(path.c_str(), buffer.data(), buffer.size());
  if (size <= 0) return {};
  const std::string_view target{buffer.data(), static_cast<std::size_t>(size)};
  return std::string{target.substr(target.find_last_of('/') + 1)};
}

}  // namespace flopwatt::telemetry
