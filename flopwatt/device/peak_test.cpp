#include "flopwatt/device/peak.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/device/catalogue.hpp"

namespace flopwatt::device {
namespace {

using ::testing::HasSubstr;
using units::Precision;

Device device_of(std::string_view name) {
  static const Result<Catalogue> catalogue = Catalogue::shipped();
  const auto device = catalogue->resolve(name);
  if (!device) ADD_FAILURE() << device.error().message();
  return *device;
}
double tera(const Peak& peak) { return peak.rate.in(units::teraflop_per_second); }

TEST(Peak, TheDefaultIsDenseTensorWithFp32Accumulation) {
  const auto half = peak(device_of("GeForce RTX 4090"), Precision::float16);
  ASSERT_TRUE(half);
  EXPECT_EQ(half->path, Path::tensor_dense);
  EXPECT_EQ(half->accumulate, Accumulate::fp32);
  EXPECT_DOUBLE_EQ(tera(*half), 165.2);
  const auto integer = peak(device_of("A100"), Precision::int8);
  ASSERT_TRUE(integer);
  EXPECT_EQ(integer->accumulate, Accumulate::int32);
  EXPECT_DOUBLE_EQ(tera(*integer), 624);
}

TEST(Peak, Float32IsVectorAndTf32IsTensor) {
  const auto single = peak(device_of("A100"), Precision::float32);
  ASSERT_TRUE(single);
  EXPECT_EQ(single->path, Path::vector);
  EXPECT_DOUBLE_EQ(tera(*single), 19.5);
  const auto tf32 = peak(device_of("A100"), Precision::tf32);
  ASSERT_TRUE(tf32);
  EXPECT_EQ(tf32->path, Path::tensor_dense);
  EXPECT_DOUBLE_EQ(tera(*tf32), 156);
  // CDNA 2 has float32 matrix products too; they are there when asked for.
  EXPECT_DOUBLE_EQ(tera(*peak(device_of("MI210"), Precision::float32)), 22.6);
  EXPECT_DOUBLE_EQ(tera(*peak(device_of("MI210"), Precision::float32, {Path::tensor_dense, {}})), 45.3);
}

TEST(Peak, OtherPathsAreThereWhenAskedFor) {
  const Device card = device_of("GeForce RTX 4090");
  EXPECT_DOUBLE_EQ(tera(*peak(card, Precision::float16, {Path::tensor_sparse, {}})), 330.4);
  EXPECT_DOUBLE_EQ(tera(*peak(card, Precision::float16, {{}, Accumulate::fp16})), 330.3);
  EXPECT_DOUBLE_EQ(tera(*peak(card, Precision::float16, {Path::tensor_sparse, Accumulate::fp16})), 660.6);
  EXPECT_DOUBLE_EQ(tera(*peak(card, Precision::float16, {Path::vector, {}})), 82.6);
  EXPECT_EQ(peaks_for(card, Precision::float16).size(), 5U);
  EXPECT_TRUE(peaks_for(card, Precision::fp4).empty());
}

TEST(Peak, AMissingPrecisionIsRefusedWithItsReason) {
  const struct {
    const char* device;
    Precision precision;
    const char* reason;
  } kCases[] = {{"T4", Precision::bfloat16, "bfloat16 came with Ampere"},
                {"Quadro RTX 5000", Precision::tf32, "float32 runs on the vector units"},
                {"V100-SXM2", Precision::bfloat16, "float16 only"},
                {"A100", Precision::fp8, "fp8 tensor products came with Hopper and Ada"},
                {"H100-SXM5", Precision::fp4, "came with Blackwell"},
                {"MI210", Precision::fp8, "came with CDNA 3"},
                {"TPU v5p", Precision::float16, "bfloat16 and int8"}};
  for (const auto& [name, precision, reason] : kCases) {
    const auto refused = peak(device_of(name), precision);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, Errc::usage);
    EXPECT_THAT(refused.error().what, HasSubstr(reason)) << name;
    EXPECT_THAT(refused.error().remedy, HasSubstr("--peak-tflops"));
  }
  EXPECT_THAT(peak(device_of("T4"), Precision::bfloat16).error().remedy, HasSubstr("float32, float16, int8, int4"));
}

TEST(Peak, AnUnknownFigureIsNoOtherFigure) {
  // B300's int8 rate is disputed and left out; the TPU's float32 rate is not published.
  for (const auto& [name, precision] : {std::pair{"B300-SXM", Precision::int8}, std::pair{"TPU v4", Precision::float32},
                                        std::pair{"A10", Precision::int4}}) {
    const auto unknown = peak(device_of(name), precision);
    ASSERT_FALSE(unknown) << name;
    EXPECT_EQ(unknown.error().code, Errc::usage);
    EXPECT_THAT(unknown.error().what, HasSubstr("no ")) << name;
  }
  // A card with tensor cores never falls back to its vector units.
  Device card = device_of("T4");
  std::erase_if(card.peaks, [](const Peak& p) { return p.precision == Precision::float16 && p.path != Path::vector; });
  EXPECT_FALSE(peak(card, Precision::float16));
  // A device without any tensor path does run there.
  std::erase_if(card.peaks, [](const Peak& p) { return p.path != Path::vector; });
  EXPECT_DOUBLE_EQ(tera(*peak(card, Precision::float16)), 16.2);
}

TEST(Peak, AnImpliedPeakIsExplained) {
  // What the study's float32 rows of these two imply (rate over MFU): the vector units, not what its table prints.
  const auto quadro = matching_peaks(device_of("Quadro RTX 5000"), 11.21 * units::teraflop_per_second, 0.02);
  ASSERT_EQ(quadro.size(), 1U);
  EXPECT_EQ(quadro[0].peak.precision, Precision::float32);
  EXPECT_NEAR(quadro[0].relative_difference, 0.01 / 11.2, 1e-12);
  const auto sparse = matching_peaks(device_of("A100"), 624 * units::teraflop_per_second, 0.001);
  ASSERT_FALSE(sparse.empty());
  for (const PeakMatch& match : sparse) EXPECT_DOUBLE_EQ(tera(match.peak), 624);
  EXPECT_TRUE(matching_peaks(device_of("A100"), 500 * units::teraflop_per_second, 0.02).empty());
}

}  // namespace
}  // namespace flopwatt::device
