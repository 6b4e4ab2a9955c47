#include "flopwatt/sweep/convergence.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace flopwatt::sweep {
namespace {

Spread of(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) spread.add(value);
  return spread;
}

/// 1, 2, 3, 4: mean 2.5, squares 2.25+0.25+0.25+2.25 = 5, SD = √(5/3), SEM = √(5/12), half-width 1.96·√(5/12)/2.5.
TEST(Spread, HalfWidthByHand) {
  const Spread spread = of({1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(*spread.mean(), 2.5);
  EXPECT_DOUBLE_EQ(*spread.standard_deviation(), std::sqrt(5.0 / 3.0));
  EXPECT_DOUBLE_EQ(*spread.half_width(), 1.96 * std::sqrt(5.0 / 12.0) / 2.5);
}

TEST(Spread, DegenerateSeries) {
  EXPECT_FALSE(of({}).mean());
  EXPECT_FALSE(of({}).half_width());
  EXPECT_FALSE(of({3}).half_width());
  EXPECT_EQ(*of({3, 3}).half_width(), 0);
  EXPECT_EQ(*of({0, 0}).half_width(), 0);
  EXPECT_FALSE(of({-1, 1}).half_width());
}

TEST(Spread, HalfWidthIsFreeOfScale) {
  EXPECT_NEAR(*of({0.1, 0.2, 0.3}).half_width(), *of({1e9, 2e9, 3e9}).half_width(), 1e-12);
}

Protocol protocol() { return {.half_width = 0.05, .min_samples = 4, .max_samples = 6}; }

TEST(Judge, NeverBeforeTheMinimum) {
  EXPECT_EQ(judge(of({1, 1, 1}), of({1, 1, 1}), protocol()), Stop::no);
  EXPECT_EQ(judge(of({1, 1, 1, 1}), of({1, 1, 1, 1}), protocol()), Stop::converged);
}

TEST(Judge, BothPredictorsMustConverge) {
  EXPECT_EQ(judge(of({1, 1, 1, 1}), of({1, 9, 1, 9}), protocol()), Stop::no);
  EXPECT_EQ(judge(of({1, 9, 1, 9}), of({1, 1, 1, 1}), protocol()), Stop::no);
  EXPECT_EQ(judge(of({1, 9, 1, 9, 1, 9}), of({1, 1, 1, 1, 1, 1}), protocol()), Stop::capped);
}

TEST(Judge, MfuAloneWhereUtilisationIsNotAlwaysKnown) {
  EXPECT_EQ(judge(of({1, 1, 1, 1}), of({}), protocol()), Stop::converged);
  EXPECT_EQ(judge(of({1, 1, 1, 1}), of({1, 9}), protocol()), Stop::converged);
}

}  // namespace
}  // namespace flopwatt::sweep
