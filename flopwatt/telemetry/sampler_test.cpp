#include "flopwatt/telemetry/sampler.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "flopwatt/telemetry/nvml.hpp"
#include "flopwatt/telemetry/testing/scripted_driver.hpp"

namespace flopwatt::telemetry {
namespace {

using std::chrono::milliseconds;
using units::joule;
using units::millisecond;
using units::second;
using units::watt;

/// Devices of 100 W each; reading one takes `cost`.
class SteadySource final : public Source {
 public:
  explicit SteadySource(std::size_t devices, milliseconds cost = milliseconds{0}, std::atomic<int>* alive = nullptr)
      : cost_{cost}, alive_{alive} {
    for (std::size_t i = 0; i < devices; ++i) infos_.push_back({.source = "steady", .index = i});
    if (alive_ != nullptr) ++*alive_;
  }
  ~SteadySource() override {
    if (alive_ != nullptr) --*alive_;
  }
  std::string_view name() const override { return "steady"; }
  std::span<const DeviceInfo> devices() const override { return infos_; }
  Snapshot read(std::size_t device) override {
    std::this_thread::sleep_for(cost_);
    Snapshot snapshot;
    snapshot.time = steady_now();
    snapshot.wall = wall_now();
    snapshot.power = {100.0 * static_cast<double>(device + 1) * watt, PowerKind::instant, Scope::device};
    return snapshot;
  }

 private:
  std::vector<DeviceInfo> infos_;
  milliseconds cost_;
  std::atomic<int>* alive_;
};

std::vector<std::unique_ptr<Source>> one(std::unique_ptr<Source> source) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(source));
  return sources;
}

/// Waits for what another thread is about to do; 10 s are far more than it takes on any machine.
template <class Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds{5});
  }
  return false;
}

TEST(Sampler, ReadsEveryDeviceAgainAndAgain) {
  Sampler sampler{one(std::make_unique<SteadySource>(3)), {.period = 5 * millisecond}};
  ASSERT_EQ(sampler.devices().size(), 3U);
  sampler.start();
  EXPECT_TRUE(soon([&] { return sampler.trace(2).size() > 20; }));
  EXPECT_DOUBLE_EQ(sampler.latest(2).power.value->in(watt), 300);
  EXPECT_EQ(sampler.info(1).index, 1U);
  sampler.stop();
  std::this_thread::sleep_for(milliseconds{20});
  const std::size_t size = sampler.trace(0).size();
  std::this_thread::sleep_for(milliseconds{50});
  EXPECT_EQ(sampler.trace(0).size(), size);
}

TEST(Sampler, ItsScheduleDoesNotDrift) {
  // Each round takes 3 ms of its 20 ms: a sampler that sleeps for a period after each would be 15 % late.
  Sampler sampler{one(std::make_unique<SteadySource>(1, milliseconds{3})), {.period = 20 * millisecond}};
  sampler.start();
  ASSERT_TRUE(soon([&] { return sampler.trace(0).size() >= 40; }));
  const Trace trace = sampler.trace(0);
  // Every reading lies on the grid of the first, late by no more than the machine was busy; missed ones are left out.
  std::size_t on_grid = 0;
  for (std::size_t i = 1; i < trace.size(); ++i) {
    const double periods = to_duration(trace[i].time - trace[0].time).in(20 * millisecond);
    if (std::abs(periods - std::round(periods)) < 0.25) ++on_grid;
  }
  EXPECT_GT(on_grid, trace.size() / 2);
}

TEST(Sampler, ASlowDriverMissesReadingsInsteadOfFallingBehind) {
  Sampler sampler{one(std::make_unique<SteadySource>(1, milliseconds{25})), {.period = 10 * millisecond}};
  const SteadyTime begin = steady_now();
  sampler.start();
  ASSERT_TRUE(soon([&] { return sampler.trace(0).size() >= 5; }));
  const double elapsed = to_duration(steady_now() - begin).in(millisecond);
  EXPECT_LE(static_cast<double>(sampler.trace(0).size()), elapsed / 25 + 1);
}

TEST(Sampler, KeepsNoMoreThanItMay) {
  Sampler sampler{one(std::make_unique<SteadySource>(1)), {.period = 1 * millisecond, .capacity = 10}};
  const SteadyTime begin = steady_now();
  sampler.start();
  EXPECT_TRUE(soon([&] {
    const Trace trace = sampler.trace(0);
    return trace.size() == 10 && to_duration(trace.front().time - begin) > 20 * millisecond;
  }));
  EXPECT_EQ(sampler.trace(0).size(), 10U);
}

TEST(Sampler, ReadsOnDemandWithoutASchedule) {
  Sampler sampler{one(std::make_unique<SteadySource>(2))};
  const SteadyTime before = steady_now();
  const std::vector<Snapshot> snapshots = sampler.read_now();
  const SteadyTime after = steady_now();
  ASSERT_EQ(snapshots.size(), 2U);
  EXPECT_DOUBLE_EQ(snapshots[1].power.value->in(watt), 200);
  EXPECT_GE(snapshots[0].time, before);
  EXPECT_LE(snapshots[0].time, after);
  EXPECT_EQ(sampler.trace(0).size(), 1U);
}

TEST(Sampler, GivesTheEnergyOfAWindowReadAtBothEnds) {
  Sampler sampler{one(std::make_unique<SteadySource>(1)), {.period = 10 * millisecond}};
  sampler.start();
  const SteadyTime from = sampler.read_now()[0].time;
  std::this_thread::sleep_for(milliseconds{120});
  const SteadyTime to = sampler.read_now()[0].time;
  const WindowEnergy energy = sampler.energy_over(0, from, to);
  EXPECT_NEAR(energy.energy->in(joule), 100 * to_duration(to - from).in(second), 1e-6);
  EXPECT_EQ(energy.method, EnergyMethod::power_integral);
  EXPECT_FALSE(energy.has(EnergyFlag::incomplete));
}

TEST(Sampler, TheTotalOutlivesWhatIsKept) {
  Sampler sampler{one(std::make_unique<SteadySource>(1)), {.capacity = 2}};
  const SteadyTime from = sampler.read_now()[0].time;
  SteadyTime to{};
  for (int i = 0; i < 10; ++i) to = sampler.read_now()[0].time;
  EXPECT_EQ(sampler.trace(0).size(), 2U);
  EXPECT_NEAR(sampler.total(0).energy->in(joule), 100 * to_duration(to - from).in(second), 1e-9);
  EXPECT_EQ(sampler.total(0).since, from);
}

TEST(Sampler, TheIdleBaselineIsThatOfAllThatIsKept) {
  // Ten readings of 100 W while nothing runs, then what runs draws 250 W.
  class Load final : public Source {
   public:
    std::string_view name() const override { return "load"; }
    std::span<const DeviceInfo> devices() const override { return infos_; }
    Snapshot read(std::size_t) override {
      Snapshot snapshot;
      snapshot.time = steady_now();
      snapshot.power = {(++reads_ <= 10 ? 100 : 250) * watt, PowerKind::instant, Scope::device};
      return snapshot;
    }

   private:
    std::vector<DeviceInfo> infos_{1};
    int reads_ = 0;
  };
  Sampler sampler{one(std::make_unique<Load>())};
  for (int i = 0; i < 10; ++i) sampler.read_now();
  const SteadyTime from = sampler.read_now()[0].time;
  std::this_thread::sleep_for(milliseconds{20});
  const SteadyTime to = sampler.read_now()[0].time;
  const WindowEnergy energy = sampler.energy_over(0, from, to);
  const double seconds = to_duration(to - from).in(second);
  EXPECT_DOUBLE_EQ(energy.idle_power->in(watt), 100);
  EXPECT_NEAR(energy.dynamic_energy->in(joule), 150 * seconds, 1e-6);
  EXPECT_NEAR(sampler.energy_over(0, from, to, {.idle = 50 * watt}).dynamic_energy->in(joule), 200 * seconds, 1e-6);
}

TEST(Sampler, BeforeTheFirstReadingThereIsNone) {
  const Sampler sampler{one(std::make_unique<SteadySource>(1))};
  EXPECT_TRUE(sampler.latest(0).power.value.absent_for(Absence::no_samples));
  EXPECT_TRUE(sampler.trace(0).empty());
}

TEST(Sampler, WithoutSourcesIsEmpty) {
  Sampler sampler{{}};
  sampler.start();
  EXPECT_TRUE(sampler.devices().empty());
  EXPECT_TRUE(sampler.read_now().empty());
}

TEST(Sampler, SourcesEndWithIt) {
  std::atomic<int> alive = 0;
  {
    Sampler sampler{one(std::make_unique<SteadySource>(1, milliseconds{0}, &alive)), {.period = 1 * millisecond}};
    sampler.start();
    EXPECT_TRUE(soon([&] { return !sampler.trace(0).empty(); }));
    EXPECT_EQ(alive, 1);
  }
  EXPECT_TRUE(soon([&] { return alive == 0; }));
}

// A driver that never answers: the program goes on, its other devices too, and the silence has a reason.
TEST(Sampler, AHungDriverTakesNothingDown) {
  const testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_NVML_LIBRARY};
  ASSERT_TRUE(driver.there());
  driver.script("");
  driver.time(100);
  OpenedSource nvml = open_nvml({.library = driver.path()});
  ASSERT_TRUE(nvml);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(*nvml));
  sources.push_back(std::make_unique<SteadySource>(1));
  {
    Sampler sampler{std::move(sources), {.period = 5 * millisecond, .patience = 50 * millisecond}};
    sampler.start();
    ASSERT_TRUE(soon([&] { return sampler.trace(0).size() > 2; }));
    driver.script("hang=usage");
    ASSERT_TRUE(soon([&] { return sampler.hangs(0); }));
    EXPECT_TRUE(sampler.latest(0).power.value.absent_for(Absence::timed_out));
    EXPECT_FALSE(sampler.hangs(1));
    const std::size_t size = sampler.trace(1).size();
    EXPECT_TRUE(soon([&] { return sampler.trace(1).size() > size + 3; }));

    const SteadyTime from = sampler.trace(0).front().time;
    const WindowEnergy energy = sampler.energy_over(0, from, steady_now());
    EXPECT_TRUE(energy.has(EnergyFlag::incomplete));
    ASSERT_FALSE(energy.gaps.empty());
    EXPECT_EQ(energy.gaps.back().reason, Absence::timed_out);

    const SteadyTime begin = steady_now();
    const std::vector<Snapshot> snapshots = sampler.read_now();
    EXPECT_LT(to_duration(steady_now() - begin), 5 * second);
    EXPECT_TRUE(snapshots[0].power.value.absent_for(Absence::timed_out));
    EXPECT_TRUE(snapshots[1].power.value);

    // It comes back.
    driver.release();
    EXPECT_TRUE(soon([&] { return !sampler.hangs(0) && sampler.latest(0).power.value.has_value(); }));

    // And hangs again while the sampler ends.
    driver.script("hang=usage");
    ASSERT_TRUE(soon([&] { return sampler.hangs(0); }));
  }
  driver.release();
}

TEST(Sampler, ManyThreadsMayAskAtOnce) {
  Sampler sampler{one(std::make_unique<SteadySource>(2)), {.period = 1 * millisecond}};
  sampler.start();
  std::vector<std::thread> threads;
  std::atomic<int> answers = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) {
        if (sampler.read_now()[1].power.value) ++answers;
        static_cast<void>(sampler.latest(0));
        static_cast<void>(sampler.trace(1));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answers, 80);
}

}  // namespace
}  // namespace flopwatt::telemetry
