#include "flopwatt/stats/conformal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "flopwatt/stats/random.hpp"

namespace flopwatt::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double noise(Random& random) {
  double sum = -6;  // twelve uniforms: mean 6, variance 1
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

// Nine scores at 90 %: ⌈10 · 0.9⌉ = 9, the largest.  At 80 %: the 8th.  Ten at 90 %: ⌈9.9⌉ = 10.  Eight: ⌈8.1⌉ = 9 > 8.
TEST(StatsConformal, RankByHand) {
  const std::vector<double> nine{9, 1, 8, 2, 7, 3, 6, 4, 5};
  EXPECT_EQ(conformal_bound(nine, 0.9).value(), 9);
  EXPECT_EQ(conformal_bound(nine, 0.8).value(), 8);
  EXPECT_EQ(conformal_bound(nine, 0.05).value(), 1);
  EXPECT_EQ(conformal_bound(nine, 0.91).value(), std::nullopt);
  EXPECT_EQ(conformal_bound(std::span(nine).first(8), 0.9).value(), std::nullopt);
}

TEST(StatsConformal, GroupsNeeded) {
  EXPECT_EQ(groups_needed(0.9).value(), 9U);
  EXPECT_EQ(groups_needed(0.95).value(), 19U);
  EXPECT_EQ(groups_needed(0.5).value(), 1U);
  EXPECT_EQ(groups_needed(0.1).value(), 1U);
  EXPECT_EQ(groups_needed(1).error().code, Errc::usage);
}

// Three groups {1}, {2, 10}, {3, 3, 3, 20} at 50 %: four weights in all (one at infinity), so 2 are wanted.  Ascending:
// 1 (1), 2 (1.5), 3 3 3 (2.25): the bound is 3.  At 75 %, 3 are wanted: 3 (2.25), 10 (2.75), 20 (3): 20.  At 76 %:
// none. Largest of each group: 1, 10, 20; at 50 % the ⌈4 · 0.5⌉ = 2nd: 10.
TEST(StatsConformal, GroupsByHand) {
  const std::vector<double> scores{1, 2, 10, 3, 3, 3, 20};
  const std::vector<std::size_t> group{5, 8, 8, 2, 2, 2, 2};
  EXPECT_EQ(conformal_bound(scores, group, 0.5).value(), 3);
  EXPECT_EQ(conformal_bound(scores, group, 0.75).value(), 20);
  EXPECT_EQ(conformal_bound(scores, group, 0.76).value(), std::nullopt);
  EXPECT_EQ(conformal_bound(scores, group, 0.5, GroupScores::largest).value(), 10);
}

TEST(StatsConformal, GroupsOfOneRowAreTheOrdinaryRule) {
  Random random(1);
  std::vector<double> scores;
  std::vector<std::size_t> group;
  for (std::size_t i = 0; i < 57; ++i) {
    scores.push_back(random.uniform());
    group.push_back(i);
  }
  for (const double level : {0.1, 0.5, 0.8, 0.9, 0.95, 0.99}) {
    EXPECT_EQ(conformal_bound(scores, level).value(), conformal_bound(scores, group, level).value());
    EXPECT_EQ(conformal_bound(scores, level).value(),
              conformal_bound(scores, group, level, GroupScores::largest).value());
  }
}

// Copying every row of a group k times adds no information and changes no bound.
TEST(StatsConformal, CopiesOfRowsChangeNothing) {
  Random random(2);
  std::vector<double> scores;
  std::vector<std::size_t> group;
  std::vector<double> copied;
  std::vector<std::size_t> copied_group;
  for (std::size_t i = 0; i < 40; ++i) {
    scores.push_back(random.uniform());
    group.push_back(i / 2);
    for (std::size_t k = 0; k < 1 + i / 2 % 4; ++k) {
      copied.push_back(scores.back());
      copied_group.push_back(group.back());
    }
  }
  for (const GroupScores rule : {GroupScores::pooled, GroupScores::largest}) {
    EXPECT_EQ(conformal_bound(scores, group, 0.9, rule).value(),
              conformal_bound(copied, copied_group, 0.9, rule).value());
  }
}

/// Coverage of a new row of a new group, errors being a skewed group part plus a row part.
double coverage(bool symmetric, GroupScores rule, bool whole_group) {
  int inside = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    Random random(static_cast<std::uint64_t>(trial));
    std::vector<double> errors;
    std::vector<std::size_t> group;
    constexpr std::size_t kGroups = 39;
    for (std::size_t g = 0; g <= kGroups; ++g) {
      const double shared = std::exp(noise(random)) - 1;
      for (int repeat = 0; repeat < 4; ++repeat) {
        errors.push_back(shared + 0.5 * noise(random));
        group.push_back(g);
      }
    }
    const std::span<const double> seen = std::span(errors).first(4 * kGroups);
    const std::span<const std::size_t> seen_group = std::span(group).first(4 * kGroups);
    const ConformalInterval interval = symmetric ? symmetric_interval(seen, seen_group, 0.9, rule).value()
                                                 : asymmetric_interval(seen, seen_group, 0.9, rule).value();
    bool all = true;
    for (std::size_t k = 0; k < (whole_group ? 4U : 1U); ++k) {
      const double error = errors[4 * kGroups + k];
      all = all && interval.lower.value() <= error && error <= interval.upper.value();
    }
    inside += all ? 1 : 0;
  }
  return inside / static_cast<double>(kTrials);
}

// Binomial standard deviation 0.47 points.  The pooled rule lies between 90 % and, with 39 groups, some points above;
// the rule of the largest covers whole groups.
TEST(StatsConformal, CoversNewGroups) {
  const double pooled = coverage(true, GroupScores::pooled, false);
  EXPECT_GT(pooled, 0.9 - 0.015);
  EXPECT_LT(pooled, 0.9 + 0.03);
  const double lopsided = coverage(false, GroupScores::pooled, false);
  EXPECT_GT(lopsided, 0.9 - 0.015);
  EXPECT_LT(lopsided, 0.9 + 0.04);
  const double whole = coverage(true, GroupScores::largest, true);
  EXPECT_GT(whole, 0.9 - 0.015);
  EXPECT_LT(whole, 0.9 + 0.03);
  EXPECT_GE(coverage(true, GroupScores::largest, false), pooled);
}

TEST(StatsConformal, SidesByHand) {
  // Errors 1 … 19 in groups of their own: at 90 % each side is bounded at 95 %: ⌈20 · 0.95⌉ = 19th.
  std::vector<double> errors;
  std::vector<std::size_t> group;
  for (std::size_t i = 1; i <= 19; ++i) {
    errors.push_back(static_cast<double>(i));
    group.push_back(i);
  }
  const ConformalInterval sides = asymmetric_interval(errors, group, 0.9).value();
  EXPECT_EQ(sides.lower, 1);
  EXPECT_EQ(sides.upper, 19);
  EXPECT_EQ(sides.groups, 19U);
  const ConformalInterval both = symmetric_interval(errors, group, 0.9).value();
  EXPECT_EQ(both.lower, -18);  // ⌈20 · 0.9⌉ = 18th of |error|
  EXPECT_EQ(both.upper, 18);
  const std::span<const std::size_t> fewer = std::span(group).first(18);
  EXPECT_EQ(asymmetric_interval(std::span(errors).first(18), fewer, 0.9).value().upper, std::nullopt);
}

TEST(StatsConformal, BadInputIsAnError) {
  const std::vector<double> scores{1, 2};
  const std::vector<std::size_t> group{0, 1};
  EXPECT_EQ(conformal_bound({}, 0.9).error().code, Errc::bad_data);
  EXPECT_EQ(conformal_bound(std::vector<double>{1, kNan}, 0.9).error().code, Errc::bad_data);
  EXPECT_EQ(conformal_bound(scores, 0).error().code, Errc::usage);
  EXPECT_EQ(conformal_bound(scores, kNan).error().code, Errc::usage);
  EXPECT_EQ(conformal_bound(scores, std::vector<std::size_t>{0}, 0.9).error().code, Errc::bad_data);
  EXPECT_EQ(asymmetric_interval(scores, group, 1).error().code, Errc::usage);
  EXPECT_EQ(symmetric_interval({}, {}, 0.9).error().code, Errc::bad_data);
}

}  // namespace
}  // namespace flopwatt::stats
