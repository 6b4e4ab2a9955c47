#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>

#include "flopwatt/model/checkpoint_names.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/model/verify.hpp"

/// The census against the index files of real checkpoints.
namespace flopwatt::model {
namespace {

const std::filesystem::path kModels = std::filesystem::path{FLOPWATT_SHARED} / "models";

std::string content(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

class RealFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view{FLOPWATT_SHARED}.empty() || !std::filesystem::exists(kModels / "index")) {
      GTEST_SKIP() << "FLOPWATT_SHARED has no models/index";
    }
  }
};

TEST_F(RealFiles, EveryNameOfAnIndexIsExplained) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator{kModels / "index"}) {
    const std::string file = entry.path().filename().string();
    const std::string model_file =
        file.substr(
            0, file.rfind(file.find(".pytorch_model") != std::string::npos ? ".pytorch_model" : ".model.safetensors")) +
        ".json";
    const Result<Architecture> model = read_config(content(kModels / "configs" / model_file), model_file);
    if (!model) {
      EXPECT_NE(model.error().what.find("is not supported"), std::string::npos) << model.error().message();
      std::cout << file << ": " << model.error().what << '\n';
      continue;
    }
    const Result<CheckpointIndex> index = parse_checkpoint_index(content(entry.path()), file);
    ASSERT_TRUE(index) << index.error().message();
    const Verification v = verify(*model, list_checkpoint(file, *index, {})).value();
    std::cout << file << ": " << conclusion(v) << '\n';
    for (const Difference& d : v.differences) {
      std::cout << "  " << name(d.kind) << ": " << d.tensors << " (" << d.tensor << ") " << d.cause << '\n';
    }
    EXPECT_NE(v.verdict, Verdict::contradicts) << file;
    ++files;
  }
  EXPECT_GT(files, 0U);
}

TEST_F(RealFiles, NamesOfEveryConfigAreUniqueAndSumToTheTotal) {
  for (const auto& entry : std::filesystem::directory_iterator{kModels / "configs"}) {
    const std::string file = entry.path().filename().string();
    const Result<Architecture> model = read_config(content(entry.path()), file);
    if (!model) continue;
    const Result<std::vector<NamedTensor>> census_names = checkpoint_tensors(*model);
    ASSERT_TRUE(census_names) << census_names.error().message();
    std::set<std::string_view> names;
    units::Count sum;
    for (const NamedTensor& named : *census_names) {
      EXPECT_TRUE(names.insert(named.name).second) << file << ": " << named.name;
      EXPECT_EQ(named.name.find('{'), std::string::npos) << file << ": " << named.name;
      if (!named.tensor->tied) sum += elements(*named.tensor);
    }
    EXPECT_EQ(sum, census(*model).total) << file;
  }
}

}  // namespace
}  // namespace flopwatt::model
