#include "flopwatt/track/tracker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace flopwatt::track {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using testing::HasSubstr;
using units::second;
using units::token;

// A clock that the test sets.
nanoseconds test_time{};
nanoseconds test_clock() noexcept { return test_time; }
void pass(nanoseconds time) { test_time += time; }

constexpr double kTera = 1e12;

// 1 TFLOP and 1000 positions a micro-batch on a device of 10 TFLOP/s.
TrackerOptions options() {
  TrackerOptions o;
  o.work = {.model_flops = 1 * units::teraflop,
            .hardware_flops = 1.5 * units::teraflop,
            .bytes = 40 * units::gigabyte,
            .optimizer_bytes = 20 * units::gigabyte,
            .slots = 1000 * token,
            .origin = "stated"};
  o.peak = DevicePeak{.device = "D",
                      .flops = 10 * units::teraflop_per_second,
                      .bandwidth = 200 * units::gigabyte_per_second,
                      .source = "stated"};
  o.synchronous = true;
  o.clock = &test_clock;
  return o;
}

Tracker make(TrackerOptions o) {
  test_time = nanoseconds{5'000'000'000};
  auto tracker = Tracker::create(std::move(o));
  EXPECT_TRUE(tracker) << tracker.error().message();
  return std::move(*tracker);
}

TEST(Tracker, OneStepByHand) {
  Tracker tracker = make(options());
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  const Window run = tracker.run();
  EXPECT_EQ(run.steps, 1);
  EXPECT_DOUBLE_EQ(run.step_time().in(second), 0.5);
  EXPECT_DOUBLE_EQ(*run.mfu.value, 0.2);  // 1 TFLOP / 0.5 s / 10 TFLOP/s
  EXPECT_DOUBLE_EQ(*run.hfu.value, 0.3);  // 1.5 / 0.5 / 10
  EXPECT_DOUBLE_EQ(*run.mbu.value, 0.6);  // (40 + 20) GB / 0.5 s / 200 GB/s
  EXPECT_DOUBLE_EQ(run.slots_per_second.in(units::token_per_second), 2000);
  EXPECT_TRUE(run.has(Doubt::slots_counted));
  EXPECT_FALSE(run.tokens_per_second);
  EXPECT_FALSE(run.has(Doubt::unsynchronized));
}

// Launches return at once and the wait comes after ten steps: 10 · 1 ms + 990 ms are 100 ms a step, not 1 ms.
TEST(Tracker, TheWaitForTheDeviceBelongsToTheStepsThatCausedIt) {
  TrackerOptions o = options();
  o.window_steps = 10;
  o.synchronous = false;
  o.synchronize = [] { pass(milliseconds{990}); };
  std::vector<Window> windows;
  o.sinks.push_back(callback_sink([&](const Identity&, const Window& w) { windows.push_back(w); }));
  Tracker tracker = make(std::move(o));
  for (int i = 0; i < 10; ++i) {
    const auto step = tracker.step();
    pass(milliseconds{1});
  }
  ASSERT_EQ(windows.size(), 1U);
  EXPECT_NEAR(windows[0].step_time().in(second), 0.1, 1e-12);
  EXPECT_FALSE(windows[0].has(Doubt::unsynchronized));
}

TEST(Tracker, WithoutAWaitTheTimesAreDoubtful) {
  TrackerOptions o = options();
  o.synchronous = false;
  Tracker tracker = make(std::move(o));
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  EXPECT_TRUE(tracker.run().has(Doubt::unsynchronized));
}

// Accumulation 8, 4096 tokens a micro-batch, a step of 2 s: 16 384 tokens/s, not 2048.
TEST(Tracker, AStepIsAllOfItsMicroBatches) {
  for (const bool told : {false, true}) {
    TrackerOptions o = options();
    o.work.slots = 4096 * token;
    o.accumulation = told ? 1 : 8;
    Tracker tracker = make(std::move(o));
    {
      auto step = tracker.step();
      for (int i = 0; told && i < 8; ++i) step.micro_batch();
      pass(milliseconds{2000});
    }
    const Window run = tracker.run();
    EXPECT_DOUBLE_EQ(run.slots_per_second.in(units::token_per_second), 16384);
    EXPECT_EQ(run.micro_batches, 8);
    EXPECT_DOUBLE_EQ(run.model_flops.in(units::flop), 8 * kTera);
    // The optimizer's bytes move once: (8 · 40 + 20) GB / 2 s / 200 GB/s.
    EXPECT_DOUBLE_EQ(*run.mbu.value, 0.85);
  }
}

// Half of the positions are padding: MFU counts the other half, HFU what the kernels executed.
TEST(Tracker, PaddingIsNoUsefulWork) {
  Tracker tracker = make(options());
  {
    auto step = tracker.step();
    step.micro_batch({.slots = 1000, .non_padding = 500, .labels = 499});
    pass(milliseconds{500});
  }
  const Window run = tracker.run();
  EXPECT_DOUBLE_EQ(*run.mfu.value, 0.1);
  EXPECT_DOUBLE_EQ(*run.hfu.value, 0.3);
  EXPECT_DOUBLE_EQ(run.tokens_per_second->in(units::token_per_second), 1000);
  EXPECT_DOUBLE_EQ(run.slots_per_second.in(units::token_per_second), 2000);
  EXPECT_EQ(run.tokens.labels, 499);
  EXPECT_FALSE(run.has(Doubt::slots_counted));
}

TEST(Tracker, TokensThatCannotBeCountAsNotTold) {
  Tracker tracker = make(options());
  {
    auto step = tracker.step();
    step.micro_batch({.slots = 1000, .non_padding = 1001, .labels = -1});
    pass(milliseconds{500});
  }
  const Window run = tracker.run();
  EXPECT_FALSE(run.tokens.non_padding);
  EXPECT_FALSE(run.tokens.labels);
  EXPECT_EQ(tracker.misuses(), 2);
}

// 0.5 s in a step, then 1.5 s of evaluation: 20 % in steps, 5 % of the wall clock.
TEST(Tracker, StepMfuAndRunMfuAreTwoThings) {
  Tracker tracker = make(options());
  for (int i = 0; i < 2; ++i) {
    {
      const auto step = tracker.step();
      pass(milliseconds{500});
    }
    if (i == 0) pass(milliseconds{3000});
  }
  const Window run = tracker.run();
  EXPECT_DOUBLE_EQ(*run.mfu.value, 0.2);
  EXPECT_DOUBLE_EQ(run.wall.in(second), 4.0);
  EXPECT_DOUBLE_EQ(*run.run_mfu.value, 0.05);  // 2 TFLOP / 4 s / 10 TFLOP/s
}

TEST(Tracker, WarmUpIsInNoFigure) {
  TrackerOptions o = options();
  o.warmup_steps = 2;
  int waits = 0;
  o.synchronize = [&] { ++waits; };
  Tracker tracker = make(std::move(o));
  for (const int time : {9000, 7000, 500, 500}) {
    const auto step = tracker.step();
    pass(milliseconds{time});
  }
  const Window run = tracker.run();
  EXPECT_EQ(run.first_step, 2);
  EXPECT_EQ(run.last_step, 3);
  EXPECT_DOUBLE_EQ(run.wall.in(second), 1.0);
  EXPECT_DOUBLE_EQ(*run.mfu.value, 0.2);
  EXPECT_EQ(waits, 3);  // once at the end of the warm-up, so that it leaves nothing behind, then each window
}

// 312 TFLOP/s stands for a device that does 989.4: 104 % is no MFU.  With the right peak it is 32.8 %.
TEST(Tracker, AnMfuOfOneOrMoreIsWithheldNotClamped) {
  TrackerOptions o = options();
  o.work.model_flops = 1.04 * 312 * units::teraflop;
  o.work.hardware_flops = o.work.model_flops;
  o.peak->flops = 312 * units::teraflop_per_second;
  Tracker wrong = make(std::move(o));
  {
    const auto step = wrong.step();
    pass(milliseconds{1000});
  }
  const Window window = wrong.run();
  EXPECT_FALSE(window.mfu.value);
  EXPECT_DOUBLE_EQ(*window.mfu.impossible, 1.04);
  EXPECT_TRUE(window.has(Doubt::above_peak));
  const std::string line = to_json_line(wrong.identity(), window, "window");
  EXPECT_THAT(line, HasSubstr(R"("mfu":null)"));
  EXPECT_THAT(line, HasSubstr(R"("mfu_computed":1.04)"));
  EXPECT_THAT(line, HasSubstr("above_peak"));

  o = options();
  o.work.model_flops = 1.04 * 312 * units::teraflop;
  o.work.hardware_flops = o.work.model_flops;
  o.peak->flops = 989.4 * units::teraflop_per_second;
  Tracker right = make(std::move(o));
  {
    const auto step = right.step();
    pass(milliseconds{1000});
  }
  EXPECT_NEAR(*right.run().mfu.value, 0.328, 5e-4);
}

TEST(Tracker, ExactlyThePeakIsTooMuchAsWell) {
  TrackerOptions o = options();
  o.work.model_flops = 10 * units::teraflop;
  Tracker tracker = make(std::move(o));
  {
    const auto step = tracker.step();
    pass(milliseconds{1000});
  }
  EXPECT_FALSE(tracker.run().mfu.value);
}

TEST(Tracker, WithoutAPeakThereIsNoMfuButEverythingElse) {
  TrackerOptions o = options();
  o.peak.reset();
  Tracker tracker = make(std::move(o));
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  const Window run = tracker.run();
  EXPECT_FALSE(run.mfu.value);
  EXPECT_FALSE(run.mfu.impossible);
  EXPECT_FALSE(run.has(Doubt::above_peak));
  EXPECT_DOUBLE_EQ(run.slots_per_second.in(units::token_per_second), 2000);
}

TEST(Tracker, ARankOfSeveralDevicesHasTheirPeaks) {
  TrackerOptions o = options();
  o.devices = 2;
  Tracker tracker = make(std::move(o));
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  EXPECT_DOUBLE_EQ(*tracker.run().mfu.value, 0.1);
}

TEST(Tracker, EnergyOfTheStretch) {
  TrackerOptions o = options();
  o.energy = [](telemetry::SteadyTime from, telemetry::SteadyTime to) {
    telemetry::WindowEnergy one;
    one.energy = 300.0 * telemetry::to_duration(to - from) * units::watt;
    telemetry::WindowEnergy two = one;
    return std::vector{one, two};
  };
  Tracker tracker = make(std::move(o));
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  const Window run = tracker.run();
  EXPECT_DOUBLE_EQ(run.total_energy->in(units::joule), 300);  // two devices of 300 W for 0.5 s
  EXPECT_DOUBLE_EQ(run.energy_per_token->in(units::joule / token), 0.3);
}

TEST(Tracker, EnergyOfWhichAPartIsMissingIsNoTotal) {
  TrackerOptions o = options();
  o.energy = [](telemetry::SteadyTime, telemetry::SteadyTime) {
    std::vector<telemetry::WindowEnergy> parts(2);
    parts[0].energy = 5 * units::joule;
    parts[1].energy = telemetry::Absence::device_lost;
    return parts;
  };
  Tracker tracker = make(std::move(o));
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  EXPECT_FALSE(tracker.run().total_energy);
  EXPECT_THAT(to_json_line(tracker.identity(), tracker.run(), "run"), HasSubstr("device_lost"));
}

TEST(Tracker, MisuseIsCountedAndNeverFatal) {
  Tracker tracker = make(options());
  tracker.stop();
  tracker.micro_batch();
  tracker.start();
  tracker.start();  // drops the first
  pass(milliseconds{500});
  tracker.stop();
  tracker.stop();
  EXPECT_EQ(tracker.misuses(), 4);
  EXPECT_EQ(tracker.run().steps, 1);
}

TEST(Tracker, ACancelledStepCountsForNothing) {
  Tracker tracker = make(options());
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  {
    auto step = tracker.step();
    pass(milliseconds{100});
    step.cancel();
  }
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  const Window run = tracker.run();
  EXPECT_EQ(run.steps, 2);
  EXPECT_DOUBLE_EQ(run.in_steps.in(second), 1.0);
  EXPECT_DOUBLE_EQ(run.wall.in(second), 1.1);
}

TEST(Tracker, WhatACallbackThrowsDoesNotEndTheLoop) {
  TrackerOptions o = options();
  o.sinks.push_back(callback_sink([](const Identity&, const Window&) { throw std::runtime_error{"full"}; }));
  o.synchronize = [] { throw std::runtime_error{"device lost"}; };
  Tracker tracker = make(std::move(o));
  {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  tracker.finish();
  EXPECT_EQ(tracker.run().steps, 1);
  ASSERT_TRUE(tracker.trouble());
  EXPECT_THAT(tracker.trouble()->what, HasSubstr("device lost"));  // the first
}

TEST(Tracker, FinishClosesTheOpenWindow) {
  TrackerOptions o = options();
  o.window_steps = 4;
  std::vector<Window> windows, runs;
  o.sinks.push_back(callback_sink([&](const Identity&, const Window& w) { windows.push_back(w); },
                                  [&](const Identity&, const Window& w) { runs.push_back(w); }));
  Tracker tracker = make(std::move(o));
  for (int i = 0; i < 6; ++i) {
    const auto step = tracker.step();
    pass(milliseconds{500});
  }
  EXPECT_EQ(windows.size(), 1U);
  tracker.finish();
  ASSERT_EQ(windows.size(), 2U);
  EXPECT_EQ(windows[1].first_step, 4);
  EXPECT_EQ(windows[1].steps, 2);
  ASSERT_EQ(runs.size(), 1U);
  EXPECT_EQ(runs[0].steps, 6);
}

TEST(Tracker, RefusesWhatCannotBe) {
  const auto refused = [](const auto& change) {
    TrackerOptions o = options();
    change(o);
    const auto tracker = Tracker::create(std::move(o));
    return !tracker && tracker.error().code == Errc::usage;
  };
  EXPECT_TRUE(refused([](auto& o) { o.work.model_flops = {}; }));
  EXPECT_TRUE(refused([](auto& o) { o.work.slots = {}; }));
  EXPECT_TRUE(refused([](auto& o) { o.peak->flops = -1 * units::teraflop_per_second; }));
  EXPECT_TRUE(refused([](auto& o) { o.peak->bandwidth = units::Bandwidth{}; }));
  EXPECT_TRUE(refused([](auto& o) { o.devices = 0; }));
  EXPECT_TRUE(refused([](auto& o) { o.accumulation = 0; }));
  EXPECT_TRUE(refused([](auto& o) { o.warmup_steps = -1; }));
  EXPECT_TRUE(refused([](auto& o) { o.window_steps = 0; }));
  EXPECT_TRUE(refused([](auto& o) { o.rank = 1; }));
}

}  // namespace
}  // namespace flopwatt::track
