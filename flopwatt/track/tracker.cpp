#include "flopwatt/track/tracker.hpp"

#include <cmath>
#include <exception>
#include <utility>

namespace flopwatt::track {
namespace {

using std::chrono::nanoseconds;
using units::Duration;
using units::FlopRate;
using units::second;
using units::token;

bool positive(double value) { return value > 0 && std::isfinite(value); }

Result<void> check(const TrackerOptions& o) {
  if (!positive(o.work.model_flops.in(units::flop))) return fail(Errc::usage, "the FLOPs of a micro-batch must be > 0");
  if (!positive(o.work.slots.in(token))) return fail(Errc::usage, "a micro-batch must hold at least one token");
  if (o.peak && !positive(o.peak->flops.in(units::flop_per_second))) return fail(Errc::usage, "the peak must be > 0");
  if (o.peak && o.peak->bandwidth && !positive(o.peak->bandwidth->in(units::byte_per_second))) {
    return fail(Errc::usage, "the memory bandwidth must be > 0");
  }
  if (o.devices < 1) return fail(Errc::usage, "a rank keeps at least one device busy");
  if (o.accumulation < 1) return fail(Errc::usage, "a step has at least one micro-batch");
  if (o.warmup_steps < 0) return fail(Errc::usage, "the number of warm-up steps must not be negative");
  if (o.window_steps < 1) return fail(Errc::usage, "a window has at least one step");
  if (o.ranks < 1 || o.rank < 0 || o.rank >= o.ranks) return fail(Errc::usage, "the rank must lie in 0 … ranks − 1");
  if (o.clock == nullptr) return fail(Errc::usage, "a tracker needs a clock");
  return {};
}

/// What a caller's function throws must not end the loop that is measured.
template <class Function>
Result<void> guarded(const char* what, const Function& function) {
  try {
    function();
    return {};
  } catch (const std::exception& thrown) {
    return fail(Errc::internal, std::string{what} + " failed: " + thrown.what());
  } catch (...) {
    return fail(Errc::internal, std::string{what} + " failed");
  }
}

/// A ratio of 1 or more is no result.
Ratio ratio(double value) {
  if (std::isfinite(value) && value < 1) return {.value = value, .impossible = {}};
  return {.value = {}, .impossible = value};
}

}  // namespace

Result<DevicePeak> peak_of(const device::Device& device, units::Precision precision) {
  FLOPWATT_TRY(const device::Peak peak, device::peak(device, precision));
  DevicePeak result{.device = device.name, .flops = peak.rate, .bandwidth = {}, .source = {}};
  if (device.memory_bandwidth) result.bandwidth = device.memory_bandwidth->value;
  result.source = std::string{units::name(precision)} + ", " + std::string{device::name(peak.path)} + ", " +
                  device::to_text(peak.sources);
  return result;
}

Result<Tracker> Tracker::create(TrackerOptions options) {
  FLOPWATT_TRY_VOID(check(options));
  return Tracker{std::move(options)};
}

Tracker::Tracker(TrackerOptions options) : options_{std::move(options)} {
  identity_ = {.rank = options_.rank,
               .ranks = options_.ranks,
               .devices = options_.devices,
               .device = options_.peak ? options_.peak->device : std::string{},
               .peak = options_.peak ? std::optional{options_.peak->flops} : std::nullopt,
               .peak_source = options_.peak ? options_.peak->source : std::string{},
               .work_origin = options_.work.origin};
}

void Tracker::Sums::add_tokens(const Tokens& tokens) noexcept {
  slots += tokens.slots;
  non_padding += tokens.non_padding.value_or(0);
  labels += tokens.labels.value_or(0);
  all_non_padding = all_non_padding && tokens.non_padding.has_value();
  all_labels = all_labels && tokens.labels.has_value();
}

void Tracker::Sums::add(const Sums& step) noexcept {
  steps += step.steps;
  micro_batches += step.micro_batches;
  slots += step.slots;
  non_padding += step.non_padding;
  labels += step.labels;
  all_non_padding = all_non_padding && step.all_non_padding;
  all_labels = all_labels && step.all_labels;
  in_steps += step.in_steps;
  end = step.end;
}

void Tracker::start() noexcept {
  if (running_) ++misuses_;
  running_ = true;
  step_ = {};
  started_ = options_.clock();
}

void Tracker::micro_batch(const Tokens& tokens) noexcept {
  if (!running_) {
    ++misuses_;
    return;
  }
  ++step_.micro_batches;
  Tokens told = tokens;
  if (told.slots <= 0) told.slots = static_cast<std::int64_t>(options_.work.slots.in(token));
  // More real tokens than positions, or a negative number, is no answer: as if it were not told.
  const auto possible = [&](const std::optional<std::int64_t>& part) {
    return part && *part >= 0 && *part <= told.slots;
  };
  if (told.non_padding && !possible(told.non_padding)) ++misuses_, told.non_padding.reset();
  if (told.labels && !possible(told.labels)) ++misuses_, told.labels.reset();
  step_.add_tokens(told);
}

void Tracker::cancel() noexcept { running_ = false; }

void Tracker::stop() {
  if (!running_) {
    ++misuses_;
    return;
  }
  running_ = false;
  if (step_.micro_batches == 0) {
    step_.micro_batches = options_.accumulation;
    const double slots = options_.work.slots.in(token) * static_cast<double>(options_.accumulation);
    step_.add_tokens({.slots = static_cast<std::int64_t>(slots), .non_padding = {}, .labels = {}});
  }
  const std::int64_t index = next_step_++;
  const bool warming_up = index < options_.warmup_steps;
  const bool last_of_window =
      warming_up ? index + 1 == options_.warmup_steps : window_.steps + 1 == options_.window_steps;
  if (last_of_window && options_.synchronize) note(guarded("synchronize", options_.synchronize));
  const nanoseconds now = options_.clock();
  if (warming_up) {
    window_.begin = run_.begin = now;
    return;
  }
  step_.steps = 1;
  step_.in_steps = now - started_;
  step_.end = now;
  if (index == 0) window_.begin = run_.begin = started_;
  if (window_.steps == 0) window_.first_step = index;
  if (run_.steps == 0) run_.first_step = index;
  window_.add(step_);
  run_.add(step_);
  if (last_of_window) close_window();
}

void Tracker::close_window() {
  if (!options_.sinks.empty()) {
    const Window window = make_window(window_);
    for (const auto& sink : options_.sinks) note(sink->window(identity_, window));
  }
  const nanoseconds end = window_.end;
  window_ = {};
  window_.begin = end;
}

void Tracker::finish() {
  if (window_.steps > 0) {
    // The device may still work on what the last steps launched.
    if (options_.synchronize) {
      note(guarded("synchronize", options_.synchronize));
      const nanoseconds waited = options_.clock() - window_.end;
      for (Sums* sums : {&window_, &run_}) {
        sums->in_steps += waited;
        sums->end += waited;
      }
    }
    close_window();
  }
  const Window run = make_window(run_);
  for (const auto& sink : options_.sinks) note(sink->run(identity_, run));
}

Window Tracker::run() const { return make_window(run_); }

void Tracker::note(const Result<void>& outcome) {
  if (!outcome && !trouble_) trouble_ = outcome.error();
}

Window Tracker::make_window(const Sums& sums) const {
  Window window;
  window.first_step = sums.first_step;
  window.steps = sums.steps;
  if (sums.steps == 0) return window;
  window.last_step = sums.first_step + sums.steps - 1;
  window.micro_batches = sums.micro_batches;
  window.in_steps = telemetry::to_duration(sums.in_steps);
  window.wall = telemetry::to_duration(sums.end - sums.begin);
  window.tokens.slots = sums.slots;
  if (sums.all_non_padding) window.tokens.non_padding = sums.non_padding;
  if (sums.all_labels) window.tokens.labels = sums.labels;

  const MicroBatchWork& work = options_.work;
  const double slots = static_cast<double>(sums.slots);
  const double counted = sums.all_non_padding ? static_cast<double>(sums.non_padding) : slots;
  window.model_flops = work.model_flops / work.slots * (counted * token);
  if (!sums.all_non_padding) window.raise(Doubt::slots_counted);
  if (!options_.synchronize && !options_.synchronous) window.raise(Doubt::unsynchronized);
  if (!work.hardware_flops) window.raise(Doubt::estimated_flops);

  window.slots_per_second = slots * token / window.in_steps;
  if (sums.all_non_padding) window.tokens_per_second = counted * token / window.in_steps;
  if (options_.peak) {
    const FlopRate peak = static_cast<double>(options_.devices) * options_.peak->flops;
    window.mfu = ratio(window.model_flops / window.in_steps / peak);
    window.run_mfu = ratio(window.model_flops / window.wall / peak);
    if (work.hardware_flops)
      window.hfu = ratio(*work.hardware_flops / work.slots * (slots * token) / window.in_steps / peak);
    if (window.mfu.impossible || window.hfu.impossible || window.run_mfu.impossible) window.raise(Doubt::above_peak);
    if (options_.peak->bandwidth && work.bytes) {
      const units::DataSize bytes = static_cast<double>(sums.micro_batches) * *work.bytes +
                                    static_cast<double>(sums.steps) * work.optimizer_bytes;
      window.mbu = ratio(bytes / window.in_steps / (static_cast<double>(options_.devices) * *options_.peak->bandwidth));
      if (window.mbu.impossible) window.raise(Doubt::above_bandwidth);
    }
  }
  if (options_.energy) {
    // Telemetry that fails leaves the energy absent.
    static_cast<void>(guarded("energy", [&] { window.energy = options_.energy(sums.begin, sums.end); }));
  }
  if (!window.energy.empty()) {
    units::Energy total;
    bool all = true;
    for (const telemetry::WindowEnergy& part : window.energy) {
      all = all && part.energy;
      if (part.energy) total += *part.energy;
    }
    if (all) window.total_energy = total;
    if (all && counted > 0) window.energy_per_token = total / (counted * token);
  }
  return window;
}

}  // namespace flopwatt::track
