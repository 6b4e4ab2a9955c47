// Files of models that nest a config, with a part of them missing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "flopwatt/model/read_config.hpp"

namespace flopwatt::model {
namespace {

using Json = nlohmann::json;

// Every object of the file that has a name, however deep.
void collect_parts(const Json& object, const Json::json_pointer& at, std::vector<Json::json_pointer>& parts) {
  for (const auto& [key, value] : object.items()) {
    if (!value.is_object()) continue;
    parts.push_back(at / key);
    collect_parts(value, at / key, parts);
  }
}

// A file is read, or refused as a file that is wrong: the test is also that it returns at all.
void expect_an_answer(const Json& file, const std::string& what) {
  const Result<Architecture> read = read_config(file.dump(), "config.json");
  if (read) return;
  EXPECT_EQ(read.error().code, Errc::bad_data) << what;
  EXPECT_FALSE(read.error().what.empty()) << what;
}

TEST(MissingParts, AModelThatSeesNeedsItsLanguageModel) {
  struct Case {
    std::string_view model_type, class_name;
  };
  for (const Case& c :
       {Case{"gemma3", "Gemma3ForConditionalGeneration"}, Case{"llava", "LlavaForConditionalGeneration"},
        Case{"llava_next", "LlavaNextForConditionalGeneration"}, Case{"mistral3", "Mistral3ForConditionalGeneration"},
        Case{"qwen3_vl", "Qwen3VLForConditionalGeneration"},
        Case{"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration"}}) {
    Json file{{"architectures", Json::array({c.class_name})},
              {"model_type", c.model_type},
              {"vision_config", Json::object()}};
    for (const bool null : {false, true}) {
      if (null) file["text_config"] = nullptr;
      const Result<Architecture> read = read_config(file.dump(), "config.json");
      ASSERT_FALSE(read.has_value()) << c.model_type;
      EXPECT_EQ(read.error().code, Errc::bad_data) << c.model_type;
      EXPECT_EQ(read.error().what, "text_config is missing") << c.model_type;
    }
  }
}

// The part names a family that needs a part of its own.
TEST(MissingParts, APartThatNeedsAPart) {
  const Json inner{{"model_type", "llava"}};
  const Json file{{"architectures", Json::array({"LlavaForConditionalGeneration"})},
                  {"model_type", "llava"},
                  {"text_config", inner}};
  const Result<Architecture> read = read_config(file.dump(), "config.json");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().what, "text_config.text_config is missing");
}

TEST(MissingParts, EveryPublishedFileWithoutEachOfItsParts) {
  const std::filesystem::path configs = std::filesystem::path{FLOPWATT_SHARED} / "models" / "configs";
  if (std::string_view{FLOPWATT_SHARED}.empty() || !std::filesystem::is_directory(configs)) {
    GTEST_SKIP() << "FLOPWATT_SHARED names no folder with models/configs";
  }
  int tried = 0;
  for (const auto& entry : std::filesystem::directory_iterator{configs}) {
    std::ifstream in{entry.path(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    const Json file = Json::parse(text, nullptr, false);
    if (!file.is_object()) continue;
    std::vector<Json::json_pointer> parts;
    collect_parts(file, Json::json_pointer{}, parts);
    for (const Json::json_pointer& part : parts) {
      const std::string what = entry.path().filename().string() + part.to_string();
      Json nulled = file;
      nulled[part] = nullptr;
      expect_an_answer(nulled, what);
      Json without = file;
      without[part.parent_pointer()].erase(part.back());
      expect_an_answer(without, what);
      ++tried;
    }
  }
  EXPECT_GT(tried, 0);
}

}  // namespace
}  // namespace flopwatt::model
