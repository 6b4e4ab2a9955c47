#include "flopwatt/units/quantity.hpp"

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>

namespace flopwatt::units {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };

// Most of this test is the compiler.
static_assert(sizeof(Power) == sizeof(double) && std::is_trivially_copyable_v<Power>);
static_assert(700 * watt * (2 * second) == 1400 * joule);
static_assert(std::is_same_v<decltype(FlopCount{} / DataSize{}), Intensity>);
static_assert(std::is_same_v<decltype(1.0 / second), Frequency>);
static_assert(std::is_same_v<decltype(Power{} / Power{}), double>);
static_assert(Addable<Power, Power> && !Addable<Power, Energy> && !Addable<FlopCount, FlopRate>);
static_assert(!std::is_convertible_v<double, Power> && !std::is_convertible_v<Power, double>);
static_assert(80 * gigabyte < 80 * gibibyte);
static_assert(kilowatt_hour == 1 * kilowatt * hour);

TEST(Quantity, EntersAndLeavesThroughAUnit) {
  const Energy burnt = 300 * watt * (2 * hour);
  EXPECT_DOUBLE_EQ(burnt.in(kilowatt_hour), 0.6);
  EXPECT_DOUBLE_EQ((3.35e12 * byte_per_second).in(gigabyte_per_second), 3350.0);
}

}  // namespace
}  // namespace flopwatt::units
