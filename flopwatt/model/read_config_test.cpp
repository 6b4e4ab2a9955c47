#include "flopwatt/model/read_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace flopwatt::model {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::string_view kLlama = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
  "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2,
  "intermediate_size": 12, "max_position_embeddings": 64, "torch_dtype": "bfloat16"})";

/// The small Llama with one key replaced by a JSON text; an empty text removes the key.
std::string llama_with(std::string_view key, std::string_view value) {
  std::string text{kLlama};
  const std::string quoted = "\"" + std::string{key} + "\": ";
  const std::size_t at = text.find(quoted);
  if (at == std::string::npos) {
    text.insert(1, quoted + std::string{value} + ", ");
    return text;
  }
  const std::size_t begin = at + quoted.size();
  std::size_t end = text.find_first_of(",}", begin);
  if (text[begin] == '[') end = text.find(']', begin) + 1;
  if (!value.empty()) return text.replace(begin, end - begin, value);
  return text.erase(at, end + 1 - at);
}

Error error_of(std::string_view json, const ReadOptions& options = {}) {
  const Result<Architecture> read = read_config(json, "config.json", options);
  EXPECT_FALSE(read.has_value()) << json.substr(0, 200);
  return read ? Error{} : read.error();
}

// Embedding 10·8 = 80; a layer 8·8 (q) + 2·8·4 (k, v) + 8·8 (o) + 3·8·12 (mlp) + 2·8 (norms) = 64+64+64+288+16 = 496;
// final norm 8; head 80.  In all 80 + 3·496 + 8 + 80 = 1,656.
TEST(ReadConfig, CountsASmallLlamaByHand) {
  const Architecture model = read_config(kLlama, "config.json").value();
  const Census count = census(model);
  EXPECT_EQ(count.total, units::Count{1656});
  EXPECT_EQ(count.body, units::Count{1496});
  EXPECT_EQ(count[Component::embedding], units::Count{80});
  EXPECT_EQ(count[Component::lm_head], units::Count{80});
  EXPECT_EQ(count[Component::attention], units::Count{3 * 192});
  EXPECT_EQ(count[Component::mlp], units::Count{3 * 288});
  EXPECT_EQ(count[Component::norm], units::Count{3 * 16 + 8});
  EXPECT_EQ(count.active, count.total);
  EXPECT_EQ(model.family, "llama");
  EXPECT_EQ(model.vocabulary, 10);
  EXPECT_EQ(model.max_positions, 64);
  EXPECT_EQ(model.dtype, units::Precision::bfloat16);
  EXPECT_EQ(model.name, "config.json");
  EXPECT_TRUE(model.notes.empty());
}

TEST(ReadConfig, HoldsOneBlockForAUniformStack) {
  const Architecture model = read_config(kLlama, "config.json").value();
  ASSERT_EQ(model.text().blocks.size(), 1U);
  EXPECT_EQ(model.text().block_counts, (std::vector<std::int64_t>{3}));
  EXPECT_EQ(model.text().layers, (std::vector<std::uint16_t>{0, 0, 0}));
  EXPECT_EQ(model.text().blocks[0].kind, "attention+mlp");
  EXPECT_EQ(model.text().blocks[0].tensors[1].name, "model.layers.{layer}.self_attn.q_proj.weight");
}

TEST(ReadConfig, BiasesOfLlamaFollowTheirKeys) {
  // attention_bias: q 8 + k 4 + v 4 + o 8 = 24 a layer; mlp_bias: 12 + 12 + 8 = 32 a layer.
  EXPECT_EQ(census(read_config(llama_with("attention_bias", "true"), "c").value()).total, units::Count{1656 + 3 * 24});
  EXPECT_EQ(census(read_config(llama_with("mlp_bias", "true"), "c").value()).total, units::Count{1656 + 3 * 32});
}

TEST(ReadConfig, HeadDimMayDifferFromHiddenOverHeads) {
  // head_dim 6 instead of 2: q and o 8·24 each instead of 64, k and v 8·12 instead of 32: 192+96+96+192 = 576.
  EXPECT_EQ(census(read_config(llama_with("head_dim", "6"), "c").value())[Component::attention], units::Count{3 * 576});
  EXPECT_EQ(census(read_config(llama_with("head_dim", "null"), "c").value()).total, units::Count{1656});
}

TEST(ReadConfig, MissingKeyValueHeadsMeanAsManyAsHeads) {
  // k and v 64 each instead of 32: 64 more a layer.
  EXPECT_EQ(census(read_config(llama_with("num_key_value_heads", ""), "c").value()).total, units::Count{1656 + 3 * 64});
  EXPECT_EQ(census(read_config(llama_with("num_key_value_heads", "null"), "c").value()).total,
            units::Count{1656 + 3 * 64});
}

TEST(ReadConfig, ATiedHeadDoesWorkButHoldsNothing) {
  const Architecture model = read_config(llama_with("tie_word_embeddings", "true"), "c").value();
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(census(model).total, units::Count{1576});
  EXPECT_EQ(census(model)[Component::lm_head], units::Count{0});
  const Tensor& head = model.text().outside.back();
  EXPECT_EQ(head.name, "lm_head.weight");
  EXPECT_TRUE(head.tied);
  EXPECT_EQ(head.k * head.n, 80);
}

TEST(ReadConfig, TheClassDecidesTheHead) {
  const auto total = [](std::string_view name) {
    return census(read_config(llama_with("architectures", "[\"" + std::string{name} + "\"]"), "c").value()).total;
  };
  EXPECT_EQ(total("LlamaModel"), units::Count{1576});
  EXPECT_EQ(total("LlamaForSequenceClassification"), units::Count{1576 + 2 * 8});
  EXPECT_EQ(total("LlamaForTokenClassification"), units::Count{1576 + 2 * 8 + 2});
  EXPECT_EQ(total("LlamaForQuestionAnswering"), units::Count{1576 + 2 * 8 + 2});
  const std::string five = llama_with("id2label", R"({"0": "a", "1": "b", "2": "c", "3": "d", "4": "e"})");
  std::string scored = five;
  scored.replace(scored.find("LlamaForCausalLM"), 16, "LlamaForSequenceClassification");
  EXPECT_EQ(census(read_config(scored, "c").value()).total, units::Count{1576 + 5 * 8});
}

// OPT projects 8 channels to the 4 of its embedding before any head: a score of 2 labels has 2 · 4 weights.
TEST(ReadConfig, AScoreReadsTheWidthThatTheModelPutsOut) {
  const auto total = [](std::string_view class_name) {
    const std::string config = R"({"model_type":"opt","architectures":[")" + std::string{class_name} +
                               R"("],"hidden_size":8,"word_embed_proj_dim":4,"ffn_dim":16,"num_hidden_layers":1,)"
                               R"("num_attention_heads":2,"vocab_size":10,"max_position_embeddings":6,)"
                               R"("do_layer_norm_before":false})";
    return census(read_config(config, "c").value()).total;
  };
  EXPECT_EQ(total("OPTForSequenceClassification") - total("OPTModel"), units::Count{2 * 4});
}

TEST(ReadConfig, RefusesAClassWhoseHeadIsUnknown) {
  const Error error = error_of(llama_with("architectures", R"(["LlamaForRewardModel"])"));
  EXPECT_EQ(error.code, Errc::bad_data);
  EXPECT_THAT(error.message(), HasSubstr("LlamaForRewardModel"));
}

TEST(ReadConfig, RefusesAnUnknownModelTypeByNameAndOffersFamilies) {
  const Error error = error_of(llama_with("model_type", "\"frobnicate\""));
  EXPECT_EQ(error.code, Errc::bad_data);
  EXPECT_THAT(error.message(), HasSubstr("config.json: model_type 'frobnicate' is not supported"));
  EXPECT_THAT(error.remedy, HasSubstr("--as"));
  EXPECT_THAT(error.remedy, HasSubstr("llama"));
}

TEST(ReadConfig, AUserMayInsistOnAFamilyAndIsToldSo) {
  const std::string odd = llama_with("model_type", "\"frobnicate\"");
  const Architecture model = read_config(odd, "config.json", {.as_family = "llama", .name = "odd"}).value();
  EXPECT_EQ(census(model).total, units::Count{1656});
  EXPECT_EQ(model.model_type, "frobnicate");
  EXPECT_EQ(model.family, "llama");
  EXPECT_EQ(model.name, "odd");
  EXPECT_THAT(model.notes, Contains(HasSubstr("on request")));
  EXPECT_EQ(error_of(odd, {.as_family = "nosuch"}).code, Errc::usage);
}

TEST(ReadConfig, FilesWithoutModelTypeAreReadByClassOrKeys) {
  EXPECT_EQ(read_config(llama_with("model_type", ""), "c").value().family, "llama");
  const Architecture bare =
      read_config(R"({"n_ctx": 4, "n_embd": 2, "n_head": 1, "n_layer": 1, "n_positions": 4, "vocab_size": 3})", "c")
          .value();
  EXPECT_EQ(bare.family, "gpt2");
  EXPECT_EQ(bare.model_type, "gpt2");
  EXPECT_THAT(error_of("{}").message(), HasSubstr("model_type is missing"));
}

TEST(ReadConfig, TwoNamesOfOneFieldMustAgree) {
  const Error error = error_of(
      R"({"model_type": "gpt2", "n_embd": 8, "hidden_size": 16, "n_head": 2, "n_layer": 1, "n_positions": 4,
          "vocab_size": 3})");
  EXPECT_THAT(error.message(), HasSubstr("hidden_size is 16, but n_embd is 8"));
}

TEST(ReadConfig, ErrorsNameFileAndKey) {
  EXPECT_EQ(error_of(llama_with("num_attention_heads", "\"four\"")).message(),
            "config.json: num_attention_heads is \"four\", not a whole number from 1 to 268435456");
  EXPECT_EQ(error_of(llama_with("vocab_size", "")).message(), "config.json: vocab_size is missing");
}

// One clear error each, whatever the field.
TEST(ReadConfig, RefusesImpossibleSizes) {
  for (const std::string_view key : {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                                     "num_key_value_heads", "intermediate_size"}) {
    for (const std::string_view value : {"0", "-1", "2.5", "1e300", "-1e300", "NaN", "Infinity", "-Infinity", "1e999",
                                         "18446744073709551616", "1000000000000", "\"8\"", "true", "[]", "{}"}) {
      const Error error = error_of(llama_with(key, value));
      EXPECT_EQ(error.code, Errc::bad_data) << key << " = " << value;
      EXPECT_THAT(error.message(), HasSubstr("config.json")) << key << " = " << value;
    }
  }
}

TEST(ReadConfig, AcceptsAWholeNumberWrittenAsAFraction) {
  EXPECT_EQ(census(read_config(llama_with("num_hidden_layers", "3.0"), "c").value()).total, units::Count{1656});
}

TEST(ReadConfig, RefusesHeadsThatDoNotFit) {
  EXPECT_THAT(error_of(llama_with("num_attention_heads", "3")).message(), HasSubstr("num_"));
  EXPECT_THAT(error_of(llama_with("hidden_size", "9")).message(), HasSubstr("does not divide the hidden size 9"));
  EXPECT_THAT(error_of(llama_with("num_key_value_heads", "3")).message(), HasSubstr("does not divide"));
  EXPECT_THAT(error_of(llama_with("num_key_value_heads", "8")).message(), HasSubstr("does not divide"));
}

TEST(ReadConfig, RefusesABillionLayersAtOnce) {
  EXPECT_THAT(error_of(llama_with("num_hidden_layers", "1000000000")).message(), HasSubstr("1 to 10000"));
}

TEST(ReadConfig, RefusesTextThatIsNoObject) {
  for (const std::string_view text : {"", " ", "[]", "7", "null", "\"llama\"", "{", "{]", "nonsense"}) {
    const Error error = error_of(text);
    EXPECT_EQ(error.code, Errc::bad_data) << text;
    EXPECT_FALSE(error.message().empty());
  }
}

TEST(ReadConfig, EveryPrefixOfAFileIsAnErrorAndNeverACrash) {
  for (std::size_t length = 0; length < kLlama.size(); ++length) {
    EXPECT_FALSE(read_config(kLlama.substr(0, length), "config.json").has_value()) << length;
  }
}

TEST(ReadConfig, ForeignTextDoesNotBreakTheMessage) {
  const Error error = error_of("{\"model_type\": \"a\\nb\\u0001\\ufffd" + std::string(500, 'x') + "\"}");
  EXPECT_EQ(error.message().find('\n'), std::string::npos);
  EXPECT_LT(error.what.size(), 200U);
}

TEST(ReadConfig, ReadsQuantisationWithoutChangingTheCount) {
  const auto read = [](std::string_view quantization) {
    return read_config(llama_with("quantization_config", quantization), "c").value();
  };
  const Architecture gptq = read(R"({"quant_method": "gptq", "bits": 4, "group_size": 128})");
  EXPECT_EQ(census(gptq).total, units::Count{1656});
  EXPECT_EQ(gptq.quantization->precision, units::Precision::int4);
  EXPECT_EQ(gptq.quantization->group_size, 128);
  const Architecture fp8 =
      read(R"({"quant_method": "fp8", "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]})");
  EXPECT_EQ(fp8.quantization->precision, units::Precision::fp8);
  EXPECT_EQ(fp8.quantization->block_size, (std::vector<std::int64_t>{128, 128}));
  EXPECT_EQ(fp8.quantization->not_converted, (std::vector<std::string>{"lm_head"}));
  EXPECT_EQ(read(R"({"quant_method": "mxfp4"})").quantization->precision, units::Precision::fp4);
  const Architecture odd = read(R"({"quant_method": "gptq", "bits": 3})");
  EXPECT_FALSE(odd.quantization.has_value());
  EXPECT_THAT(odd.notes, Contains(HasSubstr("gptq")));
}

TEST(Families, AreDescribedCompletelyAndOnce) {
  std::vector<std::string_view> names, types, stems;
  for (const Family* family : all_families()) {
    EXPECT_FALSE(family->name.empty());
    EXPECT_TRUE(family->read != nullptr) << family->name;
    EXPECT_FALSE(family->model_types.front().empty()) << family->name;
    names.push_back(family->name);
    for (const auto type : family->model_types) {
      if (!type.empty()) types.push_back(type);
    }
    for (const auto stem : family->class_stems) {
      if (!stem.empty()) stems.push_back(stem);
    }
  }
  for (auto* list : {&names, &types, &stems}) {
    std::sort(list->begin(), list->end());
    EXPECT_EQ(std::adjacent_find(list->begin(), list->end()), list->end());
  }
}

TEST(ClassNames, FallIntoStemAndHead) {
  EXPECT_EQ(class_stem("LlamaForCausalLM"), "Llama");
  EXPECT_EQ(class_stem("GPT2LMHeadModel"), "GPT2");
  EXPECT_EQ(class_stem("MistralModel"), "Mistral");
  EXPECT_EQ(class_stem("RWForCausalLM"), "RW");
  EXPECT_EQ(head_of_class("GPT2LMHeadModel"), Head::language_model);
  EXPECT_EQ(head_of_class("QWenLMHeadModel"), Head::language_model);
  EXPECT_EQ(head_of_class("MistralModel"), Head::none);
  EXPECT_EQ(head_of_class("BertForMaskedLM"), Head::masked_model);
  EXPECT_EQ(head_of_class(""), Head::language_model);
  EXPECT_FALSE(head_of_class("Qwen2ForRewardModel").has_value());
  EXPECT_FALSE(head_of_class("FooForSegmentation").has_value());
}

}  // namespace
}  // namespace flopwatt::model
