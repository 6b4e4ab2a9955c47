#pragma once

#include <cstddef>
#include <vector>

#include "flopwatt/telemetry/reading.hpp"
#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

/// Snapshots of one device in the order of time.  Takes at most `capacity` of them: the oldest make room for the
/// newest, and dropped() says how many did.
class Trace {
 public:
  static constexpr std::size_t kDefaultCapacity = std::size_t{1} << 20U;  // a day at 10 Hz, 300 MiB if ever full

  explicit Trace(DeviceInfo device = {}, std::size_t capacity = kDefaultCapacity);

  /// Appends.  False, and nothing happens, if it is older than the last one.
  bool add(const Snapshot& snapshot);

  [[nodiscard]] const DeviceInfo& device() const { return device_; }
  [[nodiscard]] DeviceInfo& device() { return device_; }
  [[nodiscard]] std::size_t size() const { return snapshots_.size(); }
  [[nodiscard]] bool empty() const { return snapshots_.empty(); }
  /// 0 is the oldest that is kept.
  [[nodiscard]] const Snapshot& operator[](std::size_t i) const;
  [[nodiscard]] const Snapshot& front() const { return (*this)[0]; }
  [[nodiscard]] const Snapshot& back() const { return (*this)[size() - 1]; }
  [[nodiscard]] std::size_t dropped() const { return dropped_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Index of the first snapshot at or after `time`; size() if there is none.
  [[nodiscard]] std::size_t lower_bound(SteadyTime time) const;

 private:
  DeviceInfo device_;
  std::vector<Snapshot> snapshots_;
  std::size_t capacity_;
  std::size_t first_ = 0;  // where the oldest lies once the ring is full
  std::size_t dropped_ = 0;
};

}  // namespace flopwatt::telemetry
