#include "flopwatt/units/text.hpp"

#include <gtest/gtest.h>

namespace flopwatt::units {
namespace {

TEST(Text, ReadsNumbersWithUnits) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("3.35 TB/s")->in(gigabyte_per_second), 3350);
  EXPECT_DOUBLE_EQ(parse_data_size("80 GiB")->in(byte), 85899345920.0);
  EXPECT_DOUBLE_EQ(parse_data_size("80GB")->in(byte), 80e9);
  EXPECT_DOUBLE_EQ(parse_power(" 400W ")->in(watt), 400);
  EXPECT_DOUBLE_EQ(parse_energy("1.5 kWh")->in(joule), 5.4e6);
  EXPECT_DOUBLE_EQ(parse_flop_rate("312 TFLOPS")->in(teraflop_per_second), 312);
  EXPECT_DOUBLE_EQ(parse_duration("250 ms")->in(second), 0.25);
}

TEST(Text, RefusesWhatCouldMeanTwoThings) {
  for (const char* bad : {"80", "80 G", "400 Gbps", "80 gb", "nan GB", "inf GB", "", "GB", "1e308 PB", "-"}) {
    const auto size = parse_data_size(bad);
    ASSERT_FALSE(size) << bad;
    EXPECT_EQ(size.error().code, Errc::usage);
  }
  EXPECT_FALSE(parse_bandwidth("3.35 TB"));
  EXPECT_FALSE(parse_power("400 w"));
}

TEST(Text, PrintsWithAPrefixThatKeepsTheNumberShort) {
  EXPECT_EQ(to_text(3.35e12 * byte_per_second), "3.35 TB/s");
  EXPECT_EQ(to_text(0.5 * watt), "0.5 W");
  EXPECT_EQ(to_text(1.5e-3 * second), "1.5 ms");
  EXPECT_EQ(to_text(90 * second), "90 s");
  EXPECT_EQ(to_text(7200 * second), "2 h");
  EXPECT_EQ(to_text(0 * watt), "0 W");
  EXPECT_EQ(to_text(9.26e25 * flop), "92.6 YFLOP");
  // Rounded to two digits, and still no exponent.
  EXPECT_EQ(to_text(138.4 * joule, 2), "140 J");
  EXPECT_EQ(to_text(99.7 * joule, 2), "100 J");
  EXPECT_EQ(to_text(7140 * second, 2), "120 min");
  EXPECT_EQ(to_text(23812 * token_per_second, 3), "23800 token/s");
  EXPECT_EQ(to_binary_text(80 * gibibyte), "80 GiB");
}

}  // namespace
}  // namespace flopwatt::units
