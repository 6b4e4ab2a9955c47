#include "flopwatt/stats/error_metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace flopwatt::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 2 4 4 4 5 5 7 9: sum 40, mean 5; squares 9 1 1 1 0 0 4 16 = 32; sd = sqrt(32 / 7).
TEST(StatsErrorMetrics, MeanAndSdByHand) {
  const std::vector<double> values{2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(mean(values).value(), 5);
  EXPECT_DOUBLE_EQ(sd(values).value(), std::sqrt(32.0 / 7));
}

// NIST StRD NumAcc4: 10000000.2 once and 500 times the pair .1, .3; certified mean 10000000.2, sd 0.1.
TEST(StatsErrorMetrics, NumAcc4KeepsItsDigits) {
  std::vector<double> values{10000000.2};
  for (int i = 0; i < 500; ++i) {
    values.push_back(10000000.1);
    values.push_back(10000000.3);
  }
  EXPECT_DOUBLE_EQ(mean(values).value(), 10000000.2);
  EXPECT_NEAR(sd(values).value(), 0.1, 1e-9);
}

// Type 7 of 10 20 30 40: h = 3 p.  p = 0.5: h = 1.5, 20 + 0.5 · 10 = 25; p = 0.9: h = 2.7, 30 + 0.7 · 10 = 37.
TEST(StatsErrorMetrics, QuantileInterpolates) {
  const std::vector<double> values{40, 10, 30, 20};
  EXPECT_DOUBLE_EQ(quantile(values, 0).value(), 10);
  EXPECT_DOUBLE_EQ(quantile(values, 0.5).value(), 25);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9).value(), 37);
  EXPECT_DOUBLE_EQ(quantile(values, 1).value(), 40);
  EXPECT_DOUBLE_EQ(median(values).value(), 25);
  EXPECT_DOUBLE_EQ(quantile(std::vector<double>{8}, 0.3).value(), 8);
}

// 100 → 110 is +10 %, 200 → 180 is -10 %, 50 → 60 is +20 %, 400 → 400 is 0.
// MAPE 40 / 4 = 10, bias 20 / 4 = 5; absolute ascending 0 10 10 20: median 10, p95: h = 2.85, 10 + 0.85 · 10 = 18.5.
TEST(StatsErrorMetrics, SummaryByHand) {
  const std::vector<double> measured{100, 200, 50, 400};
  const std::vector<double> predicted{110, 180, 60, 400};
  const ErrorSummary summary = summarize_errors(measured, predicted).value();
  EXPECT_EQ(summary.n, 4U);
  EXPECT_DOUBLE_EQ(summary.mape_pct, 10);
  EXPECT_DOUBLE_EQ(summary.bias_pct, 5);
  EXPECT_DOUBLE_EQ(summary.median_pct, 10);
  EXPECT_DOUBLE_EQ(summary.p90_pct, 10 + 0.7 * 10);
  EXPECT_DOUBLE_EQ(summary.p95_pct, 18.5);
  EXPECT_DOUBLE_EQ(summary.max_pct, 20);
  EXPECT_DOUBLE_EQ(mape_pct(measured, predicted).value(), 10);
  EXPECT_DOUBLE_EQ(bias_pct(measured, predicted).value(), 5);
}

// A negative measurement keeps the meaning of the sign: -100 → -90 is 10 % too high.
TEST(StatsErrorMetrics, SignIsThatOfTheDifference) {
  EXPECT_DOUBLE_EQ(bias_pct(std::vector<double>{-100}, std::vector<double>{-90}).value(), 10);
}

TEST(StatsErrorMetrics, BadInputIsAnError) {
  const std::vector<double> none;
  const std::vector<double> one{1};
  const std::vector<double> two{1, 2};
  EXPECT_EQ(mean(none).error().code, Errc::bad_data);
  EXPECT_EQ(sd(one).error().code, Errc::bad_data);
  EXPECT_EQ(median(none).error().code, Errc::bad_data);
  EXPECT_EQ(quantile(one, 1.5).error().code, Errc::usage);
  EXPECT_EQ(quantile(one, kNan).error().code, Errc::usage);
  EXPECT_EQ(mape_pct(one, two).error().code, Errc::bad_data);
  EXPECT_EQ(mape_pct(none, none).error().code, Errc::bad_data);
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    EXPECT_EQ(mean(std::vector<double>{1, bad}).error().code, Errc::bad_data);
    EXPECT_EQ(mape_pct(two, std::vector<double>{1, bad}).error().code, Errc::bad_data);
    EXPECT_EQ(summarize_errors(std::vector<double>{bad, 1}, two).error().code, Errc::bad_data);
  }
  const Error zero = mape_pct(std::vector<double>{1, 0}, two).error();
  EXPECT_EQ(zero.code, Errc::bad_data);
  EXPECT_NE(zero.what.find("measured[1]"), std::string::npos);
}

}  // namespace
}  // namespace flopwatt::stats
