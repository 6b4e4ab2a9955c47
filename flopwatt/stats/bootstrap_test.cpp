#include "flopwatt/stats/bootstrap.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "flopwatt/stats/error_metrics.hpp"
#include "flopwatt/stats/ols.hpp"
#include "flopwatt/stats/random.hpp"

namespace flopwatt::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double noise(Random& random) {
  double sum = -6;  // twelve uniforms: mean 6, variance 1
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

struct Sample {
  std::vector<double> x;
  std::vector<double> y;
};

Sample line_with_noise(std::size_t n, double intercept, double slope, double sd_of_noise, std::uint64_t seed) {
  Random random(seed);
  Sample sample;
  for (std::size_t i = 0; i < n; ++i) {
    sample.x.push_back(40 * random.uniform());
    sample.y.push_back(intercept + slope * sample.x.back() + sd_of_noise * noise(random));
  }
  return sample;
}

/// The line and its errors on drawn rows, by the plain route.
Statistic line_statistics(const Sample& sample) {
  return [&sample](std::span<const std::uint32_t> rows, std::span<std::optional<double>> out) {
    std::vector<double> x;
    std::vector<double> y;
    std::vector<double> predicted;
    for (const std::uint32_t row : rows) {
      x.push_back(sample.x[row]);
      y.push_back(sample.y[row]);
    }
    const auto fit = fit_simple_ols(x, y);
    if (!fit) return;
    for (const double value : x) predicted.push_back(fit->predict(value));
    out[0] = fit->slope;
    out[1] = fit->intercept;
    out[2] = fit->r2;
    out[3] = mape_pct(y, predicted).value();
  };
}

void expect_same(const BootstrapEstimate& a, const BootstrapEstimate& b) {
  EXPECT_NEAR(a.estimate, b.estimate, 1e-9);
  EXPECT_NEAR(a.interval.lo, b.interval.lo, 1e-9);
  EXPECT_NEAR(a.interval.hi, b.interval.hi, 1e-9);
  EXPECT_NEAR(a.standard_error, b.standard_error, 1e-9);
  EXPECT_EQ(a.undefined, b.undefined);
}

// The fast path and the general one draw the same rows, so they give the same numbers.
TEST(StatsBootstrap, FastPathEqualsTheGeneralOne) {
  const Sample sample = line_with_noise(53, 120, 3, 8, 1);
  const SimpleOlsBootstrap fast = bootstrap_simple_ols(sample.x, sample.y, 300, 9, 0.9).value();
  const auto general = bootstrap(53, 4, 300, 9, line_statistics(sample), 0.9).value();
  expect_same(fast.slope, general[0]);
  expect_same(fast.intercept, general[1]);
  expect_same(fast.r2.value(), general[2]);
  expect_same(fast.mape_pct.value(), general[3]);
}

// Two rows, 0 and 1: a resample mean is 0, ½ or 1 with probability ¼, ½, ¼, so a 95 % interval is [0, 1], a 40 % one
// (quantiles 0.3 and 0.7) is [½, ½], and the standard deviation is sqrt(⅛) = 0.3536.
TEST(StatsBootstrap, MeanOfTwoByHand) {
  const Statistic mean_of_rows = [](std::span<const std::uint32_t> rows, std::span<std::optional<double>> out) {
    out[0] = std::accumulate(rows.begin(), rows.end(), 0.0) / static_cast<double>(rows.size());
  };
  const BootstrapEstimate wide = bootstrap(2, 1, 4000, 3, mean_of_rows).value()[0];
  EXPECT_DOUBLE_EQ(wide.estimate, 0.5);
  EXPECT_DOUBLE_EQ(wide.interval.lo, 0);
  EXPECT_DOUBLE_EQ(wide.interval.hi, 1);
  EXPECT_DOUBLE_EQ(wide.half_width(), 0.5);
  EXPECT_NEAR(wide.standard_error, std::sqrt(0.125), 0.02);
  const BootstrapEstimate narrow = bootstrap(2, 1, 4000, 3, mean_of_rows, 0.4).value()[0];
  EXPECT_DOUBLE_EQ(narrow.interval.lo, 0.5);
  EXPECT_DOUBLE_EQ(narrow.interval.hi, 0.5);
}

TEST(StatsBootstrap, SameSeedSameBits) {
  const Sample sample = line_with_noise(100, 50, 2, 5, 2);
  const auto a = bootstrap_simple_ols(sample.x, sample.y, 500, 7).value();
  const auto b = bootstrap_simple_ols(sample.x, sample.y, 500, 7).value();
  const auto c = bootstrap_simple_ols(sample.x, sample.y, 500, 8).value();
  EXPECT_EQ(a.slope.interval.lo, b.slope.interval.lo);
  EXPECT_EQ(a.mape_pct->interval.hi, b.mape_pct->interval.hi);
  EXPECT_NE(a.slope.interval.lo, c.slope.interval.lo);
}

// With normal noise the bootstrap's standard error comes near the one of theory (within the 10 % that 200 rows allow).
TEST(StatsBootstrap, AgreesWithTheory) {
  const Sample sample = line_with_noise(200, 80, 4, 10, 3);
  const SimpleFit fit = fit_simple_ols(sample.x, sample.y).value();
  const auto result = bootstrap_simple_ols(sample.x, sample.y, 4000, 5).value();
  EXPECT_NEAR(result.slope.standard_error / fit.slope_se, 1, 0.1);
  EXPECT_NEAR(result.intercept.standard_error / fit.intercept_se, 1, 0.1);
  EXPECT_DOUBLE_EQ(result.slope.estimate, fit.slope);
}

// 300 data sets with a planted slope: a 90 % interval holds it about 90 % of the time.  Binomial standard deviation 1.7
// points, and percentile intervals of 60 rows are known to run one or two points short.
TEST(StatsBootstrap, Covers) {
  int inside = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    const Sample sample = line_with_noise(60, 80, 4, 10, 1000 + trial);
    const Interval interval = bootstrap_simple_ols(sample.x, sample.y, 400, trial, 0.9).value().slope.interval;
    inside += interval.lo <= 4 && 4 <= interval.hi ? 1 : 0;
  }
  EXPECT_NEAR(inside / 300.0, 0.89, 0.06);
}

TEST(StatsBootstrap, OneGroupEqualsTheSimpleForm) {
  const Sample sample = line_with_noise(40, 10, 1, 2, 4);
  const auto simple = bootstrap_simple_ols(sample.x, sample.y, 200, 6).value();
  const auto grouped = bootstrap_grouped_ols(sample.x, sample.y, std::vector<std::size_t>(40, 0), 1, 200, 6).value();
  expect_same(simple.slope, grouped.groups[0].slope);
  expect_same(simple.mape_pct.value(), grouped.mape_pct.value());
  expect_same(simple.r2.value(), grouped.r2.value());
  expect_same(simple.r2.value(), grouped.r2_mean.value());
}

// Two groups on their own perfect lines, interleaved: every resample finds both lines and no error.
TEST(StatsBootstrap, GroupsAreFittedApart) {
  Sample sample;
  std::vector<std::size_t> group;
  for (int i = 0; i < 20; ++i) {
    sample.x.push_back(i);
    group.push_back(static_cast<std::size_t>(i % 2));
    sample.y.push_back(i % 2 == 0 ? 100 + 3 * i : 500 - 2 * i);
  }
  const auto result = bootstrap_grouped_ols(sample.x, sample.y, group, 2, 300, 1).value();
  EXPECT_NEAR(result.groups[0].slope.interval.lo, 3, 1e-9);
  EXPECT_NEAR(result.groups[0].slope.interval.hi, 3, 1e-9);
  EXPECT_NEAR(result.groups[1].intercept.interval.lo, 500, 1e-9);
  EXPECT_NEAR(result.mape_pct->interval.hi, 0, 1e-9);
  EXPECT_NEAR(result.r2->interval.lo, 1, 1e-9);
}

// The pooled figures on the sample, against the plain route: sse and syy over all rows.
TEST(StatsBootstrap, PooledFiguresOfTheSample) {
  Sample sample;
  std::vector<std::size_t> group;
  double sse = 0;
  double r2_sum = 0;
  double error_sum = 0;
  for (std::size_t g = 0; g < 3; ++g) {
    const Sample part = line_with_noise(20, 100 * static_cast<double>(g + 1), 2, 5, g);
    const SimpleFit fit = fit_simple_ols(part.x, part.y).value();
    sse += fit.sse;
    r2_sum += *fit.r2;
    for (std::size_t i = 0; i < 20; ++i) {
      error_sum += std::abs(part.y[i] - fit.predict(part.x[i])) / part.y[i];
      sample.x.push_back(part.x[i]);
      sample.y.push_back(part.y[i]);
      group.push_back(g);
    }
  }
  const double syy = PairMoments::of(sample.x, sample.y).syy;
  const auto result = bootstrap_grouped_ols(sample.x, sample.y, group, 3, 100, 1).value();
  EXPECT_NEAR(result.r2->estimate, 1 - sse / syy, 1e-12);
  EXPECT_NEAR(result.r2_mean->estimate, r2_sum / 3, 1e-12);
  EXPECT_NEAR(result.mape_pct->estimate, 100 * error_sum / 60, 1e-10);
}

// Three rows of which two share x: the line is undefined where only those two, or one row, were drawn:
// (2/3)³ + (1/3)³ = 9/27 of the resamples.
TEST(StatsBootstrap, CountsResamplesWithoutALine) {
  const std::vector<double> x{1, 1, 2};
  const std::vector<double> y{3, 4, 5};
  const auto result = bootstrap_simple_ols(x, y, 3000, 1).value();
  // Binomial standard deviation sqrt(3000 · ⅓ · ⅔) = 26; five of them.
  EXPECT_NEAR(static_cast<double>(result.slope.undefined), 1000, 130);
  EXPECT_TRUE(std::isfinite(result.slope.interval.lo));
}

TEST(StatsBootstrap, AbsentFigures) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6};
  const auto flat = bootstrap_simple_ols(x, std::vector<double>(6, 7.0), 50, 1).value();
  EXPECT_FALSE(flat.r2.has_value());
  EXPECT_TRUE(flat.mape_pct.has_value());
  const auto with_zero = bootstrap_simple_ols(x, std::vector<double>{0, 1, 2, 4, 4, 6}, 50, 1).value();
  EXPECT_FALSE(with_zero.mape_pct.has_value());
  EXPECT_TRUE(with_zero.r2.has_value());
}

TEST(StatsBootstrap, BadInputIsAnError) {
  const std::vector<double> x{1, 2, 3, 4};
  const std::vector<double> y{1, 2, 4, 3};
  EXPECT_EQ(bootstrap_simple_ols({}, {}, 10, 1).error().code, Errc::bad_data);
  EXPECT_EQ(bootstrap_simple_ols(x, y, 0, 1).error().code, Errc::usage);
  EXPECT_EQ(bootstrap_simple_ols(x, y, 10, 1, 1.0).error().code, Errc::usage);
  EXPECT_EQ(bootstrap_simple_ols(x, std::vector<double>{1, 2, kNan, 3}, 10, 1).error().code, Errc::bad_data);
  EXPECT_EQ(bootstrap_simple_ols(std::vector<double>(4, 1.0), y, 10, 1).error().code, Errc::bad_data);
  const std::vector<std::size_t> group{0, 0, 0, 1};
  const Error small = bootstrap_grouped_ols(x, y, group, 2, 10, 1).error();
  EXPECT_EQ(small.code, Errc::bad_data);
  EXPECT_NE(small.what.find("group 1"), std::string::npos);
  EXPECT_EQ(bootstrap_grouped_ols(x, y, group, 1, 10, 1).error().code, Errc::bad_data);
  const Statistic never = [](std::span<const std::uint32_t>, std::span<std::optional<double>>) {};
  EXPECT_EQ(bootstrap(4, 1, 10, 1, never).error().code, Errc::bad_data);
}

}  // namespace
}  // namespace flopwatt::stats
