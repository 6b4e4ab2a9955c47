#include "flopwatt/engine/facts.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace flopwatt::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfig = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
  "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100,
  "max_position_embeddings": 128, "tie_word_embeddings": false})";

class FactsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path{testing::TempDir()} /
              ("facts_" + std::string{testing::UnitTest::GetInstance()->current_test_info()->name()});
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const fs::path& name, std::string_view text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream{folder_ / name} << text;
    return (folder_ / name).string();
  }
  fs::path folder_;
};

TEST_F(FactsTest, FindsAModelByFileFolderAndName) {
  const Facts facts = Facts::load({}).value();
  const std::string file = write("config.json", kConfig);
  EXPECT_EQ(facts.model(file)->family, "llama");
  EXPECT_EQ(facts.model(folder_.string())->family, "llama");
  EXPECT_EQ(facts.model("qwen/qwen2.5-3b")->name, "Qwen/Qwen2.5-3B");
}

TEST_F(FactsTest, TellsAMissingFileFromAnUnknownName) {
  const Facts facts = Facts::load({}).value();
  EXPECT_EQ(facts.model((folder_ / "no.json").string()).error().code, Errc::bad_data);
  EXPECT_EQ(facts.model(folder_.string()).error().code, Errc::bad_data);  // a folder without config.json
  EXPECT_EQ(facts.model("no/such-model").error().code, Errc::usage);
  EXPECT_EQ(facts.model("no/such-model").error().where, "MODEL");
}

TEST_F(FactsTest, OverridesAndExtendsWhatShips) {
  // The same name with another bandwidth replaces the entry; the rest of the catalogue stays.
  write("devices/mine.json", R"({"schema": 1, "sources": {"me": {"title": "measured here"}},
    "devices": [{"name": "T4", "driver_names": ["Tesla T4"], "vendor": "NVIDIA", "architecture": "turing",
    "scope": "gpu", "peaks": [{"precision": "float16", "path": "tensor_dense", "accumulate": "fp32",
    "tflops_per_second": 60, "source": ["me"], "confidence": "B"}]}]})");
  const auto facts = Facts::load({folder_.string()});
  if (!facts) GTEST_FAIL() << facts.error().message();
  const auto t4 = facts->device({.name = "T4", .given = {}}, units::Precision::float16);
  ASSERT_TRUE(t4) << t4.error().message();
  EXPECT_DOUBLE_EQ(peak_of(*t4, units::Precision::float16)->rate.in(units::teraflop_per_second), 60);
  EXPECT_TRUE(facts->device({.name = "L4", .given = {}}, units::Precision::float16));
}

TEST_F(FactsTest, RefusesAFolderThatIsMissingAndAFileThatIsWrong) {
  EXPECT_EQ(Facts::load({(folder_ / "no").string()}).error().code, Errc::bad_data);
  write("devices/broken.json", R"({"schema": 1, "devices": [)");
  EXPECT_EQ(Facts::load({folder_.string()}).error().code, Errc::bad_data);
}

TEST_F(FactsTest, DescribesADeviceByItsFigures) {
  const Facts facts = Facts::load({}).value();
  EXPECT_EQ(facts.device({}, units::Precision::bfloat16).error().code, Errc::usage);
  const auto custom = facts.device(
      {.name = "", .given = {.peak = 100 * units::teraflop_per_second, .memory_bandwidth = {}, .board_limit = {}}},
      units::Precision::bfloat16);
  ASSERT_TRUE(custom);
  EXPECT_DOUBLE_EQ(peak_of(*custom, units::Precision::bfloat16)->rate.in(units::teraflop_per_second), 100);
}

}  // namespace
}  // namespace flopwatt::engine
