#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "flopwatt/io/csv.hpp"
#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/model/read_config.hpp"

/// The census against real config files and their true counts.
namespace flopwatt::model {
namespace {

const std::filesystem::path kModels = std::filesystem::path{FLOPWATT_SHARED} / "models";

std::string content(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct Truth {
  io::CsvTable table;

  [[nodiscard]] std::string cell(std::size_t row, std::string_view column) const {
    return std::string{table.cell(row, table.find_column(column).value())};
  }
};

class ParamTruth : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path path = kModels / "param_truth.csv";
    if (std::string_view{FLOPWATT_SHARED}.empty() || !std::filesystem::exists(path)) {
      GTEST_SKIP() << "FLOPWATT_SHARED has no models/param_truth.csv";
    }
    truth_.emplace(Truth{io::CsvTable::parse(content(path), path.string()).value()});
  }
  std::optional<Truth> truth_;
};

TEST_F(ParamTruth, EveryCountIsEqualToTheLastParameter) {
  std::size_t equal = 0, counted = 0;
  for (std::size_t row = 0; row < truth_->table.row_count(); ++row) {
    const std::string expected = truth_->cell(row, "total_params_exact_or_blank");
    const std::string file = truth_->cell(row, "file");
    if (expected.empty()) continue;
    ++counted;
    const Result<Architecture> model = read_config(content(kModels / file), file);
    if (!model) {
      ADD_FAILURE() << model.error().message();
      continue;
    }
    const std::string total = units::to_string(census(*model).total);
    EXPECT_EQ(total, expected) << file;
    if (const std::string active = truth_->cell(row, "oracle_active_exact"); !active.empty()) {
      EXPECT_EQ(units::to_string(census(*model).active), active) << file;
    }
    const std::string tied = truth_->cell(row, "tied");
    const bool has_head = !model->class_name.ends_with("MistralModel");
    EXPECT_TRUE(tied.empty() || !has_head || model->tied_embeddings == (tied == "yes")) << file;
    equal += total == expected ? 1 : 0;
  }
  std::cout << equal << " of " << counted << " counts are equal\n";
}

TEST_F(ParamTruth, AFileWithoutATrustworthyCountIsRefusedByNameOrRead) {
  for (std::size_t row = 0; row < truth_->table.row_count(); ++row) {
    if (!truth_->cell(row, "total_params_exact_or_blank").empty()) continue;
    const std::string file = truth_->cell(row, "file");
    const Result<Architecture> model = read_config(content(kModels / file), file);
    if (model) {
      std::cout << file << ": " << units::to_grouped_string(census(*model).total) << " (published "
                << truth_->cell(row, "total_rounded") << ")\n";
      continue;
    }
    EXPECT_EQ(model.error().code, Errc::bad_data);
    std::cout << model.error().message().substr(0, 120) << '\n';
  }
}

// A model of the catalogue that stands in the table under the same name has the same count.
TEST_F(ParamTruth, TheCatalogueAgrees) {
  const Catalogue catalogue = Catalogue::builtin();
  int compared = 0;
  for (std::size_t row = 0; row < truth_->table.row_count(); ++row) {
    const std::string name = truth_->cell(row, "model");
    const std::string expected = truth_->cell(row, "total_params_exact_or_blank");
    const auto entry = catalogue.find_entry(name);
    if (!entry || expected.empty()) continue;
    ++compared;
    EXPECT_EQ(units::to_string(census(catalogue.find(name).value()).total), expected) << name << " " << (*entry)->name;
  }
  EXPECT_GE(compared, 25);
}

}  // namespace
}  // namespace flopwatt::model
