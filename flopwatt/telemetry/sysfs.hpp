#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/telemetry/reading.hpp"

namespace flopwatt::telemetry {

/// Why a system call on a sensor's file failed, from its errno.
[[nodiscard]] Absence sysfs_absence(int error) noexcept;

/// The integer of a one-number file: decimal digits, perhaps a sign, a line end.  None for anything else.
[[nodiscard]] std::optional<std::int64_t> parse_sysfs_number(std::string_view text) noexcept;

/// A file of one number that is read again and again: opened once, read from its beginning each time.
class SysfsNumber {
 public:
  SysfsNumber() = default;
  explicit SysfsNumber(std::string path);
  SysfsNumber(SysfsNumber&& other) noexcept;
  SysfsNumber& operator=(SysfsNumber&& other) noexcept;
  ~SysfsNumber();

  /// not_present if it is missing, no_permission, garbage if it is no number, device_lost if its driver went away,
  /// not_supported or no_samples if the sensor has nothing to say.
  [[nodiscard]] Reading<std::int64_t> read();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  int file_ = -1;
};

/// The first line of a small file, without blanks around; empty if it cannot be read.
[[nodiscard]] std::string sysfs_line(const std::string& path);
/// A number that is read once.
[[nodiscard]] Reading<std::int64_t> sysfs_number(const std::string& path);
/// Names in a folder, sorted as people count ("x:2" before "x:10"); empty if there is none.
[[nodiscard]] std::vector<std::string> sysfs_folder(const std::string& path);
/// The last part of where a symbolic link leads ("0000:3b:00.0" of a PCI device's link); empty if it is none.
[[nodiscard]] std::string sysfs_link_name(const std::string& path);

}  // namespace flopwatt::telemetry
