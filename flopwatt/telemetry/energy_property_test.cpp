// Laws that hold for every trace, over traces drawn at random (a fixed seed: a failure comes again).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "flopwatt/telemetry/energy.hpp"

namespace flopwatt::telemetry {
namespace {

using units::Energy;
using units::joule;
using units::second;
using units::watt;

constexpr int kTraces = 500;

struct Drawn {
  Trace trace;
  SteadyTime from;
  SteadyTime middle;
  SteadyTime to;
};

class Draw {
 public:
  double uniform(double low, double high) { return std::uniform_real_distribution<double>{low, high}(engine_); }
  bool chance(double probability) { return uniform(0, 1) < probability; }

  /// A device under changing load whose counter and power may fail in every way.
  Drawn trace(bool faults, double scale = 1) {
    DeviceInfo info;
    if (chance(0.5)) info.counter.range = 5000 * joule;
    if (chance(0.3)) info.sensor.averaging_window = uniform(0.1, 2) * second;
    Trace trace{info};
    const bool has_counter = chance(0.7);
    const bool has_power = !has_counter || chance(0.7);
    const double offset = info.counter.range ? uniform(0, 4000) : uniform(0, 1e6);
    double joules = offset;
    double time = uniform(0, 1e6);
    const int count = 2 + static_cast<int>(uniform(0, 60));
    for (int i = 0; i < count; ++i) {
      const double watts = scale * uniform(0, 700);
      Snapshot snapshot;
      snapshot.time = SteadyTime{std::llround(time * 1e9)};
      if (has_power) snapshot.power = {watts * watt, PowerKind::instant, Scope::device};
      if (has_counter) snapshot.energy = joules * joule;
      if (faults) {
        if (chance(0.05)) snapshot.power.value = Absence::device_lost;
        if (chance(0.05)) snapshot.energy = Absence::timed_out;
        if (chance(0.03)) joules = 0;
        if (chance(0.03)) joules = uniform(0, 1e7);
      }
      EXPECT_TRUE(trace.add(snapshot));
      const double step = uniform(0.01, 1);
      time += step;
      joules += watts * step;
      if (info.counter.range) joules = std::fmod(joules, 5000);
    }
    const double begin = to_duration(trace.front().time).in(second);
    const double length = to_duration(trace.back().time - trace.front().time).in(second);
    std::array<double, 3> cuts{uniform(0, 1), uniform(0, 1), uniform(0, 1)};
    std::sort(cuts.begin(), cuts.end());
    const auto moment = [&](double part) { return SteadyTime{std::llround((begin + part * length) * 1e9)}; };
    return {std::move(trace), moment(cuts[0]), moment(cuts[1]), moment(cuts[2])};
  }

 private:
  std::mt19937_64 engine_{20'240'607};
};

TEST(EnergyLaws, NeverNegativeNeverMoreThanTheDeviceCanDraw) {
  Draw draw;
  for (int i = 0; i < kTraces; ++i) {
    const Drawn drawn = draw.trace(true);
    const WindowEnergy energy = energy_over(drawn.trace, drawn.from, drawn.to);
    EXPECT_GE(energy.uncertainty.in(joule), 0) << i;
    EXPECT_LE(energy.covered.in(second), energy.duration.in(second) * (1 + 1e-9)) << i;
    if (!energy.energy) continue;
    EXPECT_GE(energy.energy->in(joule), 0) << i;
    // A counter may lag its clock by a tenth of a second at each of its reads (counter_difference).
    const double slack = 0.1 * static_cast<double>(drawn.trace.size());
    EXPECT_LE(energy.energy->in(joule), 3000 * (energy.duration.in(second) + slack)) << i;
    EXPECT_EQ(energy.has(EnergyFlag::incomplete), energy.covered < 0.999 * energy.duration) << i;
  }
}

TEST(EnergyLaws, GapsLieInTheWindowInOrder) {
  Draw draw;
  for (int i = 0; i < kTraces; ++i) {
    const Drawn drawn = draw.trace(true);
    SteadyTime last = drawn.from;
    for (const Gap& gap : energy_over(drawn.trace, drawn.from, drawn.to).gaps) {
      EXPECT_LT(gap.from, gap.to) << i;
      EXPECT_GE(gap.from, last) << i;
      EXPECT_LE(gap.to, drawn.to) << i;
      last = gap.from;
    }
  }
}

TEST(EnergyLaws, TwoWindowsMakeOne) {
  Draw draw;
  int compared = 0;
  for (int i = 0; i < kTraces; ++i) {
    const Drawn drawn = draw.trace(false);
    // An averaging sensor is unmixed in whole windows, which do not add up.
    if (drawn.trace.device().sensor.averaging_window) continue;
    const WindowEnergy left = energy_over(drawn.trace, drawn.from, drawn.middle);
    const WindowEnergy right = energy_over(drawn.trace, drawn.middle, drawn.to);
    const WindowEnergy both = energy_over(drawn.trace, drawn.from, drawn.to);
    if (!left.energy || !right.energy || !both.energy || left.method != both.method || right.method != both.method) {
      continue;
    }
    if (!both.gaps.empty() || !left.gaps.empty() || !right.gaps.empty()) continue;
    EXPECT_NEAR((*left.energy + *right.energy).in(joule), both.energy->in(joule), 1e-6 * both.energy->in(joule) + 1e-6)
        << i;
    ++compared;
  }
  EXPECT_GT(compared, kTraces / 4);
}

TEST(EnergyLaws, MovingTheClockChangesNothing) {
  Draw draw;
  for (int i = 0; i < kTraces; ++i) {
    const Drawn drawn = draw.trace(true);
    Trace moved{drawn.trace.device()};
    const SteadyTime by{123'456'789'000};
    for (std::size_t k = 0; k < drawn.trace.size(); ++k) {
      Snapshot snapshot = drawn.trace[k];
      snapshot.time += by;
      ASSERT_TRUE(moved.add(snapshot));
    }
    const WindowEnergy here = energy_over(drawn.trace, drawn.from, drawn.to);
    const WindowEnergy there = energy_over(moved, drawn.from + by, drawn.to + by);
    ASSERT_EQ(here.energy.has_value(), there.energy.has_value()) << i;
    if (here.energy) {
      EXPECT_EQ(here.energy->in(joule), there.energy->in(joule)) << i;
    }
    EXPECT_EQ(here.uncertainty.in(joule), there.uncertainty.in(joule)) << i;
    EXPECT_EQ(here.flags, there.flags) << i;
  }
}

TEST(EnergyLaws, TheIntegralIsLinearInPower) {
  Draw draw;
  for (int i = 0; i < kTraces; ++i) {
    const Drawn drawn = draw.trace(true);
    Trace doubled{drawn.trace.device()};
    for (std::size_t k = 0; k < drawn.trace.size(); ++k) {
      Snapshot snapshot = drawn.trace[k];
      if (snapshot.power.value) snapshot.power.value = 2 * *snapshot.power.value;
      ASSERT_TRUE(doubled.add(snapshot));
    }
    const EnergyOptions options{.use_counter = false};
    const WindowEnergy once = energy_over(drawn.trace, drawn.from, drawn.to, options);
    const WindowEnergy twice = energy_over(doubled, drawn.from, drawn.to, options);
    ASSERT_EQ(once.energy.has_value(), twice.energy.has_value()) << i;
    if (once.energy) {
      EXPECT_DOUBLE_EQ(2 * once.energy->in(joule), twice.energy->in(joule)) << i;
    }
  }
}

// A counter without faults says what was drawn, wraps and all, within its own uncertainty and rounding.
TEST(EnergyLaws, AHealthyCounterIsExact) {
  Draw draw;
  for (int i = 0; i < kTraces; ++i) {
    const double range = draw.chance(0.5) ? 5000 : 1e15;
    Trace trace{{.counter = {.range = range * joule}}};
    double time = 0;
    double total = 0;
    const double start = draw.uniform(0, 4999);
    for (int k = 0; k < 50; ++k) {
      Snapshot snapshot;
      snapshot.time = SteadyTime{std::llround(time * 1e9)};
      snapshot.energy = std::fmod(start + total, range) * joule;
      ASSERT_TRUE(trace.add(snapshot));
      if (k == 49) break;
      const double step = draw.uniform(0.01, 1);
      time += step;
      total += draw.uniform(1, 700) * step;
    }
    const WindowEnergy energy = energy_of(trace);
    ASSERT_TRUE(energy.energy) << i;
    EXPECT_EQ(energy.method, EnergyMethod::counter) << i;
    EXPECT_NEAR(energy.energy->in(joule), total, 1e-6) << i;
    EXPECT_TRUE(energy.gaps.empty()) << i;
  }
}

}  // namespace
}  // namespace flopwatt::telemetry
