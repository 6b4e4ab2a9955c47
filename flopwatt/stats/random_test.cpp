#include "flopwatt/stats/random.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace flopwatt::stats {
namespace {

// Published outputs of the reference code for seed 1234567 (Rosetta Code, "Pseudo-random numbers/Splitmix64").
TEST(StatsRandom, SplitMixGivesThePublishedSequence) {
  std::uint64_t state = 1234567;
  EXPECT_EQ(split_mix_64(state), 6457827717110365317U);
  EXPECT_EQ(split_mix_64(state), 3203168211198807973U);
  EXPECT_EQ(split_mix_64(state), 9817491932198370423U);
}

// State 1, 2, 3, 4.  First output by hand: rotl(2 · 5, 7) · 9 = 10 · 128 · 9 = 11520.  Then s1 = 2 ^ (3 ^ 1) = 0, so
// the second is 0.  The rest are the values that the authors' C code prints for this state.
TEST(StatsRandom, XoshiroGivesTheReferenceSequence) {
  Random random(std::array<std::uint64_t, 4>{1, 2, 3, 4});
  for (const std::uint64_t expected : {11520U, 0U, 1509978240U}) EXPECT_EQ(random.bits(), expected);
  EXPECT_EQ(random.bits(), 1215971899390074240U);
}

TEST(StatsRandom, CanRunAtCompileTime) {
  constexpr std::uint32_t draw = Random(7).below(6);
  static_assert(draw < 6);
  EXPECT_EQ(Random(7).below(6), draw);
}

TEST(StatsRandom, SeedsGiveTheirOwnSequence) {
  Random a(1);
  Random b(1);
  Random c(2);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t drawn = a.bits();
    EXPECT_EQ(drawn, b.bits());
    differs = differs || drawn != c.bits();
  }
  EXPECT_TRUE(differs);
}

// χ² of 7 cells over 70,000 draws: 6 degrees of freedom, 99.99 % quantile 27.9.
TEST(StatsRandom, BelowIsUniform) {
  Random random(42);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts.at(random.below(7));
  double chi_squared = 0;
  for (const int count : counts) chi_squared += (count - 10000.0) * (count - 10000.0) / 10000.0;
  EXPECT_LT(chi_squared, 27.9);
}

// With a bound of 3 · 2^30 a draw without rejection would put half of the results into the multiples of three.
TEST(StatsRandom, BelowIsUnbiasedForHugeBounds) {
  Random random(5);
  int multiples = 0;
  constexpr int kDraws = 30000;
  for (int i = 0; i < kDraws; ++i) {
    const std::uint32_t draw = random.below(3U << 30U);
    ASSERT_LT(draw, 3U << 30U);
    multiples += draw % 3 == 0 ? 1 : 0;
  }
  // Binomial: mean 10,000, standard deviation 82; five of them.
  EXPECT_NEAR(multiples, kDraws / 3, 410);
}

TEST(StatsRandom, UniformFillsTheUnitInterval) {
  Random random(3);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  // Standard deviation of the mean sqrt(1/12/100000) = 0.00091; five of them.
  EXPECT_NEAR(sum / 100000, 0.5, 0.0046);
}

}  // namespace
}  // namespace flopwatt::stats
