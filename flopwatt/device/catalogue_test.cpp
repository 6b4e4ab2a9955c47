#include "flopwatt/device/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "flopwatt/device/peak.hpp"

namespace flopwatt::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;
using units::Precision;

const Catalogue& shipped() {
  static const Result<Catalogue> catalogue = Catalogue::shipped();
  if (!catalogue) ADD_FAILURE() << catalogue.error().message();
  return *catalogue;
}

std::string found(std::string_view name) {
  const auto device = shipped().find(name);
  return device ? (*device)->name : "error: " + device.error().message();
}

TEST(ShippedCatalogue, HasEveryDeviceThatWasAskedFor) {
  for (const char* name : {"A100-SXM4-40GB",
                           "A100-SXM4-80GB",
                           "A100-PCIE-40GB",
                           "A100-PCIE-80GB",
                           "L40",
                           "Quadro RTX 5000",
                           "MI210",
                           "GeForce RTX 4070 Ti",
                           "L4",
                           "V100-SXM2-16GB",
                           "V100-SXM2-32GB",
                           "V100-PCIE-16GB",
                           "V100-PCIE-32GB",
                           "V100S-PCIE",
                           "T4",
                           "A10",
                           "A10G",
                           "A30",
                           "A40",
                           "RTX A6000",
                           "GeForce RTX 3090",
                           "GeForce RTX 4080",
                           "GeForce RTX 4090",
                           "GeForce RTX 5090",
                           "L40S",
                           "RTX 6000 Ada",
                           "H100-SXM5",
                           "H100-PCIe",
                           "H100-NVL",
                           "H200-SXM",
                           "H200-NVL",
                           "H20",
                           "H800-SXM",
                           "GH200-96",
                           "GH200-144",
                           "B100",
                           "B200-SXM",
                           "GB200",
                           "B300-SXM",
                           "GB300",
                           "MI250",
                           "MI250X",
                           "MI250X-GCD",
                           "MI300X",
                           "MI325X",
                           "MI355X",
                           "TPU v4",
                           "TPU v5e",
                           "TPU v5p",
                           "TPU v6e",
                           "Gaudi2",
                           "Gaudi3"}) {
    EXPECT_EQ(found(name), name);
  }
  EXPECT_EQ(shipped().devices().size(), 55U);
}

TEST(ShippedCatalogue, EveryNameOfEveryDeviceLeadsBackToIt) {
  for (const Device& device : shipped().devices()) {
    for (const auto* names : {&device.aliases, &device.driver_names}) {
      for (const std::string& name : *names) EXPECT_EQ(found(name), device.name) << name;
    }
    EXPECT_EQ(found(device.name), device.name);
  }
}

TEST(ShippedCatalogue, DriverNamesResolve) {
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB"), "A100-SXM4-80GB");
  EXPECT_EQ(found("NVIDIA A100 80GB PCIe"), "A100-PCIE-80GB");
  EXPECT_EQ(found("Tesla V100-SXM2-32GB"), "V100-SXM2-32GB");
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100-SXM5");
  EXPECT_EQ(found("NVIDIA H100 PCIe"), "H100-PCIe");
  EXPECT_EQ(found("NVIDIA H100 NVL"), "H100-NVL");
  EXPECT_EQ(found("NVIDIA H200"), "H200-SXM");
  EXPECT_EQ(found("NVIDIA H200 NVL"), "H200-NVL");
  EXPECT_EQ(found("NVIDIA H20"), "H20");
  EXPECT_EQ(found("NVIDIA GH200 480GB"), "GH200-96");
  EXPECT_EQ(found("NVIDIA B200"), "B200-SXM");
  EXPECT_EQ(found("NVIDIA GB200"), "GB200");
  EXPECT_EQ(found("NVIDIA L4"), "L4");
  EXPECT_EQ(found("NVIDIA L40"), "L40");
  EXPECT_EQ(found("NVIDIA L40S"), "L40S");
  EXPECT_EQ(found("NVIDIA A10"), "A10");
  EXPECT_EQ(found("NVIDIA A10G"), "A10G");
  EXPECT_EQ(found("NVIDIA RTX A6000"), "RTX A6000");
  EXPECT_EQ(found("NVIDIA RTX 6000 Ada Generation"), "RTX 6000 Ada");
  EXPECT_EQ(found("NVIDIA GeForce RTX 4090"), "GeForce RTX 4090");
  EXPECT_EQ(found("AMD Instinct MI300X"), "MI300X");
  EXPECT_EQ(found("TPU v5 lite"), "TPU v5e");
  EXPECT_EQ(found("TPU v5"), "TPU v5p");
}

TEST(ShippedCatalogue, SpellingIsForgiven) {
  EXPECT_EQ(found("h100-sxm"), "H100-SXM5");
  EXPECT_EQ(found("quadro_rtx_5000"), "Quadro RTX 5000");
  EXPECT_EQ(found("a100 pcie 80 gb"), "A100-PCIE-80GB");
  EXPECT_EQ(found("A100-80GB-PCIe"), "A100-PCIE-80GB");
  EXPECT_EQ(found("  mi210 "), "MI210");
  EXPECT_EQ(found("NVIDIA Tesla T4"), "T4");
  EXPECT_EQ(found("rtx 4090"), "GeForce RTX 4090");
  EXPECT_EQ(found("Gaudi 3"), "Gaudi3");
  EXPECT_EQ(found("Google TPU v5e"), "TPU v5e");
}

// Reports from the field: Lightning #21677 and #20660, TRL PR 7197, verl, torchtitan matched by substring.
TEST(ShippedCatalogue, WordsAreNeverMatchedInPart) {
  for (const char* name : {"NVIDIA RTX A4000",
                           "NVIDIA A1000",
                           "NVIDIA XA100",
                           "NVIDIA GeForce RTX 4090 D",
                           "NVIDIA GeForce RTX 4090 Laptop GPU",
                           "NVIDIA GeForce RTX 4080 SUPER",
                           "NVIDIA L400",
                           "NVIDIA A100X",
                           "NVIDIA H100 64GB HBM2",
                           "NVIDIA RTX PRO 6000 Blackwell Server Edition",
                           "Quadro RTX 6000",
                           "A40-48Q",
                           "NVIDIA T4G",
                           "AMD L4",
                           "NVIDIA MI300X",
                           "RTX",
                           "NVIDIA",
                           "80GB",
                           "SXM",
                           "H1000",
                           "A"}) {
    const auto device = shipped().find(name);
    ASSERT_FALSE(device) << name << " -> " << (*device)->name;
    EXPECT_EQ(device.error().code, Errc::usage) << name;
    EXPECT_THAT(device.error().what, HasSubstr("unknown device")) << name;
    EXPECT_THAT(device.error().remedy, HasSubstr("--peak-tflops")) << name;
    EXPECT_TRUE(shipped().find_all(name).empty()) << name;
    EXPECT_FALSE(shipped().resolve(name)) << name;
  }
}

TEST(ShippedCatalogue, AnUnknownNameIsAnsweredWithCloseOnes) {
  EXPECT_THAT(shipped().close_names("NVIDIA GeForce RTX 4090 D"), ::testing::Contains("GeForce RTX 4090"));
  EXPECT_THAT(shipped().close_names("MI300"), ::testing::Contains("MI300X"));
  EXPECT_THAT(shipped().close_names("L04"), ::testing::Contains("L40"));
  EXPECT_THAT(shipped().close_names("a thing unlike any device"), ElementsAre());
  EXPECT_LE(shipped().close_names("A100").size(), 4U);
  EXPECT_EQ(shipped().not_here("A100-SMX4-80GB"),
            "\"A100-SMX4-80GB\" is not in the device catalogue (did you mean A100-SXM4-80GB?)");
  EXPECT_THAT(shipped().not_here("nope"), HasSubstr("`flopwatt devices`"));
  EXPECT_THAT(shipped().not_here("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), HasSubstr("partition"));
  const auto none = shipped().find("");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::usage);
  ASSERT_FALSE(shipped().find(std::string(100000, 'x')));
}

TEST(ShippedCatalogue, APartitionIsRefusedByName) {
  for (const char* name :
       {"NVIDIA A100-SXM4-40GB MIG 1g.5gb", "MIG 3g.20gb", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "A100 1g.5gb"}) {
    const auto device = shipped().find(name);
    ASSERT_FALSE(device) << name;
    EXPECT_EQ(device.error().code, Errc::usage);
    EXPECT_THAT(device.error().what, HasSubstr("partition")) << name;
    EXPECT_FALSE(shipped().resolve(name));
  }
  EXPECT_EQ(found("NVIDIA GH200 144G HBM3e"), "GH200-144");  // "144G HBM3e" is no profile
}

TEST(ShippedCatalogue, AFamilyNameIsAmbiguousAndLists) {
  const auto names = [](std::string_view query) {
    std::vector<std::string> out;
    for (const Device* device : shipped().find_all(query)) out.push_back(device->name);
    return out;
  };
  EXPECT_THAT(names("A100"),
              UnorderedElementsAre("A100-SXM4-40GB", "A100-SXM4-80GB", "A100-PCIE-40GB", "A100-PCIE-80GB"));
  EXPECT_THAT(names("NVIDIA A100 80GB"), UnorderedElementsAre("A100-SXM4-80GB", "A100-PCIE-80GB"));
  EXPECT_THAT(names("A100-SXM"), UnorderedElementsAre("A100-SXM4-40GB", "A100-SXM4-80GB"));
  EXPECT_THAT(names("V100"),
              UnorderedElementsAre("V100-SXM2-16GB", "V100-SXM2-32GB", "V100-PCIE-16GB", "V100-PCIE-32GB"));
  EXPECT_THAT(names("V100-SXM2"), UnorderedElementsAre("V100-SXM2-16GB", "V100-SXM2-32GB"));
  EXPECT_THAT(names("H100"), UnorderedElementsAre("H100-PCIe", "H100-SXM5", "H100-NVL"));
  EXPECT_THAT(names("GH200"), UnorderedElementsAre("GH200-96", "GH200-144"));

  const auto device = shipped().find("A100");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, Errc::usage);
  EXPECT_THAT(device.error().what, HasSubstr("A100-PCIE-80GB"));
}

// Reports from the field, section 3B: the peak that should have been used.
TEST(ShippedCatalogue, PeaksThatOthersGotWrong) {
  const auto rate = [](std::string_view name, Precision precision) {
    const auto device = shipped().find(name);
    if (!device) return std::nan("");
    const auto found_peak = peak(**device, precision);
    return found_peak ? found_peak->rate.in(units::teraflop_per_second) : std::nan("");
  };
  EXPECT_DOUBLE_EQ(rate("NVIDIA L40S", Precision::bfloat16), 362.05);
  EXPECT_DOUBLE_EQ(rate("NVIDIA L4", Precision::bfloat16), 121);
  EXPECT_DOUBLE_EQ(rate("NVIDIA A10G", Precision::bfloat16), 70);
  EXPECT_DOUBLE_EQ(rate("NVIDIA H20", Precision::bfloat16), 148);
  // D4: 400 TFLOP/s in bfloat16 on an H100 SXM is 400 / 989.4 = 40.4 %, not 400 / 494.7 = 80.9 % (its TF32 rate).
  EXPECT_NEAR(400 / rate("NVIDIA H100 80GB HBM3", Precision::bfloat16), 0.404, 0.0005);
  EXPECT_DOUBLE_EQ(rate("NVIDIA H100 80GB HBM3", Precision::tf32), 494.7);
  // D1: 104 % of 312 on an H100 is 104 · 312 / 989.4 = 32.8 %.
  EXPECT_NEAR(104.0 * 312 / rate("h100-sxm", Precision::bfloat16), 32.8, 0.05);
  // D3: 275.6 TFLOP/s on a B300 is 12.25 %.
  EXPECT_NEAR(275.6 / rate("NVIDIA B300 SXM6 AC", Precision::bfloat16), 0.1225, 0.0001);
  // D8: 60 on an L4 is 49.6 %, 180 on an L40S 49.7 %.
  EXPECT_NEAR(60 / rate("L4", Precision::bfloat16), 0.496, 0.0005);
  EXPECT_NEAR(180 / rate("L40S", Precision::bfloat16), 0.497, 0.0005);
  // D14: Gaudi 3 at the shipped 1.6 GHz.
  EXPECT_DOUBLE_EQ(rate("Gaudi3", Precision::bfloat16), 1677);
  // D16 and A5: what shows as one device may be a part: half an MI250X, an eighth of an MI300X in CPX, half a TPU7x.
  EXPECT_DOUBLE_EQ(rate("MI250X-GCD", Precision::bfloat16), 191.5);
  EXPECT_NEAR(rate("MI300X-CPX", Precision::bfloat16), 163.4, 0.05);
  EXPECT_DOUBLE_EQ(rate("TPU7x core", Precision::bfloat16), 1153.5);
  EXPECT_TRUE(std::isnan(rate("TPU7x", Precision::bfloat16)));  // chip or core: it has to be said
  // The study's float32 rows ran on the vector units of these two.
  EXPECT_DOUBLE_EQ(rate("Quadro RTX 5000", Precision::float32), 11.2);
  EXPECT_DOUBLE_EQ(rate("MI210", Precision::float32), 22.6);
}

// count × clock × FLOPs per clock is the dense 16-bit tensor peak, within 1 %, wherever all three are known.
TEST(ShippedCatalogue, ArithmeticClosesOnThePrintedPeak) {
  std::set<std::string> open;
  for (const Device& device : shipped().devices()) {
    const auto& units = device.compute_units;
    if (!units || !units->clock || !units->flops_per_clock) {
      open.insert(device.name);
      continue;
    }
    const double product =
        static_cast<double>(units->count) * units->clock->in(units::hertz) * *units->flops_per_clock / 1e12;
    for (const Peak& peak : device.peaks) {
      const bool half = peak.precision == Precision::float16 || peak.precision == Precision::bfloat16;
      if (!half || peak.path != Path::tensor_dense || peak.accumulate != Accumulate::fp32) continue;
      EXPECT_NEAR(product / peak.rate.in(units::teraflop_per_second), 1.0, 0.01) << device.name;
    }
  }
  // The H20 is capped below its units; of the others the unit count or the clock is not published.
  EXPECT_THAT(open, UnorderedElementsAre("H20", "B100", "B300-SXM", "GB300", "TPU v4", "TPU v5e", "TPU v5p", "TPU v6e",
                                         "TPU7x chip", "TPU7x core"));
}

TEST(ShippedCatalogue, EveryFigureIsPositiveAndSourced) {
  for (const Device& device : shipped().devices()) {
    EXPECT_FALSE(device.peaks.empty()) << device.name;
    for (const Peak& peak : device.peaks) {
      EXPECT_GT(peak.rate.in(units::teraflop_per_second), 0) << device.name;
      EXPECT_FALSE(peak.sources.empty()) << device.name;
    }
    const bool part = device.scope == Scope::die;  // its memory may depend on the mode of its module
    EXPECT_TRUE(device.memory || part) << device.name;
    EXPECT_TRUE(device.memory_bandwidth || part) << device.name;
    EXPECT_FALSE(device.memory && device.memory->sources.empty()) << device.name;
    EXPECT_FALSE(device.memory_bandwidth && device.memory_bandwidth->sources.empty()) << device.name;
  }
}

// Structured sparsity doubles the dense rate; where the vendor's rounding differs it is within 2 %.
TEST(ShippedCatalogue, SparseIsTwiceDense) {
  int compared = 0;
  for (const Device& device : shipped().devices()) {
    for (const Peak& sparse : device.peaks) {
      if (sparse.path != Path::tensor_sparse) continue;
      const auto dense = peak(device, sparse.precision, {Path::tensor_dense, sparse.accumulate});
      ASSERT_TRUE(dense) << device.name;
      EXPECT_NEAR(sparse.rate / dense->rate, 2.0, 0.03) << device.name << ' ' << units::name(sparse.precision);
      ++compared;
    }
  }
  EXPECT_GT(compared, 100);
}

}  // namespace
}  // namespace flopwatt::device
