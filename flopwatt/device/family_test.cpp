#include "flopwatt/device/family.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/device/peak.hpp"

namespace flopwatt::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using units::Precision;

const Catalogue& shipped() {
  static const Result<Catalogue> catalogue = Catalogue::shipped();
  return *catalogue;
}
std::vector<std::string> differing(const Device& device) {
  std::vector<std::string> out;
  for (const Difference& difference : device.differences) out.push_back(difference.figure);
  return out;
}

TEST(Family, A100VariantsShareTheirPeaksButNotTheirMemory) {
  const auto device = shipped().resolve("A100");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "A100");
  EXPECT_EQ(device->variants.size(), 4U);
  EXPECT_DOUBLE_EQ(peak(*device, Precision::bfloat16)->rate.in(units::teraflop_per_second), 312);
  EXPECT_EQ(device->peaks.size(), shipped().find("A100-SXM4-80GB").value()->peaks.size());
  EXPECT_FALSE(device->memory);
  EXPECT_FALSE(device->memory_bandwidth);
  EXPECT_FALSE(device->board_limit);
  EXPECT_THAT(differing(*device), UnorderedElementsAre("memory", "memory bandwidth", "board limit", "interconnects"));
  EXPECT_THAT(device->differences[0].values, HasSubstr("40 GiB (A100-SXM4-40GB)"));
  EXPECT_THAT(device->differences[1].values, HasSubstr("1.935 TB/s (A100-PCIE-80GB)"));
  EXPECT_THAT(peak(*device, Precision::fp8).error().what, HasSubstr("fp8"));
}

TEST(Family, WhatAgreesIsKept) {
  const auto device = shipped().resolve("V100-SXM2");
  ASSERT_TRUE(device);
  EXPECT_THAT(differing(*device), ElementsAre("memory"));
  EXPECT_DOUBLE_EQ(device->memory_bandwidth->value.in(units::gigabyte_per_second), 900);
  EXPECT_DOUBLE_EQ(device->board_limit->value.in(units::watt), 300);
  EXPECT_TRUE(device->compute_units);
}

TEST(Family, APeakThatDiffersIsRefusedWithTheVariants) {
  const auto device = shipped().resolve("H100");
  ASSERT_TRUE(device);
  const auto refused = peak(*device, Precision::bfloat16);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::usage);
  EXPECT_THAT(refused.error().what, HasSubstr("989.4 TFLOP/s (H100-SXM5)"));
  EXPECT_THAT(refused.error().what, HasSubstr("756.5 TFLOP/s (H100-PCIe)"));
  EXPECT_THAT(refused.error().remedy, HasSubstr("H100-NVL"));
  // What all of them lack is still refused with its reason.
  EXPECT_THAT(peak(*device, Precision::fp4).error().what, HasSubstr("Blackwell"));
}

TEST(Family, OneVariantIsItself) {
  const Device* device = *shipped().find("L40S");
  const Device same = common(std::array{device});
  EXPECT_EQ(same.name, "L40S");
  EXPECT_TRUE(same.variants.empty());
  EXPECT_TRUE(same.differences.empty());
}

// Property: whatever the merged device states, every variant states alike.
TEST(Family, AMergedDeviceSaysNothingThatAVariantDenies) {
  for (const char* name : {"A100", "A100-80GB", "V100", "V100-SXM2", "H100", "GH200"}) {
    const auto merged = shipped().resolve(name);
    ASSERT_TRUE(merged) << name;
    const auto variants = shipped().find_all(name);
    ASSERT_GT(variants.size(), 1U) << name;
    for (const Device* variant : variants) {
      for (const Peak& stated : merged->peaks) {
        EXPECT_EQ(peak(*variant, stated.precision, {stated.path, stated.accumulate})->rate, stated.rate) << name;
      }
      EXPECT_TRUE(!merged->memory || merged->memory->value == variant->memory->value) << name;
      EXPECT_TRUE(!merged->board_limit || merged->board_limit->value == variant->board_limit->value) << name;
    }
  }
}

TEST(Family, DevicesOfTwoFamiliesAreNamedTogether) {
  const Device merged = common(std::array{*shipped().find("MI300X"), *shipped().find("MI325X")});
  EXPECT_EQ(merged.name, "MI300X or MI325X");
  EXPECT_DOUBLE_EQ(peak(merged, Precision::bfloat16)->rate.in(units::teraflop_per_second), 1307.4);
}

}  // namespace
}  // namespace flopwatt::device
