#include "flopwatt/telemetry/energy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <vector>

namespace flopwatt::telemetry {
namespace {

using units::joule;
using units::kilowatt;
using units::second;
using units::watt;

SteadyTime seconds(double value) { return SteadyTime{std::llround(value * 1e9)}; }

struct Sample {
  double time;
  Reading<units::Energy> energy = Absence::not_supported;
  Reading<units::Power> power = Absence::not_supported;
  PowerKind kind = PowerKind::instant;
};

Trace trace_of(const std::vector<Sample>& samples, DeviceInfo device = {}) {
  Trace trace{std::move(device)};
  for (const Sample& sample : samples) {
    Snapshot snapshot;
    snapshot.time = seconds(sample.time);
    snapshot.energy = sample.energy;
    snapshot.power = {sample.power, sample.kind, Scope::device};
    EXPECT_TRUE(trace.add(snapshot));
  }
  return trace;
}

TEST(CounterDifference, IsPlainOrWrapsOnceOrSaysWhyNot) {
  const units::Energy range = 262144 * joule;  // 32 bits of 2^-14 J
  EXPECT_DOUBLE_EQ(counter_difference(100 * joule, 350 * joule, 1 * second, range, 1 * kilowatt)->in(joule), 250);
  // 262144 - 262000 + 106 = 250
  EXPECT_DOUBLE_EQ(counter_difference(262000 * joule, 106 * joule, 1 * second, range, 1 * kilowatt)->in(joule), 250);
  EXPECT_EQ(counter_difference(4000 * joule, 0.01 * joule, 1 * second, std::nullopt, 1 * kilowatt).reason(),
            Absence::range_unknown);
  // A read that failed and gave 0 would add 262144 - 4000 J in one second.
  EXPECT_EQ(counter_difference(4000 * joule, 0 * joule, 1 * second, range, 1 * kilowatt).reason(),
            Absence::counter_reset);
  // 250 J in 300 s, or 250 + 262144 J, which is 875 W: both can be.
  EXPECT_EQ(counter_difference(100 * joule, 350 * joule, 300 * second, range, 1 * kilowatt).reason(),
            Absence::wrapped_twice);
  EXPECT_EQ(counter_difference(100 * joule, 9e9 * joule, 1 * second, std::nullopt, 1 * kilowatt).reason(),
            Absence::garbage);
  EXPECT_EQ(counter_difference(std::nan("") * joule, 1 * joule, 1 * second, range, 1 * kilowatt).reason(),
            Absence::garbage);
}

TEST(Energy, IsTheDifferenceOfTheCounter) {
  // Field report N5: 952 494 mJ in 60 s are 952.494 J and 15.87 W.
  const Trace trace = trace_of({{0, 0 * joule}, {30, 476 * joule}, {60, 952.494 * joule}});
  const WindowEnergy energy = energy_of(trace);
  EXPECT_EQ(energy.method, EnergyMethod::counter);
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 952.494);
  EXPECT_NEAR(energy.mean_power->in(watt), 15.8749, 1e-4);
  EXPECT_TRUE(energy.gaps.empty());
  EXPECT_EQ(energy.scope, Scope::device);
}

TEST(Energy, OfPartOfATraceIsInterpolated) {
  const Trace trace = trace_of({{0, 0 * joule}, {10, 1000 * joule}, {20, 3000 * joule}});
  // Half of 1000 J and a quarter of 2000 J.
  EXPECT_DOUBLE_EQ(energy_over(trace, seconds(5), seconds(12.5)).energy->in(joule), 1000);
}

// Field report N4.
TEST(Energy, ACounterThatDidNotMoveInAShortWindowIsBelowResolution) {
  const Trace trace = trace_of({{0, 1 * joule}, {0.02, 1 * joule}, {0.04, 1 * joule}});
  const WindowEnergy energy = energy_of(trace);
  EXPECT_EQ(energy.method, EnergyMethod::none);
  ASSERT_FALSE(energy.energy);
  EXPECT_EQ(energy.energy.reason(), Absence::below_resolution);
  EXPECT_FALSE(energy.mean_power);
}

TEST(Energy, ACounterBelowResolutionGivesWayToPower) {
  const Trace trace =
      trace_of({{0, 1 * joule, 300 * watt}, {0.02, 1 * joule, 300 * watt}, {0.04, 1 * joule, 300 * watt}});
  const WindowEnergy energy = energy_of(trace);
  EXPECT_EQ(energy.method, EnergyMethod::power_integral);
  EXPECT_NEAR(energy.energy->in(joule), 12, 1e-9);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::below_resolution);
  EXPECT_TRUE(energy.gaps[0].filled);
}

// Field report N6.
TEST(Energy, WithoutACounterIsTheIntegralOfPowerAndSaysSo) {
  // Trapezoids: (100+200)/2 + (200+400)/2 = 450 J.
  const Trace trace = trace_of({{0, Absence::not_supported, 100 * watt},
                                {1, Absence::not_supported, 200 * watt},
                                {2, Absence::not_supported, 400 * watt}});
  const WindowEnergy energy = energy_of(trace);
  EXPECT_EQ(energy.method, EnergyMethod::power_integral);
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 450);
  EXPECT_DOUBLE_EQ(energy.peak_power->in(watt), 400);
  // sqrt(50² + 100²)
  EXPECT_NEAR(energy.uncertainty.in(joule), 111.803, 1e-3);
  EXPECT_TRUE(energy.has(EnergyFlag::sparse_samples));
}

TEST(Energy, WithNeitherIsAbsentWithTheDriversReason) {
  const Trace trace = trace_of(
      {{0, Absence::not_supported, Absence::no_permission}, {1, Absence::not_supported, Absence::no_permission}});
  const WindowEnergy energy = energy_of(trace);
  EXPECT_EQ(energy.method, EnergyMethod::none);
  EXPECT_EQ(energy.energy.reason(), Absence::no_permission);
}

TEST(Energy, AResetIsAGapFilledWithPower) {
  const Trace trace = trace_of({{0, 5000 * joule, 100 * watt},
                                {1, 5100 * joule, 100 * watt},
                                {2, 30 * joule, 100 * watt},
                                {3, 130 * joule, 100 * watt}});
  const WindowEnergy energy = energy_of(trace);
  EXPECT_EQ(energy.method, EnergyMethod::mixed);
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 300);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].from, seconds(1));
  EXPECT_EQ(energy.gaps[0].to, seconds(2));
  EXPECT_EQ(energy.gaps[0].reason, Absence::range_unknown);
}

// Field report C3: 4 000 000 000 µJ, then 10 000 µJ, and no file that tells the range.
TEST(Energy, AFallOfUnknownRangeIsLeftOutAndNeverNegative) {
  const Trace trace = trace_of({{0, 3900 * joule}, {1, 4000 * joule}, {2, 0.01 * joule}, {3, 50.01 * joule}});
  const WindowEnergy energy = energy_of(trace);
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 150);
  EXPECT_DOUBLE_EQ(energy.covered.in(second), 2);
  EXPECT_DOUBLE_EQ(energy.mean_power->in(watt), 75);
  EXPECT_TRUE(energy.has(EnergyFlag::incomplete));
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::range_unknown);
  EXPECT_FALSE(energy.gaps[0].filled);
}

// Field report C1: 248 923 J at 1546 s, 30 811.1 J at 1795 s, unit 2^-14 J in 32 bits.
TEST(Energy, AWrapAddsTheRangeOnce) {
  DeviceInfo package{.scope = Scope::package, .counter = {.range = 262144 * joule}};
  const Trace trace =
      trace_of({{0, 0 * joule}, {800, 128811 * joule}, {1546, 248923 * joule}, {1795, 30811.1 * joule}}, [&] {
        package.counter.max_power = 300 * watt;
        return package;
      }());
  const WindowEnergy energy = energy_of(trace);
  EXPECT_NEAR(energy.energy->in(joule), 292955.1, 0.05);
  EXPECT_TRUE(energy.gaps.empty());
}

TEST(Energy, LongSilenceMayHideSeveralWraps) {
  const DeviceInfo package{.scope = Scope::package, .counter = {.range = 262144 * joule}};
  // 262144 J more in 1546 s would be 331 W in all, which a socket may draw.
  const WindowEnergy energy = energy_of(trace_of({{0, 0 * joule}, {1546, 248923 * joule}}, package));
  EXPECT_EQ(energy.energy.reason(), Absence::wrapped_twice);
}

// Field report A4: ten equal reads while power says 200 W.
TEST(Energy, AStuckCounterGivesWayToPower) {
  std::vector<Sample> samples;
  for (int i = 0; i < 10; ++i) samples.push_back({1.0 * i, 777 * joule, 200 * watt});
  const WindowEnergy energy = energy_of(trace_of(samples));
  EXPECT_EQ(energy.method, EnergyMethod::power_integral);
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 1800);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::counter_stuck);
}

TEST(Energy, ACounterThatDiesHalfWayIsUsedUntilThen) {
  std::vector<Sample> samples;
  for (int i = 0; i <= 20; ++i) samples.push_back({1.0 * i, 100.0 * std::min(i, 10) * joule, 100 * watt});
  const WindowEnergy energy = energy_of(trace_of(samples));
  EXPECT_EQ(energy.method, EnergyMethod::mixed);
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 2000);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].from, seconds(10));
  EXPECT_EQ(energy.gaps[0].reason, Absence::counter_stuck);
}

// Field report C8: a channel that publishes in batches, 0, 80, 0, 80 J a second, draws 40 W all the time.
TEST(Energy, ABatchedCounterIsReadBetweenItsUpdates) {
  const Trace trace = trace_of({{0, 0 * joule},
                                {1, 0 * joule},
                                {2, 80 * joule},
                                {3, 80 * joule},
                                {4, 160 * joule},
                                {5, 160 * joule},
                                {6, 240 * joule}});
  for (const CounterPower& step : counter_power(trace)) EXPECT_DOUBLE_EQ(step.power.in(watt), 40);
  EXPECT_EQ(counter_power(trace).size(), 3U);
  const WindowEnergy energy = energy_of(trace);
  EXPECT_EQ(energy.method, EnergyMethod::counter);
  EXPECT_DOUBLE_EQ(energy.mean_power->in(watt), 40);
  EXPECT_DOUBLE_EQ(energy.peak_power->in(watt), 40);
  // One update is 2 s, 40 W · 2 s may be missing or too many.
  EXPECT_DOUBLE_EQ(energy.uncertainty.in(joule), 80);
}

// Field report N1: 50 W, then 300 W from t = 10 s on, seen through a mean of one second.
std::vector<Sample> step_through_boxcar() {
  std::vector<Sample> samples;
  for (int i = 80; i <= 130; ++i) {
    const double t = 0.1 * i;
    const double high = std::clamp(t - 10.0, 0.0, 1.0);
    samples.push_back({t, Absence::not_supported, (50 + 250 * high) * watt, PowerKind::average_1s});
  }
  return samples;
}

TEST(Energy, AnAverageOverASecondIsLabelledAndUnmixed) {
  DeviceInfo device;
  device.sensor.averaging_window = 1 * second;
  const Trace trace = trace_of(step_through_boxcar(), device);
  EXPECT_NEAR(trace[25].power.value->in(watt), 175, 1e-6);  // at 10.5 s
  // From 10 s to 13 s the device draws 900 J; trapezoids under the readings would give 50 … 300 in the first second:
  // 775.
  const WindowEnergy energy = energy_over(trace, seconds(10), seconds(13));
  EXPECT_NEAR(energy.energy->in(joule), 900, 1e-6);
  EXPECT_EQ(energy.power_kind, PowerKind::average_1s);
  EXPECT_TRUE(energy.has(EnergyFlag::averaged_power));
  EXPECT_FALSE(energy.has(EnergyFlag::window_too_short));
}

TEST(Energy, AWindowShorterThanTheAverageIsFlagged) {
  DeviceInfo device;
  device.sensor.averaging_window = 1 * second;
  const Trace trace = trace_of(step_through_boxcar(), device);
  const WindowEnergy energy = energy_over(trace, seconds(10), seconds(10.5));
  EXPECT_TRUE(energy.has(EnergyFlag::window_too_short));
  // True are 150 J; the reading says 56.25 J and its uncertainty covers the difference.
  EXPECT_NEAR(energy.energy->in(joule), 56.25, 1e-6);
  EXPECT_GE(energy.uncertainty.in(joule), 150 - 56.25);
}

// Field report N2.
TEST(Energy, PartTimeSamplingIsFlagged) {
  DeviceInfo device;
  device.sensor.duty = 0.25;
  const Trace trace =
      trace_of({{0, Absence::not_supported, 400 * watt}, {1, Absence::not_supported, 400 * watt}}, device);
  EXPECT_TRUE(energy_of(trace).has(EnergyFlag::part_time_sampling));
}

TEST(Energy, ALostDeviceIsAGapAndNotAStraightLine) {
  std::vector<Sample> samples;
  for (int i = 0; i <= 40; ++i) {
    const bool lost = i >= 10 && i < 30;
    samples.push_back({1.0 * i, Absence::not_supported,
                       lost ? Reading<units::Power>{Absence::device_lost} : Reading<units::Power>{100 * watt}});
  }
  const WindowEnergy energy = energy_of(trace_of(samples));
  // 0 … 9 s and 30 … 40 s.
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 1900);
  EXPECT_DOUBLE_EQ(energy.covered.in(second), 19);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::device_lost);
  EXPECT_TRUE(energy.has(EnergyFlag::incomplete));
}

TEST(Energy, BeyondTheTraceThereIsNothing) {
  const Trace trace = trace_of({{10, 0 * joule}, {20, 1000 * joule}});
  const WindowEnergy energy = energy_over(trace, seconds(0), seconds(30));
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 1000);
  EXPECT_EQ(energy.gaps.size(), 2U);
  EXPECT_TRUE(energy.has(EnergyFlag::incomplete));
  EXPECT_EQ(energy_over(Trace{}, seconds(0), seconds(1)).energy.reason(), Absence::no_samples);
  EXPECT_EQ(energy_over(trace, seconds(15), seconds(15)).energy.reason(), Absence::no_samples);
  EXPECT_EQ(energy_over(trace, seconds(15), seconds(11)).energy.reason(), Absence::no_samples);
}

// Field report N18: an idle floor of 63 of 72 W leaves little that the load can be blamed for.
TEST(Energy, IdleAndDynamicStandBesideTheTotal) {
  std::vector<Sample> samples;
  for (int i = 0; i <= 100; ++i) {
    samples.push_back({1.0 * i, Absence::not_supported, (i < 50 ? 63 : 72) * watt});
  }
  const WindowEnergy energy = energy_over(trace_of(samples), seconds(60), seconds(100));
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 2880);
  EXPECT_DOUBLE_EQ(energy.idle_power->in(watt), 63);
  EXPECT_DOUBLE_EQ(energy.dynamic_energy->in(joule), 360);
  EnergyOptions options;
  options.idle = 60 * watt;
  EXPECT_DOUBLE_EQ(energy_over(trace_of(samples), seconds(60), seconds(100), options).dynamic_energy->in(joule), 480);
}

// Two of twenty readings are a tenth: 10 W, and not the mean of five, (2 · 10 + 3 · 200) / 5 = 124 W.
TEST(Energy, IdleIsTheLowestTenthAndSaysOfHowManyReadings) {
  const auto trace = [](int idle, int busy) {
    std::vector<Sample> samples;
    for (int i = 0; i < idle + busy; ++i) {
      samples.push_back({1.0 * i, Absence::not_supported, (i < idle ? 10 : 200) * watt});
    }
    return trace_of(samples);
  };
  const WindowEnergy twenty = energy_of(trace(2, 18));
  EXPECT_DOUBLE_EQ(twenty.idle_power->in(watt), 10);
  EXPECT_EQ(twenty.idle_lowest, 2U);
  EXPECT_EQ(twenty.idle_readings, 20U);
  EXPECT_TRUE(twenty.has(EnergyFlag::few_idle_readings));
  // Rounded up: three of 21 are 10, 10 and 200 W.
  EXPECT_DOUBLE_EQ(energy_of(trace(2, 19)).idle_power->in(watt), 220.0 / 3);
  EXPECT_EQ(energy_of(trace(1, 9)).idle_lowest, 1U);
  const WindowEnergy nine = energy_of(trace(1, 8));
  EXPECT_TRUE(nine.idle_power.absent_for(Absence::no_samples));
  EXPECT_TRUE(nine.dynamic_energy.absent_for(Absence::no_samples));
  EXPECT_EQ(nine.idle_lowest, 0U);
  EXPECT_EQ(nine.idle_readings, 9U);
  EXPECT_FALSE(energy_of(trace(5, 45)).has(EnergyFlag::few_idle_readings));
}

// Between 100 W at 0 s and 500 W at 10 s, power is 340 W at 6 s and 420 W at 8 s: 380 W on average, no more than 420.
TEST(Energy, APeakIsNeverBelowTheMeanOfAWindowBetweenSamples) {
  const Trace trace = trace_of({{0, Absence::not_supported, 100 * watt},
                                {10, Absence::not_supported, 500 * watt},
                                {20, Absence::not_supported, 100 * watt}});
  const WindowEnergy between = energy_over(trace, seconds(6), seconds(8));
  EXPECT_EQ(between.samples, 0U);
  EXPECT_NEAR(between.mean_power->in(watt), 380, 1e-9);
  EXPECT_NEAR(between.peak_power->in(watt), 420, 1e-9);
  EXPECT_EQ(between.scope, Scope::device);
  EXPECT_EQ(between.power_kind, PowerKind::instant);
  // One reading inside, at the foot of the ramp: the end is higher than it.
  EXPECT_NEAR(energy_over(trace, seconds(0), seconds(8)).peak_power->in(watt), 420, 1e-9);
  EXPECT_NEAR(energy_over(trace, seconds(6), seconds(14)).peak_power->in(watt), 500, 1e-9);
}

TEST(Energy, WithoutEnergyEveryFigureHasItsReasonAndNothingIsALowerBound) {
  const Trace trace = trace_of({{0, Absence::not_asked, Absence::garbage}, {1, Absence::not_asked, Absence::garbage}});
  EnergyOptions options;
  options.use_counter = false;
  const WindowEnergy energy = energy_of(trace, options);
  EXPECT_TRUE(energy.energy.absent_for(Absence::garbage));
  EXPECT_TRUE(energy.mean_power.absent_for(Absence::garbage));
  EXPECT_TRUE(energy.peak_power.absent_for(Absence::garbage));
  EXPECT_TRUE(energy.idle_power.absent_for(Absence::garbage));
  EXPECT_TRUE(energy.dynamic_energy.absent_for(Absence::garbage));
  EXPECT_FALSE(energy.has(EnergyFlag::incomplete));
}

TEST(Energy, AnIdlePowerAboveTheMeanIsFlagged) {
  const Trace trace = trace_of({{0, Absence::not_supported, 100 * watt}, {1, Absence::not_supported, 100 * watt}});
  EnergyOptions options;
  options.idle = 150 * watt;
  const WindowEnergy energy = energy_of(trace, options);
  EXPECT_DOUBLE_EQ(energy.dynamic_energy->in(joule), -50);
  EXPECT_TRUE(energy.has(EnergyFlag::idle_above_mean));
  options.idle = 100 * watt;
  EXPECT_FALSE(energy_of(trace, options).has(EnergyFlag::idle_above_mean));
}

}  // namespace
}  // namespace flopwatt::telemetry
