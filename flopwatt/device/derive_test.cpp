#include "flopwatt/device/derive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/device/peak.hpp"

namespace flopwatt::device {
namespace {

using ::testing::HasSubstr;
using units::Precision;

Device derived(std::string_view text) {
  const auto request = parse_derive(text);
  if (!request) {
    ADD_FAILURE() << request.error().message();
    return {};
  }
  const auto device = derive(*request);
  if (!device) ADD_FAILURE() << device.error().message();
  return device ? *device : Device{};
}
double tera(const Device& device, Precision precision, PeakRequest request = {}) {
  const auto found = peak(device, precision, request);
  return found ? found->rate.in(units::teraflop_per_second) : 0.0;
}
Error refusal(std::string_view text) {
  const auto request = parse_derive(text);
  if (!request) return request.error();
  const auto device = derive(*request);
  if (device) ADD_FAILURE() << text << " was not refused";
  return device ? Error{} : device.error();
}

TEST(Derive, A100FromItsUnits) {
  // 108 SM × 2048 × 1.410 GHz = 311.87 TFLOP/s; vector 108 × 128 × 1.410 = 19.49; TF32 half of the first.
  const Device device = derived("arch=ampere,class=datacenter,units=108,clock-mhz=1410,mem-bw-gbs=2039,tdp-w=400");
  EXPECT_NEAR(tera(device, Precision::bfloat16), 311.869, 0.001);
  EXPECT_NEAR(tera(device, Precision::float32), 19.492, 0.001);
  EXPECT_NEAR(tera(device, Precision::tf32), 155.935, 0.001);
  EXPECT_NEAR(tera(device, Precision::int8), 623.739, 0.001);
  EXPECT_EQ(device.peaks.front().origin, Origin::derived);
  EXPECT_DOUBLE_EQ(device.memory_bandwidth->value.in(units::gigabyte_per_second), 2039);
  EXPECT_DOUBLE_EQ(device.board_limit->value.in(units::watt), 400);
  EXPECT_FALSE(device.memory);
}

TEST(Derive, TheUnitsMayLeaveOneClass) {
  // 108 SMs are more than any GA10x chip has (84), so that ampere can only mean the GA100 here.
  EXPECT_NEAR(tera(derived("arch=ampere,units=108,clock-mhz=1410"), Precision::bfloat16), 311.869, 0.001);
  EXPECT_NEAR(tera(derived("arch=hopper,units=132,clock-mhz=1830"), Precision::bfloat16), 989.4, 0.1);
}

TEST(Derive, ArchitectureAloneDoesNotDecide) {
  // The A40 and the GeForce RTX 3090 are both GA102 with compute capability 8.6, at 1024 and 512 per SM.
  const Error error = refusal("arch=ampere,units=84,clock-mhz=1740");
  EXPECT_EQ(error.code, Errc::usage);
  EXPECT_THAT(error.what, HasSubstr("does not decide"));
  EXPECT_THAT(error.remedy, HasSubstr("class=geforce"));
  EXPECT_NEAR(tera(derived("arch=ampere,class=professional,units=84,clock-mhz=1740"), Precision::bfloat16), 149.67,
              0.01);
  EXPECT_NEAR(tera(derived("arch=ampere,class=geforce,units=84,clock-mhz=1740"), Precision::bfloat16), 74.83, 0.01);
  EXPECT_EQ(refusal("arch=ada,units=142,clock-mhz=2490").code, Errc::usage);
}

TEST(Derive, RefusesWhatTheTableDoesNotHave) {
  EXPECT_THAT(refusal("arch=rubin,units=100,clock-mhz=2000").what, HasSubstr("no rates are known"));
  EXPECT_THAT(refusal("arch=hopper,class=geforce,units=100,clock-mhz=2000").what, HasSubstr("hopper"));
  EXPECT_THAT(refusal("arch=hopper,units=145,clock-mhz=1830").remedy, HasSubstr("at most 144 units"));
  EXPECT_THAT(refusal("arch=hopper,units=132,clock-mhz=1830000").what, HasSubstr("10 GHz"));
}

TEST(Derive, RefusesWhatIsNoRequest) {
  for (const char* text :
       {"", "arch=ampere", "arch=ampere,units=108", "units=108,clock-mhz=1410",
        "arch=ampere,units=108,clock-mhz=", "arch=ampere,units=0,clock-mhz=1410", "arch=ampere,units=-1,clock-mhz=1410",
        "arch=ampere,units=1.5,clock-mhz=1410", "arch=ampere,units=108,clock-mhz=nan",
        "arch=ampere,units=108,clock-mhz=inf", "arch=ampere,units=1e300,clock-mhz=1",
        "arch=ampere,units=108,clock-mhz=1410,", "arch=ampere,units=108,clock-mhz=1410MHz",
        "arch=ampere,units=108,units=108,clock-mhz=1410", "arch=ampere,units=108,clock-mhz=1410,cc=8.0", "=,=,="}) {
    const auto request = parse_derive(text);
    ASSERT_FALSE(request) << text;
    EXPECT_EQ(request.error().code, Errc::usage) << text;
    EXPECT_EQ(request.error().where, "--derive") << text;
  }
  EXPECT_FALSE(derive({}));
}

// The table reproduces what the catalogue prints for tensor products, from the catalogue's own units and clocks.
TEST(Derive, AgreesWithTheCatalogue) {
  const auto catalogue = Catalogue::shipped();
  const struct {
    const char* device;
    const char* product_class;
  } kCases[] = {{"V100-SXM2-16GB", "datacenter"},
                {"T4", "datacenter"},
                {"Quadro RTX 5000", "professional"},
                {"A10", "professional"},
                {"A10G", "geforce"},
                {"A30", "datacenter"},
                {"A40", "professional"},
                {"A100-SXM4-80GB", "datacenter"},
                {"RTX A6000", "professional"},
                {"GeForce RTX 3090", "geforce"},
                {"GeForce RTX 4070 Ti", "geforce"},
                {"GeForce RTX 4080", "geforce"},
                {"GeForce RTX 4090", "geforce"},
                {"GeForce RTX 5090", "geforce"},
                {"L4", "professional"},
                {"RTX 6000 Ada", "professional"},
                {"H100-SXM5", "datacenter"},
                {"H100-PCIe", "datacenter"},
                {"H200-SXM", "datacenter"},
                {"GB200", "datacenter"},
                {"B200-SXM", "datacenter"},
                {"MI210", "datacenter"},
                {"MI250X", "datacenter"},
                {"MI300X", "datacenter"},
                {"MI355X", "datacenter"}};
  int compared = 0;
  for (const auto& [name, product_class] : kCases) {
    const Device& known = **catalogue->find(name);
    const auto device =
        derive({known.architecture, product_class, known.compute_units->count, *known.compute_units->clock, {}, {}});
    ASSERT_TRUE(device) << name << ": " << device.error().message();
    for (const Peak& rate : device->peaks) {
      const auto printed = peak(known, rate.precision, {rate.path, rate.accumulate});
      // The vector rate is often printed at another clock than the tensor rate.
      if (!printed || rate.path == Path::vector) continue;
      // Its data sheet prints half of what a GA102 does in int8 (140, and 250 elsewhere): the figure is in doubt.
      if (known.name == "A10G" && rate.precision == Precision::int8) continue;
      EXPECT_NEAR(rate.rate / printed->rate, 1.0, 0.01) << name << ' ' << units::name(rate.precision);
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace flopwatt::device
