#include "flopwatt/libtorch/decoder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/libtorch/testing.hpp"
#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/model/read_config.hpp"

namespace flopwatt::libtorch {
namespace {

using ::testing::HasSubstr;

Result<Decoder> read(const std::string& config, std::int64_t sequence = 16) {
  FLOPWATT_TRY(const auto architecture, model::read_config(config, "config.json"));
  return read_decoder(architecture, config, sequence);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Decoder, SizesOfGpt2) {
  const auto decoder = read(testing::kGpt2);
  ASSERT_TRUE(decoder.has_value()) << decoder.error().message();
  EXPECT_EQ(decoder->style, Decoder::Style::gpt2);
  EXPECT_EQ(decoder->layers, 2);
  EXPECT_EQ(decoder->heads, 3);
  EXPECT_EQ(decoder->head_dim, 8);
  EXPECT_EQ(decoder->ffn, 96);
  EXPECT_EQ(decoder->positions, 64);
  EXPECT_TRUE(decoder->tied);
  EXPECT_EQ(decoder->activation, model::Activation::gelu_tanh);
  EXPECT_EQ(decoder->residual_dropout, 0.1);  // GPT2Config's default
}

TEST(Decoder, SizesOfLlamaLikeFamilies) {
  const auto qwen2 = read(testing::kQwen2);
  ASSERT_TRUE(qwen2.has_value()) << qwen2.error().message();
  EXPECT_EQ(qwen2->kv_heads, 2);
  EXPECT_TRUE(qwen2->qkv_bias);
  EXPECT_FALSE(qwen2->out_bias);
  const auto llama = read(testing::kLlama);
  ASSERT_TRUE(llama.has_value()) << llama.error().message();
  EXPECT_EQ(llama->head_dim, 16);
  EXPECT_FALSE(llama->tied);
  const auto qwen3 = read(testing::kQwen3);
  ASSERT_TRUE(qwen3.has_value()) << qwen3.error().message();
  EXPECT_TRUE(qwen3->query_key_norm);
}

// By hand: GPT-2's head is tied, so its parameters are the tables, two layers of 12 tensors and the last norm.
//   tables 101·24 + 64·24 = 3,960; a layer 24·72 + 72 + 24·24 + 24 + 24·96 + 96 + 96·24 + 24 + 4·24 = 7,224;
//   last norm 48.  3,960 + 2 · 7,224 + 48 = 18,456.
TEST(Decoder, ParametersOfGpt2ByHand) {
  const auto decoder = read(testing::kGpt2);
  ASSERT_TRUE(decoder.has_value());
  const auto list = parameters(*decoder);
  EXPECT_EQ(list.size(), 2U + 2U * 12U + 2U);
  std::int64_t count = 0;
  for (const Parameter& parameter : list) {
    std::int64_t elements = 1;
    for (const std::int64_t size : parameter.dims) elements *= size;
    count += elements;
  }
  EXPECT_EQ(count, 18'456);
}

// Every model of these families that the catalogue knows, as it is published: read_decoder compares its parameters with
// the census and refuses a variant that is not built.
TEST(Decoder, ReadsTheCataloguesModelsOfItsFamilies) {
  constexpr std::array<std::string_view, 5> kFamilies{"gpt2", "llama", "mistral", "qwen2", "qwen3"};
  std::map<std::string, int> read_of;
  const model::Catalogue catalogue = model::Catalogue::builtin();
  for (const model::Catalogue::Entry& entry : catalogue.entries()) {
    const auto architecture = model::read_config(entry.config, entry.name);
    ASSERT_TRUE(architecture.has_value()) << entry.name;
    const bool ours = std::find(kFamilies.begin(), kFamilies.end(), architecture->family) != kFamilies.end();
    const auto decoder = read_decoder(*architecture, entry.config, 512);
    if (!ours) {
      EXPECT_FALSE(decoder.has_value()) << entry.name;
      continue;
    }
    ASSERT_TRUE(decoder.has_value()) << entry.name << ": " << decoder.error().message();
    units::Count count;
    for (const Parameter& parameter : parameters(*decoder)) {
      units::Count elements{1};
      for (const std::int64_t size : parameter.dims) elements *= size;
      count += elements;
    }
    EXPECT_EQ(count, model::census(*architecture).total) << entry.name;
    ++read_of[architecture->family];
  }
  for (const std::string_view family : kFamilies) EXPECT_GT(read_of[std::string{family}], 0) << family;
}

TEST(Decoder, WhatIsNotBuiltIsRefusedByName) {
  const auto windowed =
      read(replaced(replaced(testing::kQwen2, "\"use_sliding_window\": false",
                             "\"use_sliding_window\": true, \"max_window_layers\": 0"),
                    "\"max_position_embeddings\"", "\"sliding_window\": 8, \"max_position_embeddings\""));
  ASSERT_FALSE(windowed.has_value());
  EXPECT_EQ(windowed.error().code, Errc::unavailable);
  EXPECT_THAT(windowed.error().what, HasSubstr("window"));

  const auto other = read(R"({"model_type": "gpt_neox", "vocab_size": 101, "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64})");
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Errc::unavailable);
  EXPECT_THAT(other.error().what, HasSubstr("gpt_neox"));

  const auto quantised = read(replaced(testing::kLlama, "\"vocab_size\"",
                                       R"("quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 8},
                                          "vocab_size")"));
  ASSERT_FALSE(quantised.has_value());
  EXPECT_THAT(quantised.error().what, HasSubstr("quantised"));
}

TEST(Decoder, ASequenceBeyondThePositionTableCannotWork) {
  EXPECT_TRUE(read(testing::kGpt2, 64).has_value());
  const auto too_long = read(testing::kGpt2, 65);
  ASSERT_FALSE(too_long.has_value());
  EXPECT_EQ(too_long.error().code, Errc::infeasible);
}

}  // namespace
}  // namespace flopwatt::libtorch
