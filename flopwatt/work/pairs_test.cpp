#include "flopwatt/work/pairs.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace flopwatt::work {
namespace {

constexpr Reach kAll{};
constexpr Reach window(std::int64_t bound) { return {Reach::Kind::window, bound}; }
constexpr Reach chunk(std::int64_t bound) { return {Reach::Kind::chunk, bound}; }

// Keys that position p (from 1) sees, read off the definition.
std::int64_t visible(Reach reach, std::int64_t p) {
  if (reach.kind == Reach::Kind::window) return std::min(p, reach.bound);
  if (reach.kind == Reach::Kind::chunk) return (p - 1) % reach.bound + 1;
  return p;
}

// Keys in reach of position p of `length`, unmasked.
std::int64_t reachable(Reach reach, std::int64_t p, std::int64_t length) {
  if (reach.kind == Reach::Kind::window) return std::min(length, reach.bound);
  if (reach.kind == Reach::Kind::chunk) {
    const std::int64_t begin = (p - 1) / reach.bound * reach.bound;
    return std::min(reach.bound, length - begin);
  }
  return length;
}

TEST(Pairs, AFullSquareAndItsCausalPart) {
  // 4096² = 16,777,216; 4096·4097/2 = 8,390,656
  EXPECT_EQ(twice_pairs(kAll, true, MaskConvention::full, 4096), 2 * 16'777'216);
  EXPECT_EQ(twice_pairs(kAll, true, MaskConvention::causal, 4096), 2 * 8'390'656);
  EXPECT_EQ(twice_pairs(kAll, true, MaskConvention::causal_half, 4096), 16'777'216);
}

TEST(Pairs, AWindowOf1024In8192) {
  // 1024·1025/2 + (8192 − 1024)·1024 = 524,800 + 7,340,032 = 7,864,832, of 8192·8193/2 = 33,558,528
  EXPECT_EQ(twice_pairs(window(1024), true, MaskConvention::causal, 8192) / 2, 7'864'832);
  EXPECT_EQ(twice_pairs(kAll, true, MaskConvention::causal, 8192) / 2, 33'558'528);
}

TEST(Pairs, AnOddSequenceHasAHalfPair) {
  EXPECT_EQ(twice_pairs(kAll, true, MaskConvention::causal_half, 3), 9);  // 4.5 pairs
}

TEST(Pairs, AMaskMeansNothingWithoutCausality) {
  for (const auto mask : {MaskConvention::full, MaskConvention::causal, MaskConvention::causal_half}) {
    EXPECT_EQ(twice_pairs(kAll, false, mask, 7), 98);
    EXPECT_EQ(twice_pairs(chunk(4), false, mask, 7), 2 * (16 + 9));
  }
}

TEST(Pairs, ClosedFormsEqualTheirDefinitions) {
  for (const Reach reach : {kAll, window(1), window(5), window(64), chunk(1), chunk(6), chunk(64)}) {
    PairCount full_so_far = 0;
    PairCount causal_so_far = 0;
    PairCount half_so_far = 0;
    PairCount keys_so_far = 0;
    for (std::int64_t n = 1; n <= 40; ++n) {
      PairCount full = 0;
      PairCount causal = 0;
      for (std::int64_t p = 1; p <= n; ++p) {
        full += reachable(reach, p, n);
        causal += visible(reach, p);
      }
      EXPECT_EQ(twice_pairs(reach, true, MaskConvention::full, n), 2 * full);
      EXPECT_EQ(twice_pairs(reach, true, MaskConvention::causal, n), 2 * causal);
      keys_so_far += visible(reach, n);
      EXPECT_EQ(keys_sum(reach, 1, n), keys_so_far);
      EXPECT_EQ(keys_sum(reach, n, n), visible(reach, n));
      full_so_far += 2 * full;
      causal_so_far += 2 * causal;
      half_so_far += twice_pairs(reach, true, MaskConvention::causal_half, n);
      EXPECT_EQ(twice_pairs_sum(reach, true, MaskConvention::full, 1, n), full_so_far);
      EXPECT_EQ(twice_pairs_sum(reach, true, MaskConvention::causal, 1, n), causal_so_far);
      EXPECT_EQ(twice_pairs_sum(reach, true, MaskConvention::causal_half, 1, n), half_so_far);
    }
  }
}

TEST(Pairs, HalfOfAWindowIsWithoutTheDiagonal) {
  // The exact pairs p ≤ W hold W(W+1)/2, the halving convention W²/2: they differ by W/2.
  for (const std::int64_t n : {8, 9, 100}) {
    const PairCount exact = twice_pairs(window(8), true, MaskConvention::causal, n);
    const PairCount half = twice_pairs(window(8), true, MaskConvention::causal_half, n);
    EXPECT_EQ(exact - half, 8);
  }
}

}  // namespace
}  // namespace flopwatt::work
