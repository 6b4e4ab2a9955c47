#include "flopwatt/telemetry/running_energy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace flopwatt::telemetry {
namespace {

using units::Energy;
using units::joule;
using units::Power;
using units::second;
using units::watt;

Snapshot at(double time, Reading<Power> power, Reading<Energy> energy = Absence::not_supported) {
  Snapshot snapshot;
  snapshot.time = SteadyTime{std::llround(time * 1e9)};
  snapshot.power = {power, PowerKind::instant, Scope::device};
  snapshot.energy = energy;
  return snapshot;
}

TEST(RunningEnergy, IsTheCountersDifference) {
  RunningEnergy running{{.counter = {.range = 1000 * joule, .max_power = 500 * watt}}};
  EXPECT_TRUE(running.total().energy.absent_for(Absence::no_samples));
  running.add(at(0, Absence::not_supported, 900 * joule));
  EXPECT_TRUE(running.total().energy.absent_for(Absence::no_samples));
  running.add(at(1, Absence::not_supported, 50 * joule));  // 100 to the end, 50 from the beginning
  running.add(at(2, Absence::not_supported, 250 * joule));
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 350);
  EXPECT_EQ(running.total().method, EnergyMethod::counter);
  EXPECT_DOUBLE_EQ(running.total().covered.in(second), 2);
  EXPECT_EQ(running.total().gaps, 0U);
}

TEST(RunningEnergy, IsTheIntegralWithoutACounter) {
  RunningEnergy running{{}};
  running.add(at(0, 100 * watt));
  running.add(at(1, 200 * watt));
  running.add(at(2, Absence::device_lost));
  running.add(at(3, 200 * watt));
  running.add(at(4, 200 * watt));
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 350);
  EXPECT_DOUBLE_EQ(running.total().covered.in(second), 2);
  EXPECT_EQ(running.total().method, EnergyMethod::power_integral);
  EXPECT_EQ(running.total().gaps, 2U);
  running.add(at(100, 200 * watt));  // too far for a straight line
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 350);
}

TEST(RunningEnergy, PowerStandsInUntilTheCounterIsReadAgain) {
  RunningEnergy running{{}};
  running.add(at(0, 100 * watt, 0 * joule));
  running.add(at(0.5, 100 * watt, Absence::not_asked));
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 50);
  running.add(at(1, 100 * watt, 120 * joule));
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 120);
  EXPECT_EQ(running.total().method, EnergyMethod::counter);
}

TEST(RunningEnergy, AResetIsBridgedByPower) {
  RunningEnergy running{{.counter = {.range = 1e15 * joule}}};
  running.add(at(0, 100 * watt, 5000 * joule));
  running.add(at(1, 100 * watt, 5100 * joule));
  running.add(at(2, 100 * watt, 3 * joule));
  running.add(at(3, 100 * watt, 103 * joule));
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 300);
  EXPECT_EQ(running.total().method, EnergyMethod::mixed);
  EXPECT_EQ(running.total().gaps, 1U);
}

TEST(RunningEnergy, AStuckCounterIsReplacedAndItsReturnCountsNothingTwice) {
  RunningEnergy running{{}};
  for (int i = 0; i <= 60; ++i) running.add(at(i, 100 * watt, 777 * joule));
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 6000);
  EXPECT_EQ(running.total().gaps, 1U);
  running.add(at(61, 100 * watt, (777 + 6100) * joule));  // it catches up with what power has told already
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 6100);
  running.add(at(62, 100 * watt, (777 + 6200) * joule));
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 6200);
}

TEST(RunningEnergy, OldSnapshotsAreIgnored) {
  RunningEnergy running{{}};
  running.add(at(1, 100 * watt));
  running.add(at(2, 100 * watt));
  running.add(at(1.5, 900 * watt));
  running.add(at(2, 900 * watt));
  EXPECT_DOUBLE_EQ(running.total().energy->in(joule), 100);
}

TEST(RunningEnergy, NeverFallsAndAgreesWithTheWholeTrace) {
  std::mt19937_64 engine{7};
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>{low, high}(engine);
  };
  for (int i = 0; i < 200; ++i) {
    const bool has_counter = uniform(0, 1) < 0.5;
    const bool faults = uniform(0, 1) < 0.5;
    const DeviceInfo device{.counter = {.range = 1e15 * joule}};
    RunningEnergy running{device};
    Trace trace{device};
    double time = 0;
    double joules = uniform(0, 1e6);
    Energy shown;
    for (int k = 0; k < 100; ++k) {
      const double watts = uniform(1, 700);
      Snapshot snapshot =
          at(time, watts * watt, has_counter ? Reading<Energy>{joules * joule} : Absence::not_supported);
      if (faults && uniform(0, 1) < 0.1) snapshot.energy = Absence::timed_out;
      if (faults && uniform(0, 1) < 0.1) joules = 0;
      if (faults && uniform(0, 1) < 0.1) snapshot.power.value = Absence::timed_out;
      running.add(snapshot);
      ASSERT_TRUE(trace.add(snapshot));
      if (running.total().energy) {
        EXPECT_GE(*running.total().energy, shown) << i;
        shown = *running.total().energy;
      }
      const double step = uniform(0.05, 0.5);
      time += step;
      joules += watts * step;
    }
    if (faults) continue;
    EXPECT_NEAR(shown.in(joule), energy_of(trace).energy->in(joule), 1e-6) << i;
  }
}

}  // namespace
}  // namespace flopwatt::telemetry
