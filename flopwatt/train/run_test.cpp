#include "flopwatt/train/run.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace flopwatt::train {
namespace {

using units::joule;
using units::kilowatt_hour;
using units::second;
using units::watt;

power::Prediction watts(double mean, double lo, double hi) {
  power::Prediction prediction;
  prediction.power = mean * watt;
  prediction.lo = lo * watt;
  prediction.hi = hi * watt;
  return prediction;
}

// 36 000 tokens at 10 a step of 2 s: 3 600 steps, 7 200 s.  250 W over it: 1.8 MJ = 0.5 kWh (0.4 to 0.6 for 200 W to
// 300 W).  PUE 1.2: 0.6 kWh.  400 g/kWh: 240 g.  0.25 a kWh: 0.15.
TEST(Price, MultipliesPowerByTimeAndTariff) {
  const auto run = price(2 * second, 10, watts(250, 200, 300), {.tokens = 36'000, .steps = {}},
                         {.pue = 1.2, .carbon_g_per_kwh = 400, .price_per_kwh = 0.25});
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(run->steps, 3600);
  EXPECT_DOUBLE_EQ(run->time.in(second), 7200);
  EXPECT_DOUBLE_EQ(run->device_energy.mean.in(joule), 1.8e6);
  EXPECT_DOUBLE_EQ(run->device_energy.lo.in(kilowatt_hour), 0.4);
  EXPECT_DOUBLE_EQ(run->device_energy.hi.in(kilowatt_hour), 0.6);
  EXPECT_DOUBLE_EQ(run->facility_energy.mean.in(kilowatt_hour), 0.6);
  EXPECT_DOUBLE_EQ(run->carbon_grams->mean, 240);
  EXPECT_DOUBLE_EQ(run->price->mean, 0.15);
}

TEST(Price, TakesStepsOrTokensOrOneStep) {
  const auto power = watts(100, 90, 110);
  const auto one = price(2 * second, 10, power, {}, {});
  const auto steps = price(2 * second, 10, power, {.tokens = {}, .steps = 7}, {});
  const auto tokens = price(2 * second, 10, power, {.tokens = 70, .steps = {}}, {});
  ASSERT_TRUE(one && steps && tokens);
  EXPECT_DOUBLE_EQ(one->device_energy.mean.in(joule), 200);
  EXPECT_DOUBLE_EQ(steps->device_energy.mean.in(joule), 1400);
  EXPECT_EQ(steps->device_energy.mean, tokens->device_energy.mean);
  EXPECT_FALSE(one->carbon_grams.has_value());
  EXPECT_FALSE(one->price.has_value());
}

TEST(Price, RefusesAPueBelowOneAndARunWithoutFiniteEnergy) {
  const auto power = watts(100, 90, 110);
  EXPECT_FALSE(price(2 * second, 10, power, {}, {.pue = 0.9, .carbon_g_per_kwh = {}, .price_per_kwh = {}}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(price(2 * second, 10, power, {}, {.pue = nan, .carbon_g_per_kwh = {}, .price_per_kwh = {}}));
  EXPECT_FALSE(price(1e300 * second, 10, power, {.tokens = {}, .steps = 1e18}, {}));
}

}  // namespace
}  // namespace flopwatt::train
