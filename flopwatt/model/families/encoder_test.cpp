#include <gmock/gmock.h>

#include "flopwatt/model/families/small_config.hpp"

/// Encoders and encoder-decoders, counted by hand.
namespace flopwatt::model {
namespace {

using testing::HasSubstr;
using units::Count;

std::string masked(std::string_view model_type, std::string_view class_name, std::string_view extra = "") {
  return R"({"model_type": ")" + std::string{model_type} + R"(", "architectures": [")" + std::string{class_name} +
         R"("], "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 4,
             "intermediate_size": 12, "max_position_embeddings": 6, "type_vocab_size": 2)" +
         std::string{extra} + "}";
}

// Embeddings 80 + 48 + 16 and their norm 16: 160.  A layer: four projections with biases 288, feed-forward
// 8·12 + 12 + 12·8 + 8 = 212, two norms 32: 532.  160 + 2·532 = 1,224.  On top: pooler 64 + 8 = 72; the masked head a
// product of 72, a norm of 16, a bias of 10; classes 2·8 + 2 = 18.
TEST(Bert, CountsByHandUnderEachOfItsClasses) {
  EXPECT_EQ(total_of(masked("bert", "BertModel")), Count{1224 + 72});
  EXPECT_EQ(total_of(masked("bert", "BertForMaskedLM")), Count{1224 + 98});
  EXPECT_EQ(total_of(masked("bert", "BertForPreTraining")), Count{1224 + 98 + 72 + 18});
  EXPECT_EQ(total_of(masked("bert", "BertForSequenceClassification")), Count{1224 + 72 + 18});
  EXPECT_EQ(total_of(masked("bert", "BertForTokenClassification")), Count{1224 + 18});
  EXPECT_EQ(total_of(masked("bert", "BertForQuestionAnswering")), Count{1224 + 18});
  EXPECT_THAT(refusal_of(masked("bert", "BertForNextSentencePrediction")), HasSubstr("BertForNextSentencePrediction"));
  EXPECT_THAT(refusal_of(masked("bert", "BertModel", R"(, "position_embedding_type": "relative_key")")),
              HasSubstr("position_embedding_type"));
}

TEST(Bert, IsAnEncoderThatSeesBothWays) {
  const Architecture model = read_small(masked("bert", "BertForMaskedLM"));
  EXPECT_EQ(model.text().role, StackRole::encoder);
  EXPECT_FALSE(model.text().blocks[0].attentions[0].causal);
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(census(model)[Component::lm_head], Count{0});
  EXPECT_EQ(model.text().outside[0].name, "bert.embeddings.word_embeddings.weight");
  EXPECT_EQ(read_small(masked("bert", "BertModel")).text().outside[0].name, "embeddings.word_embeddings.weight");
}

// The same body; sequences are classified by two products, 72 + 18.
TEST(Roberta, CountsByHand) {
  EXPECT_EQ(total_of(masked("roberta", "RobertaModel")), Count{1296});
  EXPECT_EQ(total_of(masked("roberta", "RobertaForMaskedLM")), Count{1322});
  EXPECT_EQ(total_of(masked("xlm-roberta", "XLMRobertaForSequenceClassification")), Count{1224 + 90});
}

std::string t5(std::string_view class_name, std::string_view extra, std::string_view model_type = "t5") {
  return R"({"model_type": ")" + std::string{model_type} + R"(", "architectures": [")" + std::string{class_name} +
         R"("], "vocab_size": 10, "d_model": 8, "d_kv": 3, "d_ff": 12, "num_layers": 2, "num_heads": 2)" +
         std::string{extra} + "}";
}

// Attention 4·8·6 = 192, feed-forward 2·96 = 192, norms of 8.  Encoder: 2·(192 + 192 + 16) + biases 32·2 + norm 8 =
// 872; decoder: 2·(2·192 + 192 + 24) + 64 + 8 = 1,272; words 80.  872 + 1272 + 80 = 2,224; a head of its own 80 more; a
// gate in each of the four feed-forwards 96 more.
TEST(T5, CountsByHand) {
  EXPECT_EQ(total_of(t5("T5ForConditionalGeneration", "")), Count{2224});
  EXPECT_EQ(total_of(t5("T5ForConditionalGeneration", R"(, "tie_word_embeddings": false)")), Count{2304});
  EXPECT_EQ(total_of(t5("T5ForConditionalGeneration", R"(, "feed_forward_proj": "gated-gelu")")), Count{2224 + 384});
  EXPECT_EQ(total_of(t5("T5ForConditionalGeneration", R"(, "num_decoder_layers": 1)")), Count{2224 - 600});
  EXPECT_EQ(total_of(t5("T5Model", "")), Count{2224});
  EXPECT_EQ(total_of(t5("T5EncoderModel", "")), Count{872 + 80});
  // Biases in every layer, gated: 64 more in each stack.
  EXPECT_EQ(total_of(t5("UMT5ForConditionalGeneration", "", "umt5")), Count{2224 + 384 + 128});
  EXPECT_THAT(refusal_of(t5("T5ForSequenceClassification", "")), HasSubstr("architectures"));
  EXPECT_THAT(refusal_of(t5("T5Model", R"(, "feed_forward_proj": "odd")")), HasSubstr("'odd'"));
}

TEST(T5, DecodesAcrossItsEncoder) {
  const Architecture model = read_small(t5("T5ForConditionalGeneration", ""));
  ASSERT_EQ(model.stacks.size(), 2U);
  EXPECT_EQ(model.stacks[0].role, StackRole::decoder);
  EXPECT_EQ(model.stacks[1].role, StackRole::encoder);
  const Block& block = model.text().blocks[0];
  ASSERT_EQ(block.attentions.size(), 2U);
  EXPECT_TRUE(block.attentions[0].causal);
  EXPECT_TRUE(block.attentions[1].cross);
  EXPECT_FALSE(model.stacks[1].blocks[0].attentions[0].causal);
}

// Attention 4·64 + 3·8 = 280 (keys have no bias), feed-forward 212, norms with biases 16.  Encoder: convolutions
// 8·4·3 + 8 = 104 and 8·8·3 + 8 = 200, positions 48, layer 280 + 212 + 32 = 524, norm 16: 892.  Decoder: words 80,
// positions 40, layer 560 + 212 + 48 = 820, norm 16: 956.  1,848, tied.
TEST(Whisper, CountsByHand) {
  const Architecture model = read_small(
      R"({"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "vocab_size": 10, "d_model": 8,
          "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 4,
          "encoder_ffn_dim": 12, "decoder_ffn_dim": 12, "num_mel_bins": 4, "max_source_positions": 6,
          "max_target_positions": 5})");
  EXPECT_EQ(census(model).total, Count{1848});
  EXPECT_TRUE(model.tied_embeddings);
  ASSERT_EQ(model.stacks.size(), 2U);
  EXPECT_EQ(model.stacks[1].role, StackRole::audio);
  // Two frames go into the first convolution for each position behind the second.
  EXPECT_EQ(model.stacks[1].outside[0].k, 12);
  EXPECT_EQ(model.stacks[1].outside[0].rows_factor, 2);
}

}  // namespace
}  // namespace flopwatt::model
