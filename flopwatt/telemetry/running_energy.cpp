#include "flopwatt/telemetry/running_energy.hpp"

#include <algorithm>

namespace flopwatt::telemetry {
namespace {

/// A counter that has not moved for so long is dead: until then power stands in for it anyway.
constexpr units::Duration kStuckAfter = 30 * units::second;

}  // namespace

RunningEnergy::RunningEnergy(const DeviceInfo& device, units::Duration longest_trapezoid)
    : counter_{device.counter},
      most_{device.counter.max_power.value_or(plausible_power(device.scope))},
      longest_{longest_trapezoid} {
  total_.energy = Absence::no_samples;
}

void RunningEnergy::add(const Snapshot& snapshot) {
  if (!last_) {
    total_.since = total_.until = snapshot.time;
    last_ = snapshot;
    if (snapshot.energy) last_counter_ = snapshot;
    return;
  }
  if (snapshot.time <= last_->time) return;
  add_power(snapshot, to_duration(snapshot.time - last_->time));
  if (snapshot.energy) add_counter(snapshot);
  last_ = snapshot;
  total_.until = snapshot.time;
  show();
}

void RunningEnergy::add_power(const Snapshot& snapshot, units::Duration elapsed) {
  if (!snapshot.power.value || !last_->power.value || elapsed > longest_) {
    // Only a device without a counter depends on every piece.
    if (!last_counter_) ++total_.gaps;
    return;
  }
  pending_ += 0.5 * (*snapshot.power.value + *last_->power.value) * elapsed;
  pending_for_ += elapsed;
}

void RunningEnergy::add_counter(const Snapshot& snapshot) {
  if (!last_counter_) {
    commit_power();
    last_counter_ = snapshot;
    return;
  }
  const units::Duration elapsed = to_duration(snapshot.time - last_counter_->time);
  const Reading<units::Energy> gained =
      counter_difference(*last_counter_->energy, *snapshot.energy, elapsed, counter_.range, most_);
  if (gained && *gained == units::Energy{}) {
    if (elapsed < kStuckAfter || pending_ <= units::Energy{}) return;
    if (!stuck_) ++total_.gaps;
    stuck_ = true;
    commit_power();
  } else if (gained && !stuck_) {
    counted_ += *gained;
    counted_for_ += elapsed;
    pending_ = {};
    pending_for_ = {};
  } else {
    // Reset, wrapped too often, or alive again: what it jumped by is no energy of this stretch.
    if (!gained) ++total_.gaps;
    stuck_ = false;
    commit_power();
  }
  last_counter_ = snapshot;
}

void RunningEnergy::commit_power() {
  integrated_ += pending_;
  integrated_for_ += pending_for_;
  pending_ = {};
  pending_for_ = {};
}

void RunningEnergy::show() {
  const units::Energy energy = counted_ + integrated_ + pending_;
  total_.covered = counted_for_ + integrated_for_ + pending_for_;
  if (total_.covered <= units::Duration{}) return;
  // Power may have told more than the counter then does: a total that was shown is not taken back.
  total_.energy = total_.energy ? std::max(*total_.energy, energy) : energy;
  const bool counted = counted_for_ > units::Duration{};
  const bool integrated = integrated_for_ > units::Duration{} || (!counted && pending_for_ > units::Duration{});
  total_.method = counted && integrated ? EnergyMethod::mixed
                  : counted             ? EnergyMethod::counter
                                        : EnergyMethod::power_integral;
}

}  // namespace flopwatt::telemetry
