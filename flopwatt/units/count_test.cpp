#include "flopwatt/units/count.hpp"

#include <gtest/gtest.h>

namespace flopwatt::units {
namespace {

TEST(Count, IsExactBeyond64Bits) {
  // 6 * 405e9 parameters * 16 Mi tokens = 6 * 405e9 * 16777216 = 4.076863488e19 > 2^64 = 1.8e19.
  const Count step = Count{6} * Count{405'000'000'000} * Count{16'777'216};
  EXPECT_EQ(to_string(step), "40768634880000000000");
  EXPECT_EQ(to_string(step + 1), "40768634880000000001");
}

TEST(Count, PrintsSignsGroupsAndZero) {
  EXPECT_EQ(to_string(Count{0}), "0");
  EXPECT_EQ(to_string(Count{-120}), "-120");
  EXPECT_EQ(to_grouped_string(Count{1'543'714'304}), "1,543,714,304");
  EXPECT_EQ(to_grouped_string(Count{-123}), "-123");
  EXPECT_EQ(to_grouped_string(Count{-1234}), "-1,234");
  EXPECT_EQ(to_grouped_string(Count{999}), "999");
}

TEST(Count, OverflowSticks) {
  Count c{1};
  for (int i = 0; i < 13; ++i) c *= Count{1'000'000'000'000};
  EXPECT_TRUE(c.overflowed());
  EXPECT_TRUE((c - 5).overflowed());
  EXPECT_TRUE((c + c).overflowed());
  EXPECT_TRUE((c * 2).overflowed());
  EXPECT_TRUE((c / 2).overflowed());
  EXPECT_TRUE((-c).overflowed());
  EXPECT_FALSE((Count{1} - Count{2}).overflowed());
}

}  // namespace
}  // namespace flopwatt::units
