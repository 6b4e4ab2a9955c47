#include "flopwatt/model/catalogue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace flopwatt::model {
namespace {

using testing::HasSubstr;

TEST(Catalogue, EveryModelThatShipsIsReadAndCountsAsPublished) {
  const Catalogue catalogue = Catalogue::builtin();
  ASSERT_FALSE(catalogue.entries().empty());
  for (const Catalogue::Entry& entry : catalogue.entries()) {
    EXPECT_FALSE(entry.source.empty()) << entry.name;
    ASSERT_TRUE(entry.parameters.has_value()) << entry.name;
    const Result<Architecture> model = catalogue.find(entry.name);
    ASSERT_TRUE(model.has_value()) << entry.name << ": " << model.error().message();
    EXPECT_EQ(model->name, entry.name);
    EXPECT_EQ(model->source, entry.source);
    EXPECT_EQ(census(*model).total, units::Count{entry.parameters.value()}) << entry.name;
  }
}

TEST(Catalogue, NamesAndAliasesAreUnique) {
  const Catalogue catalogue = Catalogue::builtin();
  for (const Catalogue::Entry& entry : catalogue.entries()) {
    EXPECT_EQ(catalogue.find_entry(entry.name).value(), &entry);
    for (const std::string& alias : entry.aliases) EXPECT_EQ(catalogue.find_entry(alias).value(), &entry) << alias;
  }
}

TEST(Catalogue, FindsInAnyCaseAndByTheEndOfAName) {
  const Catalogue catalogue = Catalogue::builtin();
  EXPECT_EQ(catalogue.find("qwen/QWEN2.5-3b").value().name, "Qwen/Qwen2.5-3B");
  EXPECT_EQ(catalogue.find("Qwen2.5-3B").value().name, "Qwen/Qwen2.5-3B");
  EXPECT_EQ(catalogue.find("gpt2").value().name, "openai-community/gpt2");
  EXPECT_EQ(catalogue.find("GPT2-XL").value().name, "openai-community/gpt2-xl");
  EXPECT_EQ(catalogue.find("DialoGPT-medium").value().name, "microsoft/DialoGPT-medium");
}

TEST(Catalogue, RefusesWhatIsUnknownOrAmbiguousWithCandidates) {
  const Catalogue catalogue = Catalogue::builtin();
  const Result<Architecture> ambiguous = catalogue.find("medium");
  ASSERT_FALSE(ambiguous.has_value());
  EXPECT_EQ(ambiguous.error().code, Errc::usage);
  EXPECT_THAT(ambiguous.error().remedy, HasSubstr("DialoGPT-medium"));
  EXPECT_THAT(ambiguous.error().remedy, HasSubstr("gpt2-medium"));

  const Result<Architecture> misspelt = catalogue.find("Qwen2.5-3");
  ASSERT_FALSE(misspelt.has_value());
  EXPECT_EQ(misspelt.error().code, Errc::usage);
  EXPECT_THAT(misspelt.error().remedy, HasSubstr("Qwen/Qwen2.5-3B"));

  EXPECT_FALSE(catalogue.find("").has_value());
  EXPECT_FALSE(catalogue.find("/").has_value());
  // Part of a word is no name: "GPT-large" would otherwise be DialoGPT-large.
  EXPECT_FALSE(catalogue.find("GPT-large").has_value());
}

TEST(Catalogue, FindsAnAliasByItsEndToo) {
  const Catalogue catalogue = Catalogue::builtin();
  EXPECT_EQ(catalogue.find("Llama-3.1-8B-Instruct").value().name, "meta-llama/Llama-3.1-8B");
  EXPECT_EQ(catalogue.find("DeepSeek-R1").value().name, "deepseek-ai/DeepSeek-V3");
  EXPECT_EQ(catalogue.find("kimi-k2").value().name, "moonshotai/Kimi-K2-Instruct");
}

TEST(Catalogue, SuggestsAtMostThreeNamesThatAreLikeTheWantedOne) {
  const Catalogue catalogue = Catalogue::builtin();
  const auto remedy = [&](std::string_view name) { return catalogue.find(name).error().remedy; };
  const std::string_view give = "give a config.json or one of ";
  EXPECT_THAT(remedy("mixtral"), HasSubstr("mistralai/Mixtral-8x22B-v0.1, mistralai/Mixtral-8x7B-v0.1"));
  EXPECT_THAT(remedy("gpt-oss"), HasSubstr("openai/gpt-oss-120b, openai/gpt-oss-20b"));
  EXPECT_THAT(remedy("Llama-3-405B"), testing::StartsWith(std::string{give} + "meta-llama/Llama-3.1-405B"));
  EXPECT_THAT(remedy("deepseek-v3-chat"), testing::StartsWith(std::string{give} + "deepseek-ai/DeepSeek-V"));
  EXPECT_THAT(remedy("Qwen3-30B"), testing::StartsWith(std::string{give} + "Qwen/Qwen3-30B-A3B"));
  for (const char* name : {"qwen", "llama", "mixtral", "gemma-3", "pythia"}) {
    const std::string text = remedy(name);
    EXPECT_LE(std::count(text.begin(), text.end(), ','), 2) << text;
  }
  EXPECT_EQ(remedy("%%%%%%%%%%%%%%%%"), "give a config.json, a folder holding one, or a name such as Qwen/Qwen2.5-3B");
  EXPECT_EQ(remedy(std::string(100'000, 'x')),
            "give a config.json, a folder holding one, or a name such as Qwen/Qwen2.5-3B");
}

TEST(Catalogue, TakesEntriesOfTheUserAndLetsThemReplaceOurs) {
  Catalogue catalogue = Catalogue::builtin();
  const std::size_t before = catalogue.entries().size();
  // 5·4 embedding and, tied, head; a layer 4·12+12 + 4·4+4 + 4·16+16 + 16·4+4 + 4·4 = 60+20+80+68+16 = 244; ln_f 8;
  // positions 3·4 = 12: 20 + 244 + 8 + 12 = 284.
  ASSERT_TRUE(catalogue
                  .add(R"({"schema": "flopwatt.models/1", "models": [{"name": "OpenAI-Community/GPT2", "source": "mine",
                           "config": {"model_type": "gpt2", "vocab_size": 5, "n_embd": 4, "n_head": 2, "n_layer": 1,
                                      "n_positions": 3}}]})",
                       "mine.json")
                  .has_value());
  EXPECT_EQ(catalogue.entries().size(), before);
  EXPECT_EQ(census(catalogue.find("openai-community/gpt2").value()).total, units::Count{284});
}

TEST(Catalogue, RefusesAFileThatIsNoCatalogue) {
  for (const std::string_view text :
       {"", "{", "[]", "{}", R"({"schema": "other", "models": []})", R"({"schema": "flopwatt.models/1"})",
        R"({"schema": "flopwatt.models/1", "models": [7]})",
        R"({"schema": "flopwatt.models/1", "models": [{"name": "a", "config": {}}]})",
        R"({"schema": "flopwatt.models/1", "models": [{"name": "a", "source": "b"}]})",
        R"({"schema": "flopwatt.models/1", "models": [{"name": "a", "source": "b", "config": {}, "aliases": 1}]})"}) {
    Catalogue catalogue;
    const Result<void> added = catalogue.add(text, "mine.json");
    ASSERT_FALSE(added.has_value()) << text;
    EXPECT_EQ(added.error().code, Errc::bad_data);
    EXPECT_THAT(added.error().where, HasSubstr("mine.json"));
    EXPECT_TRUE(catalogue.entries().empty());
  }
}

}  // namespace
}  // namespace flopwatt::model
