#include "flopwatt/device/custom.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/device/peak.hpp"

namespace flopwatt::device {
namespace {

using ::testing::HasSubstr;
using units::Precision;

TEST(CustomDevice, HasWhatWasStatedAndNothingElse) {
  const auto device = make_custom(Precision::bfloat16, {500 * units::teraflop_per_second, {}, 600 * units::watt});
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "custom");
  const auto stated = peak(*device, Precision::bfloat16);
  ASSERT_TRUE(stated);
  EXPECT_DOUBLE_EQ(stated->rate.in(units::teraflop_per_second), 500);
  EXPECT_EQ(stated->origin, Origin::given);
  EXPECT_EQ(to_text(stated->sources), "--peak-tflops");
  EXPECT_FALSE(device->memory_bandwidth);
  EXPECT_FALSE(device->memory);
  EXPECT_DOUBLE_EQ(device->board_limit->value.in(units::watt), 600);
  EXPECT_FALSE(peak(*device, Precision::float16));
}

TEST(CustomDevice, EveryPrecisionFindsItsOwnStatedPeak) {
  for (const Precision precision : units::kPrecisions) {
    const auto device = make_custom(precision, {7 * units::teraflop_per_second, {}, {}});
    ASSERT_TRUE(device);
    ASSERT_TRUE(peak(*device, precision)) << units::name(precision);
    EXPECT_EQ(peak(*device, precision)->path, precision == Precision::float32 ? Path::vector : Path::tensor_dense);
  }
}

TEST(CustomDevice, RefusesFiguresThatNoDeviceHas) {
  constexpr double kBad[] = {0.0, -1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
  for (const double value : kBad) {
    const auto rate = make_custom(Precision::float16, {value * units::teraflop_per_second, {}, {}});
    ASSERT_FALSE(rate);
    EXPECT_EQ(rate.error().code, Errc::usage);
    EXPECT_EQ(rate.error().where, "--peak-tflops");
    EXPECT_EQ(make_custom(Precision::float16, {{}, value * units::gigabyte_per_second, {}}).error().where,
              "--mem-bw-gbs");
    EXPECT_EQ(make_custom(Precision::float16, {{}, {}, value * units::watt}).error().where, "--tdp-w");
  }
  EXPECT_FALSE(make_custom(Precision::float16, {}));
}

TEST(GivenFigures, ReplaceThoseOfTheCatalogue) {
  const auto catalogue = Catalogue::shipped();
  const auto l40 =
      with_given(**catalogue->find("L40"), Precision::bfloat16, {362.1 * units::teraflop_per_second, {}, {}});
  ASSERT_TRUE(l40);
  EXPECT_DOUBLE_EQ(peak(*l40, Precision::bfloat16)->rate.in(units::teraflop_per_second), 362.1);
  EXPECT_DOUBLE_EQ(peak(*l40, Precision::float16)->rate.in(units::teraflop_per_second), 181.05);
  EXPECT_THAT(l40->notes.back(), HasSubstr("bfloat16 peak"));

  // They also fill what a family leaves open, and what the catalogue calls unsupported.
  const auto a100 = with_given(*catalogue->resolve("A100"), Precision::fp8,
                               {1 * units::teraflop_per_second, 2000 * units::gigabyte_per_second, 400 * units::watt});
  ASSERT_TRUE(a100);
  EXPECT_TRUE(peak(*a100, Precision::fp8));
  EXPECT_DOUBLE_EQ(a100->memory_bandwidth->value.in(units::gigabyte_per_second), 2000);
  for (const Difference& difference : a100->differences) {
    EXPECT_NE(difference.figure, "memory bandwidth");
    EXPECT_NE(difference.figure, "board limit");
  }
}

}  // namespace
}  // namespace flopwatt::device
