#include "flopwatt/metrics/utilization.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace flopwatt::metrics {
namespace {

using units::byte;
using units::flop_per_second;
using units::joule;
using units::second;
using units::teraflop_per_second;
using units::token;
using units::watt;

/// 600 GFLOP of model work in a step, 700 GFLOP executed, 100 tokens.
work::Totals totals() {
  work::Totals t;
  t.step = 600'000'000'000;
  t.hardware_step = 700'000'000'000;
  t.tokens = 100;
  return t;
}

// 600 GFLOP / 0.5 s = 1.2 TFLOP/s of a 2 TFLOP/s peak: 0.6.  700 / 0.5 = 1.4: 0.7.  90 GB / 0.5 s = 180 GB/s of
// 200 GB/s: 0.9.  100 tokens / 0.5 s = 200 token/s.
TEST(Utilization, DividesWorkByTimeAndPeak) {
  const auto u = utilization(totals(), 90e9 * byte, 0.5 * second, {2 * teraflop_per_second, 200e9 * byte / second});
  ASSERT_TRUE(u);
  EXPECT_DOUBLE_EQ(u->mfu, 0.6);
  EXPECT_DOUBLE_EQ(u->hfu, 0.7);
  EXPECT_DOUBLE_EQ(u->mbu.value(), 0.9);
  EXPECT_DOUBLE_EQ(u->tokens.in(token / second), 200);
  EXPECT_DOUBLE_EQ(u->model_flops.in(flop_per_second), 1.2e12);
  EXPECT_FALSE(u->above_peak());
  EXPECT_FALSE(u->above_bandwidth());
}

// The same work in a tenth of the time: every ratio is ten times larger, and none stops at 1.
TEST(Utilization, NeverClampsAndFlagsTheImpossible) {
  const auto u = utilization(totals(), 90e9 * byte, 0.05 * second, {2 * teraflop_per_second, 200e9 * byte / second});
  ASSERT_TRUE(u);
  EXPECT_DOUBLE_EQ(u->mfu, 6.0);
  EXPECT_DOUBLE_EQ(u->mbu.value(), 9.0);
  EXPECT_TRUE(u->above_peak());
  EXPECT_TRUE(u->above_bandwidth());
}

TEST(Utilization, HasNoMbuWithoutABandwidth) {
  const auto u = utilization(totals(), 90e9 * byte, 0.5 * second, {2 * teraflop_per_second, std::nullopt});
  ASSERT_TRUE(u);
  EXPECT_FALSE(u->mbu.has_value());
  EXPECT_FALSE(u->above_bandwidth());
}

TEST(Utilization, RefusesTimesAndPeaksThatAreNotAboveZero) {
  for (const double seconds : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), 1e-300}) {
    const auto u = utilization(totals(), 90e9 * byte, seconds * second, {2 * teraflop_per_second, std::nullopt});
    ASSERT_FALSE(u) << seconds;
    EXPECT_EQ(u.error().code, Errc::usage);
  }
  EXPECT_FALSE(utilization(totals(), 90e9 * byte, 1 * second, {}));
}

// nanoGPT pull request 464: 104 % on an H100 because the peak was hard-coded as an A100's 312.  Against the H100's
// 989.4: 1.04 · 312 / 989.4 = 0.32796.
TEST(Utilization, TheRightPeakTurnsAnImpossibleRatioIntoAPlausibleOne) {
  work::Totals t;
  t.step = 324'480'000'000'000;  // 1.04 · 312e12
  t.hardware_step = t.step;
  const auto wrong = utilization(t, {}, 1 * second, {312 * teraflop_per_second, std::nullopt});
  const auto right = utilization(t, {}, 1 * second, {989.4 * teraflop_per_second, std::nullopt});
  ASSERT_TRUE(wrong && right);
  EXPECT_DOUBLE_EQ(wrong->mfu, 1.04);
  EXPECT_TRUE(wrong->above_peak());
  EXPECT_NEAR(right->mfu, 0.32796, 5e-6);
}

// 300 W at 150 token/s are 2 J a token.
TEST(EnergyPerToken, IsPowerOverRate) {
  EXPECT_DOUBLE_EQ(energy_per_token(300 * watt, 150 * token / second).in(joule / token), 2.0);
}

}  // namespace
}  // namespace flopwatt::metrics
