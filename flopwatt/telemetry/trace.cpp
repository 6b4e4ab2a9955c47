#include "flopwatt/telemetry/trace.hpp"

#include <algorithm>
#include <utility>

namespace flopwatt::telemetry {

Trace::Trace(DeviceInfo device, std::size_t capacity)
    : device_{std::move(device)}, capacity_{std::max<std::size_t>(capacity, 2)} {}

bool Trace::add(const Snapshot& snapshot) {
  if (!empty() && snapshot.time < back().time) return false;
  if (snapshots_.size() < capacity_) {
    snapshots_.push_back(snapshot);
    return true;
  }
  snapshots_[first_] = snapshot;
  first_ = (first_ + 1) % capacity_;
  ++dropped_;
  return true;
}

const Snapshot& Trace::operator[](std::size_t i) const {
  FLOPWATT_CHECK(i < snapshots_.size());
  const std::size_t at = first_ + i;
  return snapshots_[at < snapshots_.size() ? at : at - snapshots_.size()];
}

std::size_t Trace::lower_bound(SteadyTime time) const {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if ((*this)[middle].time < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace flopwatt::telemetry
