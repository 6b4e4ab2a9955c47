// Every figure of the shared fact table against the catalogue: the table was gathered apart from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/device/peak.hpp"

namespace flopwatt::device {
namespace {

using units::Precision;

// Quoted fields, no line breaks in them: all that the table has.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      out.emplace_back();
    } else if (c != '\r') {
      out.back() += c;
    }
  }
  return out;
}

// A cell is a number, a choice "16|32", a span "75-80" or "180(192 raw)", or nothing that can be compared.
struct Stated {
  double low = 0, high = 0;
  bool choice = false;
};
std::optional<Stated> stated(const std::string& cell) {
  if (cell.empty() || cell.find("CONFLICT") != std::string::npos || cell.find("module, CPU") != std::string::npos) {
    return std::nullopt;
  }
  std::vector<double> numbers;
  const char* at = cell.data();
  const char* end = cell.data() + cell.size();
  while (at != end) {
    double value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc{} && *at != '-') {
      numbers.push_back(value);
      at = next;
    } else {
      ++at;
    }
  }
  if (numbers.empty()) return std::nullopt;
  return Stated{*std::min_element(numbers.begin(), numbers.end()), *std::max_element(numbers.begin(), numbers.end()),
                cell.find('|') != std::string::npos};
}

class Facts : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path path = std::filesystem::path{FLOPWATT_SHARED} / "devices" / "device_facts.csv";
    if (std::string{FLOPWATT_SHARED}.empty() || !std::filesystem::exists(path)) {
      GTEST_SKIP() << "needs FLOPWATT_SHARED (devices/device_facts.csv)";
    }
    std::ifstream file{path};
    std::string line;
    std::getline(file, line);
    const std::vector<std::string> head = cells(line);
    while (std::getline(file, line)) {
      const std::vector<std::string> row = cells(line);
      ASSERT_EQ(row.size(), head.size()) << line;
      auto& fact = rows_.emplace_back();
      for (std::size_t i = 0; i < head.size(); ++i) fact[head[i]] = row[i];
    }
    auto catalogue = Catalogue::shipped();
    ASSERT_TRUE(catalogue) << catalogue.error().message();
    catalogue_ = *std::move(catalogue);
  }

  std::vector<std::map<std::string, std::string>> rows_;
  std::optional<Catalogue> catalogue_;
};

void expect_stated(const std::string& cell, double value, const std::string& what) {
  const std::optional<Stated> fact = stated(cell);
  ASSERT_TRUE(fact) << what << ": the catalogue has " << value << ", the table \"" << cell << '"';
  EXPECT_GE(value, fact->low * (1 - 1e-9)) << what;
  EXPECT_LE(value, fact->high * (1 + 1e-9)) << what;
}

TEST_F(Facts, EveryNameResolves) {
  EXPECT_EQ(rows_.size(), 48U);
  for (auto& row : rows_) {
    EXPECT_TRUE(catalogue_->resolve(row["device"])) << row["device"];
    EXPECT_EQ(catalogue_->resolve(row["device"])->vendor, row["vendor"]);
    std::stringstream names{row["runtime_name_example"]};
    std::string name;
    while (std::getline(names, name, '|')) {
      if (name.find("uncertain") != std::string::npos || name.find(" / ") != std::string::npos) continue;
      const auto device = catalogue_->find(name);
      ASSERT_TRUE(device) << name << ": " << device.error().message();
      const auto variants = catalogue_->find_all(row["device"]);
      EXPECT_NE(std::find(variants.begin(), variants.end(), *device), variants.end()) << name;
    }
  }
}

TEST_F(Facts, EveryPeakIsTheOneStated) {
  const struct {
    const char* column;
    Precision precision;
    PeakRequest request;
  } kColumns[] = {{"fp32_vector_tflops", Precision::float32, {Path::vector, Accumulate::fp32}},
                  {"tf32_dense_tflops", Precision::tf32, {Path::tensor_dense, Accumulate::fp32}},
                  {"fp16_dense_fp32acc_tflops", Precision::float16, {Path::tensor_dense, Accumulate::fp32}},
                  {"fp16_dense_fp16acc_tflops", Precision::float16, {Path::tensor_dense, Accumulate::fp16}},
                  {"bf16_dense_tflops", Precision::bfloat16, {Path::tensor_dense, Accumulate::fp32}},
                  {"fp8_dense_tflops", Precision::fp8, {Path::tensor_dense, Accumulate::fp32}},
                  {"int8_dense_tops", Precision::int8, {Path::tensor_dense, Accumulate::int32}},
                  {"fp4_dense_tflops", Precision::fp4, {Path::tensor_dense, Accumulate::fp32}}};
  int compared = 0;
  for (auto& row : rows_) {
    for (const Device* device : catalogue_->find_all(row["device"])) {
      for (const auto& [column, precision, request] : kColumns) {
        const std::string what = device->name + ' ' + column;
        const auto known = peak(*device, precision, request);
        if (known) {
          expect_stated(row[column], known->rate.in(units::teraflop_per_second), what);
          ++compared;
        } else {
          EXPECT_FALSE(stated(row[column])) << what << ": the table has " << row[column];
        }
      }
    }
  }
  EXPECT_GT(compared, 250);
}

TEST_F(Facts, MemoryBandwidthAndLimitAreThoseStated) {
  for (auto& row : rows_) {
    const std::vector<const Device*> variants = catalogue_->find_all(row["device"]);
    for (const Device* device : variants) {
      const auto& [name, cell] = std::pair{device->name, row["memory_gb"]};
      ASSERT_TRUE(device->memory) << name;
      expect_stated(cell, device->memory->value.in(units::gibibyte), name + " memory");
      expect_stated(row["mem_bw_gb_s"], device->memory_bandwidth->value.in(units::gigabyte_per_second),
                    name + " bandwidth");
      if (device->board_limit) {
        expect_stated(row["tdp_w"], device->board_limit->value.in(units::watt), name + " limit");
      } else {
        EXPECT_FALSE(stated(row["tdp_w"])) << name;
      }
    }
    // "16|32" is two variants, one of each.
    const bool two = row["memory_gb"].find('|') != std::string::npos;
    EXPECT_EQ(variants.size(), two ? 2U : 1U) << row["device"];
  }
}

TEST_F(Facts, UnitsClocksAndRatesAreThoseStated) {
  for (auto& row : rows_) {
    for (const Device* device : catalogue_->find_all(row["device"])) {
      const auto& units = device->compute_units;
      if (!row["sm_or_cu"].empty()) {
        ASSERT_TRUE(units) << device->name;
        expect_stated(row["sm_or_cu"], static_cast<double>(units->count), device->name);
      }
      if (!row["clock_mhz_behind_peak"].empty()) {
        ASSERT_TRUE(units && units->clock) << device->name;
        expect_stated(row["clock_mhz_behind_peak"], units->clock->in(units::megahertz), device->name);
      }
      if (!row["fp16_flops_per_unit_per_clk"].empty()) {
        expect_stated(row["fp16_flops_per_unit_per_clk"], *units->flops_per_clock, device->name);
      }
    }
  }
}

TEST_F(Facts, UnsupportedTypesAreRefused) {
  for (auto& row : rows_) {
    std::stringstream types{row["unsupported_types"]};
    std::string type;
    while (std::getline(types, type, ';')) {
      const auto precision = units::parse_precision(type.substr(0, type.find_first_of("(/ ")));
      ASSERT_TRUE(precision) << type;
      for (const Device* device : catalogue_->find_all(row["device"])) {
        EXPECT_FALSE(peak(*device, *precision)) << device->name << ' ' << type;
        EXPECT_TRUE(peaks_for(*device, *precision).empty()) << device->name << ' ' << type;
      }
    }
  }
}

}  // namespace
}  // namespace flopwatt::device
