#include "flopwatt/train/pace.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace flopwatt::train {
namespace {

using units::byte;
using units::flop_per_second;
using units::second;
using units::token;

work::Row row(work::Pass pass, units::Count model_flops, units::Count hardware_flops) {
  work::Row r;
  r.pass = pass;
  r.executions = 1;
  r.model_flops = model_flops;
  r.hardware_flops = hardware_flops;
  return r;
}

void add(std::array<units::Count, work::kByteKindCount>& bytes, work::ByteKind kind, units::Count count) {
  bytes[static_cast<std::size_t>(kind)] += count;
}

/// One micro-batch of 10 tokens:
///   forward    600 FLOP (700 executed),  20 B of weights read
///   backward  1200 FLOP (1200 executed), 20 B of weights read, 30 B of gradients written
///   update      no product,              40 B of optimizer state read, 40 B written
work::Ledger micro_batch() {
  work::Row forward = row(work::Pass::forward, 600, 700);
  add(forward.bytes_read, work::ByteKind::weights, 20);
  work::Row backward = row(work::Pass::backward, 1200, 1200);
  add(backward.bytes_read, work::ByteKind::weights, 20);
  add(backward.bytes_written, work::ByteKind::gradients, 30);
  work::Row update = row(work::Pass::update, 0, 0);
  add(update.bytes_read, work::ByteKind::optimizer, 40);
  add(update.bytes_written, work::ByteKind::optimizer, 40);
  return work::Ledger{{forward, backward, update}, 10};
}

constexpr Hardware kDevice{.peak = 1000 * flop_per_second, .bandwidth = 100 * byte / second};

// Four micro-batches: 4 · (20 + 20 + 30) + 80 = 360 B; FLOPs and tokens times four.
TEST(OptimizerStep, UpdatesOnceForAllMicroBatches) {
  const work::Totals one = optimizer_step(micro_batch(), 1).totals();
  const work::Totals four = optimizer_step(micro_batch(), 4).totals();
  EXPECT_EQ(one.bytes.total, units::Count{150});
  EXPECT_EQ(four.bytes.total, units::Count{360});
  EXPECT_EQ(four.step, units::Count{7200});
  EXPECT_EQ(four.hardware_step, units::Count{7600});
  EXPECT_EQ(four.tokens, units::Count{40});
}

// 10 tokens at 5 token/s: 2 s.  The update moves 80 B at 100 B/s: 0.8 s of them.  All 150 B take 1.5 s < 2 s.
TEST(StepTime, FollowsAMeasuredRate) {
  const auto time = step_time(micro_batch(), kDevice, MeasuredRate{5 * token / second});
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->total.in(second), 2.0);
  EXPECT_DOUBLE_EQ(time->optimizer.in(second), 0.8);
  EXPECT_DOUBLE_EQ(time->memory_bound->in(second), 1.5);
  EXPECT_FALSE(time->faster_than_memory());
}

// 1800 FLOP / (0.9 · 1000 FLOP/s) = 2 s; at MFU 1.8 it would be 1 s, which the memory (1.5 s) does not allow.
TEST(StepTime, FollowsAnMfuAndSaysWhereTheMemoryIsSlower) {
  const auto plausible = step_time(micro_batch(), kDevice, AchievedMfu{0.9});
  ASSERT_TRUE(plausible);
  EXPECT_DOUBLE_EQ(plausible->total.in(second), 2.0);
  EXPECT_FALSE(plausible->faster_than_memory());
  const auto impossible = step_time(micro_batch(), kDevice, AchievedMfu{1.8});
  ASSERT_TRUE(impossible);
  EXPECT_DOUBLE_EQ(impossible->total.in(second), 1.0);
  EXPECT_TRUE(impossible->faster_than_memory());
}

// At efficiency 0.5 (500 FLOP/s, 50 B/s): forward max(700/500, 20/50) = 1.4; backward max(1200/500, 50/50) = 2.4;
// update max(0, 80/50) = 1.6.  In all 5.4 s.
TEST(StepTime, AddsTheSlowerOfComputeAndMemoryOverTheOperatorClasses) {
  const auto time = step_time(micro_batch(), kDevice, Roofline{0.5});
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->total.in(second), 5.4);
  EXPECT_DOUBLE_EQ(time->optimizer.in(second), 1.6);
}

TEST(StepTime, NeedsABandwidthOnlyForTheRoofline) {
  const Hardware no_bandwidth{.peak = 1000 * flop_per_second, .bandwidth = {}};
  const auto stated = step_time(micro_batch(), no_bandwidth, AchievedMfu{0.9});
  ASSERT_TRUE(stated);
  EXPECT_FALSE(stated->memory_bound.has_value());
  EXPECT_FALSE(stated->faster_than_memory());
  const auto roofline = step_time(micro_batch(), no_bandwidth, Roofline{0.5});
  ASSERT_FALSE(roofline);
  EXPECT_EQ(roofline.error().code, Errc::usage);
}

TEST(StepTime, RefusesWhatGivesNoTime) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Pace& pace :
       {Pace{AchievedMfu{0}}, Pace{AchievedMfu{-1}}, Pace{AchievedMfu{nan}}, Pace{AchievedMfu{1e-320}},
        Pace{MeasuredRate{0 * token / second}}, Pace{Roofline{0}}, Pace{Roofline{nan}}}) {
    const auto time = step_time(micro_batch(), kDevice, pace);
    ASSERT_FALSE(time) << name(pace);
    EXPECT_EQ(time.error().code, Errc::usage);
  }
}

}  // namespace
}  // namespace flopwatt::train
