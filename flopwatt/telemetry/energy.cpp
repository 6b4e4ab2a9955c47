#include "flopwatt/telemetry/energy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "flopwatt/telemetry/power_integral.hpp"

namespace flopwatt::telemetry {
namespace {

using units::Duration;
using units::Energy;
using units::Power;

constexpr std::array<std::string_view, 4> kMethods{"none", "counter", "power_integral", "mixed"};

struct FlagText {
  std::string_view key;
  std::string_view text;
};
constexpr std::array kFlags{
    FlagText{"averaged_power", "the power readings are means over a second"},
    FlagText{"window_too_short", "the window is shorter than twice what the sensor averages over or updates in"},
    FlagText{"part_time_sampling", "the sensor looks only part of the time: a load that beats with it misleads it"},
    FlagText{"sparse_samples", "fewer than ten samples"},
    FlagText{"incomplete", "a gap has no energy: the sum is a lower bound"},
    FlagText{"shared_device", "several processes were on the device: the energy is that of all"},
    FlagText{"few_idle_readings", "the lowest tenth of the readings, its idle baseline, is fewer than five"},
    FlagText{"idle_above_mean", "the idle baseline is above the mean power: its dynamic energy is negative"},
    FlagText{"recorded", "from a recorded or synthetic source: no measurement of this machine"},
};

/// A stretch between two reads of the counter, cut to the window.
struct Stretch {
  SteadyTime from;
  SteadyTime to;
  Reading<Energy> energy;
};

class WindowMeter {
 public:
  WindowMeter(const Trace& trace, SteadyTime from, SteadyTime to, const EnergyOptions& options)
      : trace_{trace},
        from_{from},
        to_{to},
        options_{options},
        longest_{options.longest_trapezoid.value_or(longest_trapezoid(trace, from, to))},
        most_{trace.device().counter.max_power.value_or(plausible_power(trace.device().scope))} {
    result_.from = from;
    result_.to = to;
    result_.duration = to_duration(to - from);
    result_.scope = trace.device().scope;
  }

  WindowEnergy run() {
    look_at_samples();
    if (to_ <= from_) {
      return without_energy(Absence::no_samples);
    }
    const std::vector<Stretch> stretches = options_.use_counter ? counter_stretches() : std::vector<Stretch>{};
    const bool counted = std::any_of(stretches.begin(), stretches.end(),
                                     [](const Stretch& stretch) { return stretch.energy.has_value(); });
    if (counted) {
      sum(stretches);
    } else if (!stretches.empty()) {
      // The counter was there and failed throughout: one integral over all.
      for (const Stretch& stretch : stretches) failed(stretch);
      take(integrate_power(trace_, from_, to_, longest_));
      for (Gap& gap : result_.gaps) gap.filled = integrated_ >= 0.999 * result_.duration;
    } else {
      integrate(from_, to_);
    }
    return finish();
  }

 private:
  void look_at_samples() {
    for (std::size_t i = trace_.lower_bound(from_); i < trace_.size() && trace_[i].time <= to_; ++i) {
      const Snapshot& sample = trace_[i];
      ++result_.samples;
      if (sample.processes && *sample.processes > 1) shared_ = true;
      if (!sample.power.value) continue;
      result_.power_kind = sample.power.kind;
      power_scope_ = sample.power.scope;
      raise_peak(*sample.power.value);
    }
    if (from_ < to_) look_at_ends();
  }

  /// The energy holds the interpolated ends, so the peak does.
  void look_at_ends() {
    for (const SteadyTime end : {from_, to_}) {
      const std::optional<PowerAt> there = power_at(trace_, end, longest_);
      if (!there) continue;
      raise_peak(there->power);
      if (power_scope_) continue;
      const PowerReading& nearest = trace_[there->sample].power;
      result_.power_kind = nearest.kind;
      power_scope_ = nearest.scope;
    }
  }

  void raise_peak(Power power) {
    if (!result_.peak_power || power > *result_.peak_power) result_.peak_power = power;
  }

  /// The window cut at every read of the counter; empty if the counter was never read.
  std::vector<Stretch> counter_stretches() const {
    const std::vector<std::size_t> reads = counter_reads();
    if (reads.empty()) return {};
    std::vector<Stretch> stretches;
    const auto absent = [&](SteadyTime from, SteadyTime to) {
      if (from < to) stretches.push_back({from, to, reason_without_counter(from, to)});
    };
    absent(from_, std::min(to_, trace_[reads.front()].time));
    for (std::size_t i = 1; i < reads.size(); ++i) append(stretches, trace_[reads[i - 1]], trace_[reads[i]]);
    absent(std::max(from_, trace_[reads.back()].time), to_);
    mark_standstill(reads, stretches);
    return stretches;
  }

  /// Samples with a counter in the window, and the nearest on both sides.
  std::vector<std::size_t> counter_reads() const {
    std::vector<std::size_t> reads;
    const std::size_t begin = trace_.lower_bound(from_);
    if (begin == trace_.size() || trace_[begin].time > from_ || !trace_[begin].energy) {
      for (std::size_t i = begin; i-- > 0;) {
        if (trace_[i].energy) {
          reads.push_back(i);
          break;
        }
      }
    }
    for (std::size_t i = begin; i < trace_.size(); ++i) {
      if (!trace_[i].energy) continue;
      reads.push_back(i);
      if (trace_[i].time >= to_) break;
    }
    return reads;
  }

  Absence reason_without_counter(SteadyTime from, SteadyTime to) const {
    for (std::size_t i = trace_.lower_bound(from); i < trace_.size() && trace_[i].time <= to; ++i) {
      if (!trace_[i].energy) return trace_[i].energy.reason();
    }
    const bool forgotten = trace_.dropped() > 0 && to <= trace_.front().time;
    return forgotten ? Absence::not_held : Absence::no_samples;
  }

  void append(std::vector<Stretch>& stretches, const Snapshot& a, const Snapshot& b) const {
    const SteadyTime from = std::max(a.time, from_);
    const SteadyTime to = std::min(b.time, to_);
    if (from >= to) return;
    const Duration elapsed = to_duration(b.time - a.time);
    Reading<Energy> gained = counter_difference(*a.energy, *b.energy, elapsed, trace_.device().counter.range, most_);
    if (gained) gained = *gained * (to_duration(to - from) / elapsed);
    stretches.push_back({from, to, gained});
  }

  /// Runs of equal reads that were no slow counter but a dead one.
  void mark_standstill(const std::vector<std::size_t>& reads, std::vector<Stretch>& stretches) const {
    Duration patience = options_.stuck_after;
    if (const auto period = trace_.device().counter.update_period) patience = std::min(patience, 10.0 * *period);
    Duration caught_up{};  // the longest run after which the counter caught up
    for (std::size_t begin = 0; begin + 1 < reads.size();) {
      std::size_t end = begin;
      while (end + 1 < reads.size() && *trace_[reads[end + 1]].energy == *trace_[reads[begin]].energy) ++end;
      const Snapshot& first = trace_[reads[begin]];
      const Snapshot& last = trace_[reads[end]];
      const Duration length = to_duration(last.time - first.time);
      const bool never_moved = begin == 0 && end + 1 == reads.size();
      const bool ends_the_trace = end + 1 == reads.size();
      if (end > begin) {
        const bool long_enough = end - begin >= 2 && length >= patience;
        if (long_enough && length > 2 * caught_up &&
            is_dead(first, last, ends_the_trace ? nullptr : &trace_[reads[end + 1]])) {
          mark(stretches, first.time, last.time, Absence::counter_stuck);
        } else if (never_moved && !draws_nothing(first.time, last.time)) {
          mark(stretches, first.time, last.time, Absence::below_resolution);
        } else {
          caught_up = std::max(caught_up, length);
        }
      }
      begin = end + 1;
    }
  }

  /// `next`: the read at which the counter moved again, if it did.
  bool is_dead(const Snapshot& first, const Snapshot& last, const Snapshot* next) const {
    const PowerIntegral area = integrate_power(trace_, first.time, next == nullptr ? last.time : next->time, longest_);
    const bool power_known = area.covered > Duration{};
    if (!power_known) return next == nullptr;
    const Energy least = std::max(trace_.device().counter.resolution.value_or(Energy{}), 1e-3 * units::joule);
    if (area.energy <= 10 * least) return false;
    if (next == nullptr) return true;
    const Duration elapsed = to_duration(next->time - last.time);
    const Reading<Energy> step =
        counter_difference(*last.energy, *next->energy, elapsed, trace_.device().counter.range, 1e3 * most_);
    return !step || *step < 0.5 * area.energy;
  }

  bool draws_nothing(SteadyTime from, SteadyTime to) const {
    const PowerIntegral area = integrate_power(trace_, from, to, longest_);
    return area.covered > Duration{} && area.energy <= Energy{};
  }

  static void mark(std::vector<Stretch>& stretches, SteadyTime from, SteadyTime to, Absence reason) {
    for (Stretch& stretch : stretches) {
      if (stretch.from >= from && stretch.to <= to && stretch.energy) stretch.energy = reason;
      // A window may begin or end inside the run.
      if (stretch.from < to && stretch.to > from && stretch.energy && *stretch.energy == Energy{}) {
        stretch.energy = reason;
      }
    }
  }

  void sum(const std::vector<Stretch>& stretches) {
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      const Stretch& stretch = stretches[i];
      if (stretch.energy) {
        counted_ += to_duration(stretch.to - stretch.from);
        energy_ += *stretch.energy;
        continue;
      }
      // Neighbours that failed for the same reason are one gap, and one integral.
      std::size_t last = i;
      while (last + 1 < stretches.size() && stretches[last + 1].energy.absent_for(stretch.energy.reason())) ++last;
      fill({stretch.from, stretches[last].to, stretch.energy.reason(), false});
      i = last;
    }
  }

  void fill(Gap gap) {
    const PowerIntegral area = integrate_power(trace_, gap.from, gap.to, longest_);
    take(area);
    gap.filled = area.covered >= 0.999 * to_duration(gap.to - gap.from);
    result_.gaps.push_back(gap);
  }

  void failed(const Stretch& stretch) {
    const Absence reason = stretch.energy.reason();
    if (!result_.gaps.empty() && result_.gaps.back().reason == reason && result_.gaps.back().to == stretch.from) {
      result_.gaps.back().to = stretch.to;
    } else {
      result_.gaps.push_back({stretch.from, stretch.to, reason, false});
    }
  }

  void integrate(SteadyTime from, SteadyTime to) {
    const PowerIntegral area = integrate_power(trace_, from, to, longest_);
    take(area);
    result_.gaps.insert(result_.gaps.end(), area.gaps.begin(), area.gaps.end());
  }

  void take(const PowerIntegral& area) {
    energy_ += area.energy;
    integral_uncertainty_ += area.uncertainty;
    integrated_ += area.covered;
  }

  /// What the counter's coarseness and the times of its reading may hide.
  Energy counter_uncertainty() const {
    if (counted_ <= Duration{}) return {};
    const CounterTraits& traits = trace_.device().counter;
    const Power mean = energy_ / result_.covered;
    const Duration period = traits.update_period.value_or(observed_update_period());
    SteadyTime slow{};
    for (std::size_t i = trace_.lower_bound(from_); i < trace_.size() && trace_[i].time <= to_; ++i) {
      slow = std::max(slow, trace_[i].time_error);
    }
    return std::max(traits.resolution.value_or(Energy{}), mean * period) + 2 * mean * to_duration(slow);
  }

  /// Where the device does not tell: mean time between the counter's steps, if it was read more often than it moved.
  Duration observed_update_period() const {
    std::size_t steps = 0;
    std::size_t repeats = 0;
    const std::vector<std::size_t> reads = counter_reads();
    for (std::size_t i = 1; i < reads.size(); ++i) {
      (*trace_[reads[i]].energy == *trace_[reads[i - 1]].energy ? repeats : steps) += 1;
    }
    if (repeats == 0 || steps == 0) return {};
    return to_duration(trace_[reads.back()].time - trace_[reads.front()].time) / static_cast<double>(steps);
  }

  WindowEnergy finish() {
    result_.covered = counted_ + integrated_;
    if (result_.covered <= Duration{}) {
      return without_energy(result_.gaps.empty() ? Absence::no_samples : result_.gaps.front().reason);
    }
    result_.method = counted_ <= Duration{}      ? EnergyMethod::power_integral
                     : integrated_ <= Duration{} ? EnergyMethod::counter
                                                 : EnergyMethod::mixed;
    if (counted_ <= Duration{}) result_.scope = power_scope_.value_or(result_.scope);
    result_.energy = energy_;
    const double accuracy = trace_.device().sensor.relative_accuracy.value_or(0.0);
    result_.uncertainty = counter_uncertainty() + integral_uncertainty_ + accuracy * energy_;
    result_.mean_power = energy_ / result_.covered;
    if (!result_.peak_power) peak_from_counter();
    find_idle();
    return describe();
  }

  void peak_from_counter() {
    for (const CounterPower& step : counter_power(trace_)) {
      if (step.to <= from_ || step.from >= to_) continue;
      result_.power_kind = PowerKind::counter;
      raise_peak(step.power);
    }
    if (!result_.peak_power) result_.peak_power = Absence::no_samples;
  }

  /// What has no energy has no figures that follow from it, for the same reason.
  WindowEnergy without_energy(Absence reason) {
    result_.energy = reason;
    result_.mean_power = reason;
    if (!result_.peak_power) result_.peak_power = reason;
    find_idle();
    return describe();
  }

  void find_idle() {
    if (options_.idle) {
      result_.idle_power = *options_.idle;
    } else {
      const IdleBaseline idle = trace_.empty() ? IdleBaseline{Absence::no_samples}
                                               : idle_power(trace_, trace_.front().time, trace_.back().time);
      result_.idle_power = idle.power;
      result_.idle_lowest = idle.lowest;
      result_.idle_readings = idle.readings;
      if (idle.readings == 0 && !result_.energy) result_.idle_power = result_.energy.reason();
    }
    if (!result_.energy) {
      result_.dynamic_energy = result_.energy.reason();
    } else if (!result_.idle_power) {
      result_.dynamic_energy = result_.idle_power.reason();
    } else {
      result_.dynamic_energy = energy_ - *result_.idle_power * result_.covered;
    }
  }

  WindowEnergy describe() {
    const auto flag = [&](EnergyFlag which) { result_.flags.push_back(which); };
    const SensorTraits& sensor = trace_.device().sensor;
    const bool from_power = result_.method == EnergyMethod::power_integral || result_.method == EnergyMethod::mixed;
    if (from_power && result_.power_kind == PowerKind::average_1s) flag(EnergyFlag::averaged_power);
    Duration needed{};
    if (from_power) {
      const Duration usual = result_.power_kind == PowerKind::average_1s ? 1 * units::second : Duration{};
      needed = std::max(sensor.averaging_window.value_or(usual), sensor.update_period.value_or(Duration{}));
    }
    if (counted_ > Duration{}) needed = std::max(needed, trace_.device().counter.update_period.value_or(Duration{}));
    if (result_.duration < 2 * needed) flag(EnergyFlag::window_too_short);
    if (sensor.duty && *sensor.duty < 1) flag(EnergyFlag::part_time_sampling);
    if (from_power && result_.samples < 10) flag(EnergyFlag::sparse_samples);
    if (result_.energy && result_.covered < 0.999 * result_.duration) flag(EnergyFlag::incomplete);
    if (shared_) flag(EnergyFlag::shared_device);
    if (result_.energy && result_.idle_lowest > 0 && result_.idle_lowest < 5) flag(EnergyFlag::few_idle_readings);
    const bool both = result_.idle_power && result_.mean_power;
    if (both && *result_.idle_power > (1 + 1e-9) * *result_.mean_power) flag(EnergyFlag::idle_above_mean);
    std::sort(result_.gaps.begin(), result_.gaps.end(), [](const Gap& a, const Gap& b) { return a.from < b.from; });
    return std::move(result_);
  }

  const Trace& trace_;
  SteadyTime from_;
  SteadyTime to_;
  const EnergyOptions& options_;
  Duration longest_;
  Power most_;
  WindowEnergy result_;
  std::optional<Scope> power_scope_;
  bool shared_ = false;
  Energy energy_;
  Energy integral_uncertainty_;
  Duration counted_;
  Duration integrated_;
};

}  // namespace

std::string_view key(EnergyMethod method) noexcept { return kMethods[static_cast<std::size_t>(method)]; }
std::string_view key(EnergyFlag flag) noexcept { return kFlags[static_cast<std::size_t>(flag)].key; }
std::string_view text(EnergyFlag flag) noexcept { return kFlags[static_cast<std::size_t>(flag)].text; }

bool WindowEnergy::has(EnergyFlag flag) const { return std::find(flags.begin(), flags.end(), flag) != flags.end(); }

WindowEnergy energy_over(const Trace& trace, SteadyTime from, SteadyTime to, const EnergyOptions& options) {
  return WindowMeter{trace, from, to, options}.run();
}

WindowEnergy energy_of(const Trace& trace, const EnergyOptions& options) {
  if (trace.empty()) return energy_over(trace, {}, {}, options);
  return energy_over(trace, trace.front().time, trace.back().time, options);
}

IdleBaseline idle_power(const Trace& trace, SteadyTime from, SteadyTime to) {
  std::vector<double> watts;
  for (std::size_t i = trace.lower_bound(from); i < trace.size() && trace[i].time <= to; ++i) {
    if (trace[i].power.value) watts.push_back(trace[i].power.value->in(units::watt));
  }
  if (watts.empty()) {
    for (const CounterPower& step : counter_power(trace)) {
      if (step.to > from && step.from < to) watts.push_back(step.power.in(units::watt));
    }
  }
  if (watts.size() < kFewestForIdle) return {Absence::no_samples, 0, watts.size()};
  const std::size_t lowest = (watts.size() + 9) / 10;
  std::nth_element(watts.begin(), watts.begin() + static_cast<std::ptrdiff_t>(lowest - 1), watts.end());
  double sum = 0;
  for (std::size_t i = 0; i < lowest; ++i) sum += watts[i];
  return {sum / static_cast<double>(lowest) * units::watt, lowest, watts.size()};
}

}  // namespace flopwatt::telemetry
