#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace flopwatt::telemetry {

/// Rows of a log that do not say of which device they are, and whether they can be of one.
class UnnamedRows {
 public:
  /// `device` is what the row was taken for; `row` outlives this.  The same row twice in turn counts once.
  void add(std::size_t device, std::string_view row, std::chrono::nanoseconds time);
  /// The times are written with fractions of a second, even where these are 0.
  void have_fractions() { fractions_ = true; }

  /// Whether the rows of one are those of several: each look at the devices has the same time, or times close
  /// together, or the rows take turns.
  [[nodiscard]] bool hold_several() const;

 private:
  struct Device {
    std::vector<std::int64_t> times;  ///< ns, as written, in the order of the log
    std::string_view row;             ///< the last
  };
  [[nodiscard]] bool is_several(const std::vector<std::int64_t>& times) const;

  std::vector<Device> devices_;
  bool fractions_ = false;
};

}  // namespace flopwatt::telemetry
