#include "flopwatt/telemetry/power_integral.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace flopwatt::telemetry {
namespace {

using units::Duration;
using units::Energy;
using units::Power;

struct Point {
  SteadyTime time;
  Power power;
  std::size_t index;
};

Power at(const Point& a, const Point& b, SteadyTime time) {
  const Duration span = to_duration(b.time - a.time);
  if (span <= Duration{}) return b.power;
  return a.power + (b.power - a.power) * (to_duration(time - a.time) / span);
}

/// The valid readings in [from, to] and the nearest on both sides.
std::vector<Point> points_around(const Trace& trace, SteadyTime from, SteadyTime to) {
  const auto valid = [&](std::size_t i) { return trace[i].power.value.has_value(); };
  const auto point = [&](std::size_t i) { return Point{trace[i].time, *trace[i].power.value, i}; };
  std::vector<Point> points;
  const std::size_t begin = trace.lower_bound(from);
  if (begin == trace.size() || trace[begin].time > from || !valid(begin)) {
    for (std::size_t i = begin; i-- > 0;) {
      if (valid(i)) {
        points.push_back(point(i));
        break;
      }
    }
  }
  for (std::size_t i = begin; i < trace.size(); ++i) {
    if (!valid(i)) continue;
    points.push_back(point(i));
    if (trace[i].time >= to) break;
  }
  return points;
}

/// Why there is no power between two moments: what a sample in between says, or that there is none.
Absence reason_between(const Trace& trace, SteadyTime from, SteadyTime to) {
  for (std::size_t i = trace.lower_bound(from); i < trace.size() && trace[i].time <= to; ++i) {
    if (!trace[i].power.value) return trace[i].power.value.reason();
  }
  const bool forgotten = trace.dropped() > 0 && !trace.empty() && to <= trace.front().time;
  return forgotten ? Absence::not_held : Absence::no_samples;
}

class Integrator {
 public:
  Integrator(const Trace& trace, SteadyTime from, SteadyTime to, Duration longest)
      : trace_{trace}, from_{from}, to_{to}, longest_{longest} {}

  PowerIntegral run() {
    const std::vector<Point> points = points_around(trace_, from_, to_);
    if (points.empty()) {
      gap(from_, to_);
      return finish();
    }
    gap(from_, std::min(points.front().time, to_));
    if (!tiles(points)) {
      for (std::size_t i = 1; i < points.size(); ++i) trapezoid(points[i - 1], points[i]);
    }
    gap(std::max(points.back().time, from_), to_);
    return finish();
  }

 private:
  void gap(SteadyTime from, SteadyTime to, bool bridged = false) {
    if (from >= to) return;
    result_.gaps.push_back({from, to, reason_between(trace_, from, to), bridged});
  }

  void trapezoid(const Point& a, const Point& b) {
    const SteadyTime from = std::max(a.time, from_);
    const SteadyTime to = std::min(b.time, to_);
    if (from >= to) return;
    if (to_duration(b.time - a.time) > longest_) {
      gap(from, to);
      return;
    }
    const bool absent_between = b.index - a.index > 1;
    if (absent_between) gap(from, to, true);
    const Power left = at(a, b, from);
    const Power right = at(a, b, to);
    const Duration width = to_duration(to - from);
    result_.energy += 0.5 * (left + right) * width;
    const double shape = (0.5 * (right - left) * width).in(units::joule);
    shape_squares_ += shape * shape;
    result_.covered += width;
  }

  /// Readings that are means over a window, laid end to end from the end of the stretch.  False where they cannot be.
  bool tiles(const std::vector<Point>& points) {
    const std::optional<Duration> window = trace_.device().sensor.averaging_window;
    if (!window || *window <= Duration{} || points.size() < 2) return false;
    if (points.front().time > from_ || points.back().time < to_) return false;
    const Duration length = to_duration(to_ - from_);
    if (length < *window) return false;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (to_duration(points[i].time - points[i - 1].time) > 0.5 * *window) return false;
      if (points[i].index - points[i - 1].index > 1) return false;
    }
    const double count = std::floor(length / *window * (1 + 1e-9));
    std::size_t right = points.size() - 1;
    const auto reading_at = [&](SteadyTime time) {
      while (right > 1 && points[right - 1].time >= time) --right;
      const Point& a = points[right - 1];
      const Point& b = points[right];
      const SteadyTime moment = std::clamp(time, a.time, b.time);
      // On a sample nothing is guessed; in the middle between two, half their difference at most.
      const Duration nearest = to_duration(std::min(moment - a.time, b.time - moment));
      const double shape = ((b.power - a.power) * (nearest / to_duration(b.time - a.time)) * *window).in(units::joule);
      shape_squares_ += shape * shape;
      return at(a, b, moment);
    };
    const auto step = std::chrono::nanoseconds{std::llround(window->in(units::second) * 1e9)};
    SteadyTime end = to_;
    for (double i = 0; i < count; ++i, end -= step) result_.energy += reading_at(end) * *window;
    // What is left at the beginning is shorter than the window; its mean reaches back before the stretch.
    const Duration rest = length - count * *window;
    if (rest > 1e-9 * length) {
      const Power mean = reading_at(end);
      const Power before = reading_at(from_);
      result_.energy += mean * rest;
      result_.uncertainty += Energy::from_base(std::abs(((mean - before) * rest).in(units::joule)));
    }
    result_.covered += length;
    tiled_ = true;
    return true;
  }

  /// How much a mean over a window can hide at the ends of the stretch: half a window of the whole swing at each.
  Energy hidden_at_ends() const {
    const std::optional<Duration> window = trace_.device().sensor.averaging_window;
    if (!window || tiled_) return {};
    std::optional<Power> low;
    std::optional<Power> high;
    for (std::size_t i = trace_.lower_bound(from_); i < trace_.size() && trace_[i].time <= to_; ++i) {
      if (!trace_[i].power.value) continue;
      const Power power = *trace_[i].power.value;
      if (!low || power < *low) low = power;
      if (!high || power > *high) high = power;
    }
    return low ? (*high - *low) * *window : Energy{};
  }

  PowerIntegral finish() {
    result_.uncertainty += std::sqrt(shape_squares_) * units::joule + hidden_at_ends();
    return std::move(result_);
  }

  const Trace& trace_;
  SteadyTime from_;
  SteadyTime to_;
  Duration longest_;
  PowerIntegral result_;
  double shape_squares_ = 0;
  bool tiled_ = false;
};

}  // namespace

PowerIntegral integrate_power(const Trace& trace, SteadyTime from, SteadyTime to, Duration longest) {
  return Integrator{trace, from, to, longest}.run();
}

std::optional<PowerAt> power_at(const Trace& trace, SteadyTime time, Duration longest) {
  const std::vector<Point> points = points_around(trace, time, time);
  if (points.empty() || points.front().time > time || points.back().time < time) return std::nullopt;
  const Point& a = points.front();
  const Point& b = points.back();
  if (to_duration(b.time - a.time) > longest) return std::nullopt;
  return PowerAt{at(a, b, time), b.index};
}

Duration longest_trapezoid(const Trace& trace, SteadyTime from, SteadyTime to) {
  std::vector<std::int64_t> distances;
  std::size_t i = trace.lower_bound(from);
  if (i == 0) i = 1;
  for (; i < trace.size(); ++i) {
    distances.push_back((trace[i].time - trace[i - 1].time).count());
    if (trace[i].time > to) break;
  }
  if (distances.empty()) return 1 * units::second;
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return std::max(5 * to_duration(std::chrono::nanoseconds{*middle}), 1 * units::second);
}

}  // namespace flopwatt::telemetry
