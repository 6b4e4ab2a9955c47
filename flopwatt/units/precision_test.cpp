#include "flopwatt/units/precision.hpp"

#include <gtest/gtest.h>

namespace flopwatt::units {
namespace {

TEST(Precision, EveryNameReadsBackAndHasAWidth) {
  for (const Precision p : kPrecisions) EXPECT_EQ(parse_precision(name(p)), p);
  EXPECT_EQ(bits(Precision::tf32), 32);
  EXPECT_EQ(bits(Precision::bfloat16), 16);
  EXPECT_EQ(bits(Precision::int4), 4);
}

TEST(Precision, AliasesAreReadInAnyCaseAndNothingElseIs) {
  EXPECT_EQ(parse_precision("BF16"), Precision::bfloat16);
  EXPECT_EQ(parse_precision("torch.float16"), Precision::float16);
  EXPECT_EQ(parse_precision("F8_E4M3"), Precision::fp8);
  for (const char* bad : {"", "bf", "bf161", "float64", "torch.", "auto"}) EXPECT_FALSE(parse_precision(bad)) << bad;
}

}  // namespace
}  // namespace flopwatt::units
