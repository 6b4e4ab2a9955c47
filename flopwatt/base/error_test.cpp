#include "flopwatt/base/error.hpp"

#include <gtest/gtest.h>

#include "flopwatt/base/check.hpp"
#include "flopwatt/base/result.hpp"

namespace flopwatt {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(Errc::bad_data, "odd number", "here:1", "give an even one");
  return n / 2;
}
Result<int> quarter(int n) {
  FLOPWATT_TRY(const int h, half(n));
  return half(h);
}

TEST(Error, MessageIsOneLineWithWhereWhatAndRemedy) {
  EXPECT_EQ(half(3).error().message(), "here:1: odd number; give an even one");
  EXPECT_EQ((Error{Errc::usage, "a\nb\x1b[31m", "", ""}.message()), "a?b?[31m");
}

TEST(Error, TryPassesTheValueOrTheError) {
  EXPECT_EQ(quarter(8).value(), 2);
  EXPECT_EQ(quarter(6).error().code, Errc::bad_data);
}

TEST(Error, ExcerptNeverCutsACharacterInHalf) {
  EXPECT_EQ(base::excerpt("short", 60), "short");
  EXPECT_EQ(base::excerpt("ab\xC3\xA9z", 3), "ab…");  // é takes bytes 2 and 3
}

TEST(CheckDeathTest, StopsAndNamesTheCondition) { EXPECT_DEATH(FLOPWATT_CHECK(1 + 1 == 3), "1 \\+ 1 == 3"); }

}  // namespace
}  // namespace flopwatt
