#include "flopwatt/base/counted.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace flopwatt::base {
namespace {

TEST(Counted, OneIsSingularAndAllOthersArePlural) {
  EXPECT_EQ(counted(1, "run"), "1 run");
  EXPECT_EQ(counted(0, "run"), "0 runs");
  EXPECT_EQ(counted(std::size_t{2}, "run"), "2 runs");
  EXPECT_EQ(counted(-1, "run"), "-1 runs");
  EXPECT_EQ(counted(std::numeric_limits<std::int64_t>::max(), "byte"), "9223372036854775807 bytes");
}

TEST(Counted, TakesAPluralThatAnSDoesNotMake) {
  EXPECT_EQ(counted(1, "row draws", "rows draw"), "1 row draws");
  EXPECT_EQ(counted(3, "row draws", "rows draw"), "3 rows draw");
  EXPECT_EQ(noun(1, "batch", "batches"), "batch");
  EXPECT_EQ(noun(2, "batch", "batches"), "batches");
}

}  // namespace
}  // namespace flopwatt::base
