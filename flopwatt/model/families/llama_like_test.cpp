#include <gmock/gmock.h>

#include "flopwatt/model/families/small_config.hpp"

/// Families with gated feed-forwards, counted by hand on the small shape: V = 10, h = 8, L = 2, 4 heads of 2 over 2 kv
/// heads, ffn 12.  Llama itself: a layer 64 + 32 + 32 + 64 + 3·96 + 16 = 496; 160 + 2·496 + 8 = 1,160.
namespace flopwatt::model {
namespace {

using testing::HasSubstr;
using units::Count;

TEST(LlamaLike, LlamaItself) { EXPECT_EQ(total_of(small_config("llama")), Count{1160}); }

// The difference of the Hub's count of Llama-2-7B, 6,738,417,664, and its 6,738,415,616 parameters: 32 layers · 128/2.
TEST(LlamaLike, NamesTheRotaryFrequenciesThatItLeavesOut) {
  const Architecture model = read_small(small_config("llama"));
  ASSERT_EQ(model.excluded.size(), 1U);
  EXPECT_EQ(model.excluded[0].parameters, Count{2 * 2 / 2});
  EXPECT_EQ(model.excluded[0].name_patterns, (std::vector<std::string>{"inv_freq"}));
}

// qkv 8·24 + 24 = 216, out 64, mlp 288, norms 16: 584 a layer; 160 + 2·584 + 8 = 1,336.
TEST(Qwen, CountsByHandWithHalfOfItsIntermediateSize) {
  const auto qwen = [](std::string_view width) {
    return R"({"model_type": "qwen", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2,
               "num_attention_heads": 4, "kv_channels": 2, "no_bias": true, "intermediate_size": )" +
           std::string{width} + "}";
  };
  EXPECT_EQ(total_of(qwen("24")), Count{1336});
  EXPECT_THAT(refusal_of(qwen("23")), HasSubstr("odd"));
}

// Heads of 256 by class default: q and o 8·1024, k and v 8·512: 24,576; + 288 + 16 = 24,880 a layer;
// 80 + 2·24880 + 8 = 49,848.  With heads of 2 it is Llama, tied: 1,080.
TEST(Gemma, HeadDimDefaultsTo256) {
  EXPECT_EQ(total_of(small_config("gemma")), Count{49848});
  EXPECT_EQ(total_of(small_config("gemma", R"(, "head_dim": 2)")), Count{1080});
}

// 192 + 288 + four norms 32 = 512 a layer; 80 + 2·512 + 8 = 1,112.
TEST(Gemma2, CountsByHandAndAlternates) {
  const Architecture model = read_small(small_config("gemma2", R"(, "head_dim": 2, "sliding_window": 4)"));
  EXPECT_EQ(census(model).total, Count{1112});
  ASSERT_EQ(model.text().blocks.size(), 2U);
  EXPECT_EQ(model.text().blocks[0].attentions[0].window, 4);
  EXPECT_FALSE(model.text().blocks[1].attentions[0].window.has_value());
}

// As Gemma 2 with norms of 2 over queries and keys: 516 a layer; 80 + 2·516 + 8 = 1,120.
TEST(Gemma3Text, CountsByHandAndIsLocalInFiveOfSixLayers) {
  EXPECT_EQ(total_of(small_config("gemma3_text", R"(, "head_dim": 2)")), Count{1120});
  const Architecture model = read_small(R"({"model_type": "gemma3_text", "vocab_size": 10, "hidden_size": 8,
      "num_hidden_layers": 13, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 12,
      "head_dim": 2})");
  EXPECT_EQ(model.text().block_counts, (std::vector<std::int64_t>{11, 2}));
  EXPECT_EQ(model.text().layers[5], 1);
}

TEST(Phi3, CountsAsLlamaInTwoFusedProducts) {
  const Architecture model = read_small(small_config("phi3", R"(, "attention_bias": true, "sliding_window": 3)"));
  EXPECT_EQ(census(model).total, Count{1160});
  EXPECT_EQ(model.text().blocks[0].attentions[0].window, 3);
  EXPECT_EQ(model.text().blocks[0].tensors[1].name, "model.layers.{layer}.self_attn.qkv_proj.weight");
}

// 192 + 288 + norms 32 = 512 a layer; 160 + 2·512 + 16 = 1,200.
TEST(StableLm, CountsByHand) {
  EXPECT_EQ(total_of(small_config("stablelm")), Count{1200});
  EXPECT_EQ(total_of(small_config("stablelm_epoch")), Count{1200});
  EXPECT_EQ(total_of(small_config("stablelm", R"(, "use_qkv_bias": true)")), Count{1200 + 2 * 16});
  EXPECT_EQ(total_of(small_config("stablelm", R"(, "use_parallel_residual": true)")), Count{1200 - 2 * 16});
  // A norm of 2 for each of 4 + 2 heads.
  EXPECT_EQ(total_of(small_config("stablelm", R"(, "qk_layernorm": true)")), Count{1200 + 2 * 12});
}

// No norm holds a parameter: 480 a layer; 160 + 960 = 1,120; tied on request.
TEST(Olmo, CountsByHand) {
  EXPECT_EQ(total_of(small_config("olmo")), Count{1120});
  EXPECT_EQ(total_of(small_config("olmo", R"(, "tie_word_embeddings": true)")), Count{1040});
}

// 480 + norms 16 + query norm 8 + key norm 4 = 508 a layer; 160 + 2·508 + 8 = 1,184.
TEST(Olmo2, CountsByHand) { EXPECT_EQ(total_of(small_config("olmo2")), Count{1184}); }

TEST(Olmo3, CountsAsOlmo2AndIsLocalInThreeOfFourLayers) {
  const Architecture model = read_small(small_config("olmo3"));
  EXPECT_EQ(census(model).total, Count{1184});
  EXPECT_EQ(model.text().blocks[0].attentions[0].window, 4096);
}

// 480 + norms 16 + norms of 2 for queries and keys = 500 a layer; 160 + 2·500 + 8 = 1,168.
TEST(Exaone4, CountsByHandAndFollowsItsPattern) {
  const Architecture model =
      read_small(small_config("exaone4", R"(, "sliding_window": 4, "sliding_window_pattern": "LG")"));
  EXPECT_EQ(census(model).total, Count{1168});
  EXPECT_EQ(model.text().blocks[0].attentions[0].window, 4);
  EXPECT_TRUE(model.text().blocks[0].elementwise.rotary);
  EXPECT_FALSE(model.text().blocks[1].attentions[0].window.has_value());
  EXPECT_FALSE(model.text().blocks[1].elementwise.rotary);
  EXPECT_THAT(refusal_of(small_config("exaone4", R"(, "sliding_window": 4, "sliding_window_pattern": "XG")")),
              HasSubstr("sliding_window_pattern"));
}

// q 8, k 4, v 4; o 8, gate 12, up 12, down 8.
TEST(InternLm3, CountsAsLlamaWithItsBiases) {
  EXPECT_EQ(total_of(small_config("internlm3")), Count{1160});
  EXPECT_EQ(total_of(small_config("internlm3", R"(, "qkv_bias": true)")), Count{1160 + 2 * 16});
  EXPECT_EQ(total_of(small_config("internlm3", R"(, "bias": true)")), Count{1160 + 2 * 40});
}

TEST(MiniCpm, CountsAsLlamaTiedAndRefusesExperts) {
  EXPECT_EQ(total_of(small_config("minicpm")), Count{1080});
  EXPECT_THAT(refusal_of(small_config("minicpm", R"(, "num_experts": 8)")), HasSubstr("num_experts"));
}

// 480 + one norm 8 = 488 a layer; 80 + 2·488 + 8 = 1,064; norms of [heads, 2] for queries and keys: 12 a layer.
TEST(Cohere, CountsByHand) {
  EXPECT_EQ(total_of(small_config("cohere")), Count{1064});
  EXPECT_EQ(total_of(small_config("cohere", R"(, "use_qk_norm": true)")), Count{1088});
  EXPECT_EQ(total_of(small_config("cohere2")), Count{1064});
}

TEST(Granite, CountsAsLlama) {
  EXPECT_EQ(total_of(small_config("granite")), Count{1160});
  // q 8, k 4, v 4, o 8; gate 12, up 12, down 8.
  EXPECT_EQ(total_of(small_config("granite", R"(, "attention_bias": true, "mlp_bias": true)")), Count{1160 + 2 * 56});
}

TEST(SmolLm3, CountsAsLlamaTied) { EXPECT_EQ(total_of(small_config("smollm3")), Count{1080}); }

constexpr std::string_view kNoKvHeads =
    R"("vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 12})";

// 4·(64 + 8) + 288 + 16 = 592 a layer; 160 + 2·592 + 8 = 1,352; without biases 560 a layer.
TEST(InternLm, HasBiasesUnlessToldOtherwise) {
  EXPECT_EQ(total_of(R"({"model_type": "internlm", )" + std::string{kNoKvHeads}), Count{1352});
  EXPECT_EQ(total_of(R"({"model_type": "internlm", "bias": false, )" + std::string{kNoKvHeads}), Count{1288});
}

// wqkv 8·16 + 16, wo 72, mlp 288, norms 16: 520 a layer; 160 + 2·520 + 8 = 1,208; without biases it is Llama.
TEST(InternLm2, CountsByHand) {
  EXPECT_EQ(total_of(small_config("internlm2")), Count{1208});
  EXPECT_EQ(total_of(small_config("internlm2", R"(, "bias": false)")), Count{1160});
}

// 256 + 288 + 16 = 560 a layer; 160 + 2·560 + 8 = 1,288.
TEST(Xverse, CountsByHand) {
  EXPECT_EQ(total_of(R"({"model_type": "xverse", )" + std::string{kNoKvHeads}), Count{1288});
}
TEST(Baichuan, CountsByHand) {
  const Architecture alibi = read_small(R"({"model_type": "baichuan", )" + std::string{kNoKvHeads});
  EXPECT_EQ(census(alibi).total, Count{1288});
  EXPECT_FALSE(alibi.text().blocks[0].elementwise.rotary);
  EXPECT_TRUE(read_small(R"({"model_type": "baichuan", "max_position_embeddings": 6, )" + std::string{kNoKvHeads})
                  .text()
                  .blocks[0]
                  .elementwise.rotary);
}

// As XVERSE with norms of 16: 576 a layer; 160 + 2·576 + 16 = 1,328.
TEST(Orion, CountsByHand) { EXPECT_EQ(total_of(R"({"model_type": "orion", )" + std::string{kNoKvHeads}), Count{1328}); }

// qkv 8·16 + 16 = 144, out 64, up 8·24 = 192, down 96, norms 16: 512 a layer; 160 + 2·512 + 8 = 1,192, though the class
// is called a Model.
TEST(ChatGlm, CountsByHandWithItsHead) {
  EXPECT_EQ(total_of(R"({"model_type": "chatglm", "architectures": ["ChatGLMModel"], "padded_vocab_size": 10,
                         "hidden_size": 8, "num_layers": 2, "num_attention_heads": 4, "kv_channels": 2,
                         "multi_query_attention": true, "multi_query_group_num": 2, "ffn_hidden_size": 12,
                         "add_qkv_bias": true, "add_bias_linear": false})"),
            Count{1192});
}

// The first ChatGLM: Bloom's layer, 872; 80 + 2·872 + 16 = 1,840.
TEST(ChatGlm, CountsTheFirstByHand) {
  EXPECT_EQ(total_of(R"({"model_type": "chatglm", "vocab_size": 10, "hidden_size": 8, "num_layers": 2,
                         "num_attention_heads": 4, "inner_hidden_size": 32})"),
            Count{1840});
}

// q, k and v with biases: 208 + 288 + 16 = 512 a layer; 160 + 2·512 + 8 = 1,192; two more norms in GLM-4-0414.
TEST(Glm, CountsByHand) {
  EXPECT_EQ(total_of(small_config("glm", R"(, "head_dim": 2)")), Count{1192});
  EXPECT_EQ(total_of(small_config("glm4", R"(, "head_dim": 2)")), Count{1192 + 2 * 16});
}

TEST(Exaone, CountsAsLlamaUnderGpt2sNames) {
  const Architecture model = read_small(R"({"model_type": "exaone", "vocab_size": 10, "hidden_size": 8,
      "num_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 12,
      "tie_word_embeddings": false})");
  EXPECT_EQ(census(model).total, Count{1160});
  EXPECT_EQ(model.text().blocks[0].tensors[1].name, "transformer.h.{layer}.attn.attention.q_proj.weight");
}

// q_a 8·6, norm 6, q_b 6·4·(2 + 2), kv_a 8·(4 + 2), norm 4, kv_b 4·4·(2 + 2), o 4·2·8: 48 + 6 + 96 + 48 + 4 + 64 + 64
// = 330; + 288 + 16 = 634 a layer; 80 + 2·634 + 8 = 1,356.
TEST(MiniCpm3, CountsByHand) {
  const Architecture model = read_small(small_config(
      "minicpm3", R"(, "q_lora_rank": 6, "kv_lora_rank": 4, "qk_nope_head_dim": 2, "qk_rope_head_dim": 2)"));
  EXPECT_EQ(census(model).total, Count{1356});
  ASSERT_TRUE(model.text().blocks[0].attentions[0].latent.has_value());
  EXPECT_EQ(model.text().blocks[0].attentions[0].latent->kv_rank, 4);
  EXPECT_EQ(model.text().blocks[0].attentions[0].head_dim, 4);
  EXPECT_EQ(model.text().blocks[0].attentions[0].value_head_dim, 2);
}

// Three layers: whole, with ffn_mult 2: ⌊2·2·8/3⌋ = 10, rounded up to 256: 192 + 3·8·256 + 16 = 6,352; without
// attention, the feed-forward one product: 64 + 8; attention one product, without feed-forward: 64 + 8.
// 160 + 6352 + 72 + 72 + 8 = 6,664.
TEST(NemotronNas, CountsByHand) {
  const auto nas = [](std::string_view first_attention) {
    return R"({"model_type": "nemotron-nas", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 3,
               "num_attention_heads": 4, "block_configs": [
                 {"attention": )" +
           std::string{first_attention} + R"(, "ffn": {"ffn_mult": 2, "no_op": false}},
                 {"attention": {"no_op": true}, "ffn": {"replace_with_linear": true}},
                 {"attention": {"replace_with_linear": true}, "ffn": {"no_op": true}}]})";
  };
  EXPECT_EQ(total_of(nas(R"({"n_heads_in_group": 2})")), Count{6664});
  EXPECT_THAT(refusal_of(nas(R"({"n_heads_in_group": 3})")), HasSubstr("block_configs.0.attention.n_heads_in_group"));
  EXPECT_THAT(refusal_of(nas("{}")), HasSubstr("n_heads_in_group is missing"));
  EXPECT_THAT(refusal_of(nas("7")), HasSubstr("attention is 7, not an object"));
  EXPECT_THAT(refusal_of(R"({"model_type": "nemotron-nas", "vocab_size": 10, "hidden_size": 8,
                             "num_hidden_layers": 3, "num_attention_heads": 4, "block_configs": []})"),
              HasSubstr("0 entries for 3 layers"));
}

// Feed-forward ⌊2·12/3⌋ = 8, a multiple of 4: 3·64 = 192.  Attention 192 + 2·2, convolution 8·24 + 8·3 + 64 = 280; each
// with norms 16: 404 and 488.  80 + 404 + 488 + 8 = 980.  Unadjusted the feed-forward is 288: 2·96 more.
TEST(Lfm2, CountsByHand) {
  const Architecture model =
      read_small(small_config("lfm2", R"(, "block_multiple_of": 4, "layer_types": ["conv", "full_attention"])"));
  EXPECT_EQ(census(model).total, Count{980});
  ASSERT_TRUE(model.text().blocks[0].recurrence.has_value());
  EXPECT_EQ(model.text().blocks[0].recurrence->conv_kernel, 3);
  EXPECT_TRUE(model.text().blocks[0].attentions.empty());
  EXPECT_EQ(total_of(small_config("lfm2", R"(, "block_multiple_of": 4, "full_attn_idxs": [1])")), Count{980});
  EXPECT_EQ(total_of(small_config("lfm2", R"(, "block_auto_adjust_ff_dim": false, "full_attn_idxs": [1])")),
            Count{980 + 2 * 96});
  EXPECT_THAT(refusal_of(small_config("lfm2", R"(, "layer_types": ["conv"])")), HasSubstr("1 entries for 2 layers"));
}

}  // namespace
}  // namespace flopwatt::model
