#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "flopwatt/audit/audit.hpp"

/// What the audit finds in the public study's four files; each fact is stated in that folder's README.

namespace flopwatt::audit {
namespace {

class Study : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path folder = std::filesystem::path{FLOPWATT_SHARED} / "gpu_power_benchmark";
    if (std::string_view{FLOPWATT_SHARED}.empty() || !std::filesystem::exists(folder)) {
      GTEST_SKIP() << "the study's files are not here (FLOPWATT_SHARED)";
    }
    const device::Catalogue devices = device::Catalogue::shipped().value();
    const model::Catalogue models = model::Catalogue::builtin();
    for (const char* name : {"a100", "l40", "quadro_rtx_5000", "mi210"}) {
      std::ostringstream text;
      text << std::ifstream{folder / (std::string{name} + ".csv")}.rdbuf();
      const auto data = dataset::read_samples(text.str(), std::string{name} + ".csv").value();
      for (Finding& finding : audit(data, devices, models).findings) found[name].push_back(std::move(finding));
    }
  }

  [[nodiscard]] const Finding* find(const std::string& device, std::string_view code,
                                    std::string_view dtype = {}) const {
    for (const Finding& finding : found.at(device)) {
      if (finding.code != code) continue;
      const Evidence* said = evidence(finding, "dtype");
      if (dtype.empty() || (said && std::get<std::string>(said->value) == dtype)) return &finding;
    }
    return nullptr;
  }
  [[nodiscard]] static const Evidence* evidence(const Finding& finding, std::string_view key) {
    for (const Evidence& entry : finding.evidence) {
      if (entry.key == key) return &entry;
    }
    return nullptr;
  }
  [[nodiscard]] static double number(const Finding& finding, std::string_view key) {
    const Evidence* entry = evidence(finding, key);
    return entry ? std::get<double>(entry->value) : -1;
  }

  std::map<std::string, std::vector<Finding>> found;
};

TEST_F(Study, Float32WasDividedByVectorPeaksOnTwoDevicesAndByTf32OnA100) {
  for (const auto& [device, teraflops] : {std::pair{"quadro_rtx_5000", 11.2}, {"mi210", 22.6}}) {
    const Finding* peak = find(device, "mfu_peak", "float32");
    ASSERT_TRUE(peak) << device;
    EXPECT_NEAR(number(*peak, "implied_peak_flops_per_second") / 1e12, teraflops, 0.01 * teraflops);
    EXPECT_THAT(std::get<std::string>(evidence(*peak, "explained_by")->value), testing::HasSubstr("vector"));
    EXPECT_TRUE(find(device, "mfu_peaks_mixed")) << device;
  }
  const Finding* tf32 = find("a100", "mfu_peak_differs", "float32");
  ASSERT_TRUE(tf32);
  EXPECT_NEAR(number(*tf32, "implied_peak_flops_per_second") / 1e12, 156, 1.6);
}

TEST_F(Study, EightRowsOfMi210LackAnMfuAboveOne) {
  const Finding* missing = find("mi210", "mfu_missing_above_one");
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->rows, 8U);
  EXPECT_GT(number(*missing, "largest_mfu"), 1);
  EXPECT_FALSE(find("a100", "mfu_missing_above_one"));
}

TEST_F(Study, EverySequenceHeldElevenTokensWhateverTheWindow) {
  for (const auto& [device, findings] : found) {
    const Finding* shorter = find(device, "sequence_not_context");
    ASSERT_TRUE(shorter) << device;
    EXPECT_EQ(number(*shorter, "sequence_min_tokens"), 11);
    EXPECT_EQ(number(*shorter, "sequence_max_tokens"), 11);
    EXPECT_TRUE(find(device, "axis_without_effect")) << device;
  }
}

TEST_F(Study, OnlyTheMeterOfMi210DoesNotFollow) {
  const Finding* meter = find("mi210", "meter_does_not_follow");
  ASSERT_TRUE(meter);
  EXPECT_NEAR(number(*meter, "r2"), 0.04, 0.01);
  EXPECT_FALSE(find("l40", "meter_does_not_follow"));
  EXPECT_FALSE(find("quadro_rtx_5000", "meter_does_not_follow"));
}

TEST_F(Study, L40DrawsMoreThanItsLimit) {
  const Finding* above = find("l40", "power_above_limit");
  ASSERT_TRUE(above);
  EXPECT_EQ(number(*above, "limit_watts"), 300);
  EXPECT_NEAR(number(*above, "highest_power_watts"), 335, 1);
}

TEST_F(Study, TheFormulaColumnCountsBackwardTwiceOnAGuessedParameterCount) {
  for (const auto& [device, findings] : found) {
    const Finding* twice = find(device, "formula_backward_counted_twice");
    ASSERT_TRUE(twice) << device;
    EXPECT_EQ(twice->rows, device == "quadro_rtx_5000" ? 336U : 504U);  // every row: the column is one formula
    EXPECT_TRUE(find(device, "formula_parameter_count")) << device;
    EXPECT_FALSE(find(device, "flops_unexplained")) << device;
  }
}

TEST_F(Study, SixteenBitRunsAreHostBoundToBatch32AndOnA100To64) {
  for (const auto& [device, batch] :
       {std::pair{"a100", 64.0}, {"l40", 32.0}, {"quadro_rtx_5000", 32.0}, {"mi210", 16.0}}) {
    const Finding* bound = find(device, "host_bound", "float16");
    ASSERT_TRUE(bound) << device;
    EXPECT_GE(number(*bound, "largest_batch_min"), batch) << device;
    EXPECT_LE(number(*bound, "bytes_time_over_step_time_max"), 0.5) << device;
  }
}

TEST_F(Study, OnlyTheUtilizationOfMi210IsBinary) {
  EXPECT_TRUE(find("mi210", "utilization_binary"));
  for (const char* device : {"a100", "l40", "quadro_rtx_5000"})
    EXPECT_FALSE(find(device, "utilization_binary")) << device;
}

}  // namespace
}  // namespace flopwatt::audit
