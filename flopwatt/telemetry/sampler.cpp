#include "flopwatt/telemetry/sampler.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>

#include "flopwatt/telemetry/guarded.hpp"

namespace flopwatt::telemetry {
namespace {

/// At most a year, so that sums with the clock fit.
std::chrono::nanoseconds nanoseconds(units::Duration duration) {
  duration = std::clamp(duration, units::Duration{}, 365 * 24 * units::hour);
  return std::chrono::nanoseconds{std::llround(duration.in(units::second) * 1e9)};
}

std::chrono::steady_clock::time_point point(SteadyTime time) {
  return std::chrono::steady_clock::time_point{std::chrono::duration_cast<std::chrono::steady_clock::duration>(time)};
}

Snapshot absent(Absence reason, SteadyTime time) {
  Snapshot snapshot;
  snapshot.time = time;
  snapshot.wall = wall_now() - (steady_now() - time);
  snapshot.power.value = reason;
  snapshot.energy = reason;
  snapshot.limit = reason;
  snapshot.utilization = reason;
  snapshot.memory_used = reason;
  snapshot.memory_total = reason;
  snapshot.compute_clock = reason;
  snapshot.memory_clock = reason;
  snapshot.temperature_celsius = reason;
  snapshot.processes = reason;
  return snapshot;
}
Snapshot absent(Absence reason) { return absent(reason, steady_now()); }

}  // namespace

/// One source and its thread.  The thread holds a share of it, so that a thread which never comes back can be left
/// behind with everything it may touch.
class Sampler::Worker : public std::enable_shared_from_this<Worker> {
 public:
  Worker(std::unique_ptr<Source> source, const SamplerOptions& options)
      : source_{std::move(source)},
        period_{std::max(nanoseconds(options.period), std::chrono::nanoseconds{100'000})},
        patience_{nanoseconds(options.patience)} {
    for (const DeviceInfo& device : source_->devices()) {
      infos_.push_back(device);
      traces_.emplace_back(device, options.capacity);
      totals_.emplace_back(device);
    }
    idle_.resize(infos_.size());
    recorded_ = source_->recorded();
  }

  /// Makes the thread, which then reads on demand, and by the clock if `periodic`.
  void run(bool periodic) {
    const std::lock_guard lock{mutex_};
    if (periodic && !periodic_) {
      periodic_ = true;
      next_ = steady_now();
    }
    if (!thread_.joinable()) {
      ending_ = false;
      ended_ = false;
      thread_ = quiet_thread([self = shared_from_this()] { self->loop(); });
      if (!thread_.joinable()) ended_ = true;  // nobody will answer
    }
    wake_.notify_all();
  }

  /// Joins the thread, or leaves it behind if it does not answer.
  void end() {
    std::unique_lock lock{mutex_};
    if (!thread_.joinable()) return;
    ending_ = true;
    periodic_ = false;
    wake_.notify_all();
    const bool answered = done_.wait_for(lock, patience_, [this] { return ended_; });
    std::thread thread = std::move(thread_);
    lock.unlock();
    if (answered) {
      thread.join();
    } else {
      thread.detach();
    }
  }

  void pause() {
    const std::lock_guard lock{mutex_};
    periodic_ = false;
    wake_.notify_all();
  }

  /// Asks for one round beside the schedule.
  std::uint64_t request() {
    run(false);
    const std::lock_guard lock{mutex_};
    wanted_ = true;
    wake_.notify_all();
    // A round that has begun already may have read before now: the next one counts.
    return rounds_begun_ + 1;
  }

  /// The newest snapshots once that round is over, or the reason why it is not.
  std::vector<Snapshot> await(std::uint64_t round, SteadyTime until) {
    std::unique_lock lock{mutex_};
    const bool there = done_.wait_until(lock, point(until), [&] { return rounds_done_ >= round || ended_; });
    std::vector<Snapshot> result;
    for (const Trace& trace : traces_) {
      result.push_back(there && !trace.empty() ? trace.back() : absent(Absence::timed_out));
    }
    return result;
  }

  Snapshot latest(std::size_t device) const {
    const std::lock_guard lock{mutex_};
    if (hangs_locked()) return absent(Absence::timed_out);
    if (traces_[device].empty()) return absent(Absence::no_samples);
    const Snapshot& snapshot = traces_[device].back();
    const bool old = steady_now() - snapshot.time > patience_ + 2 * period_;
    return old ? absent(Absence::stale) : snapshot;
  }

  Trace trace(std::size_t device, SteadyTime since) const {
    const std::lock_guard lock{mutex_};
    const Trace& all = traces_[device];
    // What lies before a window is needed to interpolate its beginning, counter and power.
    std::size_t first = all.lower_bound(since);
    bool counter = false;
    bool power = false;
    for (std::size_t steps = 0; first > 0 && steps < kLookBack && !(counter && power); ++steps) {
      --first;
      counter = counter || all[first].energy.has_value();
      power = power || all[first].power.value.has_value();
    }
    Trace result{infos_[device], std::max(all.size() - first + 1, std::size_t{2})};
    for (std::size_t i = first; i < all.size(); ++i) result.add(all[i]);
    // Whoever asks for what comes after the last answer learns why there is none.
    if (hangs_locked()) result.add(absent(Absence::timed_out, *reading_since_));
    return result;
  }

  /// idle_power of all that is kept, no newer than it must be: it takes milliseconds.
  Reading<units::Power> idle(std::size_t device) {
    const std::lock_guard lock{mutex_};
    Idle& idle = idle_[device];
    const SteadyTime now = steady_now();
    if (!idle.known || now - idle.since > kIdleRefresh) {
      const Trace& all = traces_[device];
      idle = {true, now, all.empty() ? Absence::no_samples : idle_power(all, all.front().time, all.back().time).power};
    }
    return idle.power;
  }

  EnergyTotal total(std::size_t device) const {
    const std::lock_guard lock{mutex_};
    return totals_[device].total();
  }

  bool hangs() const {
    const std::lock_guard lock{mutex_};
    return hangs_locked();
  }

  const std::vector<DeviceInfo>& infos() const { return infos_; }
  bool recorded() const { return recorded_; }

 private:
  struct Idle {
    bool known = false;
    SteadyTime since{};
    Reading<units::Power> power;
  };
  static constexpr std::chrono::seconds kIdleRefresh{1};
  static constexpr std::size_t kLookBack = 100;

  bool hangs_locked() const { return reading_since_ && steady_now() - *reading_since_ > patience_; }

  void loop() {
    std::unique_lock lock{mutex_};
    while (!ending_) {
      if (periodic_) {
        wake_.wait_until(lock, point(next_), [&] { return ending_ || wanted_ || !periodic_ || steady_now() >= next_; });
      } else {
        wake_.wait(lock, [&] { return ending_ || wanted_ || periodic_; });
      }
      if (ending_) break;
      const SteadyTime now = steady_now();
      const bool due = periodic_ && now >= next_;
      if (!due && !wanted_) continue;
      if (due) {
        // The schedule is a grid from the start: what a slow driver missed is left out, not caught up.
        const std::int64_t missed = (now - next_) / period_;
        next_ += (missed + 1) * period_;
      }
      const bool wanted = std::exchange(wanted_, false);
      ++rounds_begun_;
      read_all(lock, wanted);
      ++rounds_done_;
      done_.notify_all();
    }
    ended_ = true;
    done_.notify_all();
  }

  void read_all(std::unique_lock<std::mutex>& lock, bool fully) {
    for (std::size_t i = 0; i < infos_.size(); ++i) {
      reading_since_ = steady_now();
      lock.unlock();
      const Snapshot snapshot = fully ? source_->read(i) : source_->glance(i);  // may take for ever
      lock.lock();
      reading_since_.reset();
      traces_[i].add(snapshot);
      totals_[i].add(snapshot);
      if (ending_) return;
    }
  }

  std::unique_ptr<Source> source_;  // touched by the thread only, once it runs
  std::vector<DeviceInfo> infos_;
  bool recorded_ = false;
  std::chrono::nanoseconds period_;
  std::chrono::nanoseconds patience_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::thread thread_;
  std::vector<Trace> traces_;
  std::vector<RunningEnergy> totals_;
  std::vector<Idle> idle_;
  std::optional<SteadyTime> reading_since_;
  SteadyTime next_{};
  std::uint64_t rounds_begun_ = 0;
  std::uint64_t rounds_done_ = 0;
  bool periodic_ = false;
  bool wanted_ = false;
  bool ending_ = false;
  bool ended_ = false;
};

Sampler::Sampler(std::vector<std::unique_ptr<Source>> sources, const SamplerOptions& options) : options_{options} {
  for (std::unique_ptr<Source>& source : sources) {
    const std::size_t index = workers_.size();
    workers_.push_back(std::make_shared<Worker>(std::move(source), options));
    for (std::size_t device = 0; device < workers_.back()->infos().size(); ++device)
      devices_.push_back({index, device});
  }
}

Sampler::~Sampler() {
  for (const auto& worker : workers_) worker->end();
}

void Sampler::start() {
  for (const auto& worker : workers_) worker->run(true);
}

void Sampler::stop() {
  for (const auto& worker : workers_) worker->pause();
}

const DeviceInfo& Sampler::info(std::size_t device) const {
  const SampledDevice& which = devices_.at(device);
  return workers_[which.source]->infos()[which.device];
}

bool Sampler::recorded(std::size_t device) const { return workers_[devices_.at(device).source]->recorded(); }

std::vector<Snapshot> Sampler::read_now() {
  std::vector<std::uint64_t> rounds;
  rounds.reserve(workers_.size());
  for (const auto& worker : workers_) rounds.push_back(worker->request());
  const SteadyTime until = steady_now() + nanoseconds(options_.patience);
  std::vector<Snapshot> result;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    for (const Snapshot& snapshot : workers_[i]->await(rounds[i], until)) result.push_back(snapshot);
  }
  return result;
}

Snapshot Sampler::latest(std::size_t device) const {
  const SampledDevice& which = devices_.at(device);
  return workers_[which.source]->latest(which.device);
}

Trace Sampler::trace(std::size_t device) const { return trace(device, SteadyTime::min()); }

Trace Sampler::trace(std::size_t device, SteadyTime since) const {
  const SampledDevice& which = devices_.at(device);
  return workers_[which.source]->trace(which.device, since);
}

WindowEnergy Sampler::energy_over(std::size_t device, SteadyTime from, SteadyTime to,
                                  const EnergyOptions& options) const {
  const SampledDevice& which = devices_.at(device);
  Worker& worker = *workers_[which.source];
  // Only the window is copied; the baseline is that of all that is kept.
  EnergyOptions with_idle = options;
  const Reading<units::Power> idle = options.idle ? Reading<units::Power>{*options.idle} : worker.idle(which.device);
  if (idle) with_idle.idle = *idle;
  WindowEnergy energy = telemetry::energy_over(worker.trace(which.device, from), from, to, with_idle);
  if (!idle) {
    energy.idle_power = idle.reason();
    energy.dynamic_energy = idle.reason();
  }
  if (worker.recorded()) energy.flags.push_back(EnergyFlag::recorded);
  return energy;
}

EnergyTotal Sampler::total(std::size_t device) const {
  const SampledDevice& which = devices_.at(device);
  return workers_[which.source]->total(which.device);
}

bool Sampler::hangs(std::size_t device) const { return workers_[devices_.at(device).source]->hangs(); }

}  // namespace flopwatt::telemetry
