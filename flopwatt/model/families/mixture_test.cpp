#include <gmock/gmock.h>

#include "flopwatt/model/families/small_config.hpp"

/// Mixtures of experts, counted by hand on the small shape: V = 10, h = 8, L = 2, 4 heads of 2 over 2 kv heads, ffn 12.
/// Attention without biases is 64 + 32 + 32 + 64 = 192, two norms 16, a gated feed-forward 24·width; a router of three
/// experts 24.  Embedding, head and last norm: 168.
namespace flopwatt::model {
namespace {

using testing::HasSubstr;
using units::Count;

Census census_of(std::string_view json) { return census(read_small(json)); }

/// Three experts of width 5, of which a token takes two.
constexpr std::string_view kSmallExperts =
    R"(, "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 5)";
constexpr std::string_view kRoutedExperts =
    R"(, "n_routed_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 5, "first_k_dense_replace": 1)";

std::string joined(std::string_view first, std::string_view second) { return std::string{first} + std::string{second}; }

// Experts 3·288 = 864: 192 + 16 + 24 + 864 = 1,096 a layer; 168 + 2·1096 = 2,360.  One of three is left out in each
// layer: 2,360 − 2·288 = 1,784 active.
TEST(Mixtral, CountsByHand) {
  const Census count = census_of(small_config("mixtral", R"(, "num_local_experts": 3, "num_experts_per_tok": 2)"));
  EXPECT_EQ(count.total, Count{2360});
  EXPECT_EQ(count.active, Count{1784});
  EXPECT_EQ(count[Component::experts], Count{2 * 864});
  EXPECT_EQ(count[Component::router], Count{48});
  EXPECT_THAT(refusal_of(small_config("mixtral", R"(, "num_local_experts": 3, "num_experts_per_tok": 4)")),
              HasSubstr("num_experts_per_tok is 4, more than the 3 experts"));
  EXPECT_THAT(refusal_of(small_config("mixtral", R"(, "num_experts_per_tok": 2)")), HasSubstr("num_local_experts"));
}

// q, k and v with biases: 192 + 16 + 16 = 224.  Layer 0 is dense: 224 + 288 = 512; layer 1: experts 3·24·5 = 360,
// router 24, shared expert 24·6 = 144, its gate 8: 760.  168 + 512 + 760 = 1,440; 1,440 − 120 = 1,320 active.
TEST(Qwen2Moe, CountsByHand) {
  const Architecture model = read_small(small_config(
      "qwen2_moe", joined(kSmallExperts, R"(, "shared_expert_intermediate_size": 6, "decoder_sparse_step": 2)")));
  EXPECT_EQ(census(model).total, Count{1440});
  EXPECT_EQ(census(model).active, Count{1320});
  EXPECT_EQ(model.text().layers, (std::vector<std::uint16_t>{0, 1}));
  EXPECT_FALSE(model.text().blocks[0].routing.has_value());
}

// Heads of 6: q and o 192 each, k and v 96 each, head norms 12, norms 16: 604.  Layer 0 is dense: 892; layer 1: 360 +
// 24: 988.  168 + 892 + 988 = 2,048; 1,928 active.  Without head_dim it is hidden / heads, unlike in Qwen3: 192 + 4 +
// 16 = 212; 168 + 500 + 596 = 1,264.
TEST(Qwen3Moe, CountsByHand) {
  const Census count =
      census_of(small_config("qwen3_moe", joined(kSmallExperts, R"(, "head_dim": 6, "mlp_only_layers": [0])")));
  EXPECT_EQ(count.total, Count{2048});
  EXPECT_EQ(count.active, Count{1928});
  EXPECT_EQ(census_of(small_config("qwen3_moe", joined(kSmallExperts, R"(, "mlp_only_layers": [0])"))).total,
            Count{1264});
}

// Norms of 8 over the queries and 4 over the keys: 192 + 12 + 16 + 24 + 864 = 1,108; 168 + 2·1108 = 2,384; one expert
// of three: 2,384 − 2·576 = 1,232 active.
TEST(Olmoe, CountsByHand) {
  const Census count = census_of(small_config("olmoe", R"(, "num_experts": 3, "num_experts_per_tok": 1)"));
  EXPECT_EQ(count.total, Count{2384});
  EXPECT_EQ(count.active, Count{1232});
}

// Biases of q, k, v and o 24, norms with biases 32: 192 + 24 + 32 + 24 + 864 = 1,136; 160 + 2·1136 + 16 = 2,448; the
// head's bias 10 more.
TEST(PhiMoe, CountsByHand) {
  EXPECT_EQ(census_of(small_config("phimoe", R"(, "num_local_experts": 3, "num_experts_per_tok": 2,
                                                  "attention_bias": true, "lm_head_bias": true)"))
                .total,
            Count{2458});
}

// As Mixtral; a shared expert of 5 adds 120 a layer.
TEST(GraniteMoe, CountsByHandInFusedTensors) {
  constexpr std::string_view kExperts = R"(, "num_local_experts": 3, "num_experts_per_tok": 2)";
  const Architecture model = read_small(small_config("granitemoe", kExperts));
  EXPECT_EQ(census(model).total, Count{2360});
  EXPECT_EQ(census(model).active, Count{1784});
  const Tensor& fused = model.text().blocks[0].tensors[7];
  EXPECT_EQ(fused.name, "model.layers.{layer}.block_sparse_moe.input_linear.weight");
  EXPECT_EQ(fused.dims, (std::array<std::int64_t, 5>{3, 24, 8}));
  EXPECT_EQ(fused.k, 8);
  EXPECT_EQ(fused.n, 24);
  EXPECT_EQ(census_of(small_config("granitemoeshared", joined(kExperts, R"(, "shared_intermediate_size": 5)"))).total,
            Count{2360 + 240});
}

// Biases 24, sinks 4: 192 + 24 + 4 + 16 = 236; router 27; an expert 8·24 + 24 + 12·8 + 8 = 320: 236 + 27 + 960 = 1,223;
// 168 + 2·1223 = 2,614; one expert of three: 2,614 − 2·640 = 1,334 active.
TEST(GptOss, CountsByHandAndAlternates) {
  const Architecture model = read_small(small_config(
      "gpt_oss", R"(, "head_dim": 2, "num_local_experts": 3, "num_experts_per_tok": 1, "sliding_window": 4)"));
  EXPECT_EQ(census(model).total, Count{2614});
  EXPECT_EQ(census(model).active, Count{1334});
  ASSERT_EQ(model.text().blocks.size(), 2U);
  EXPECT_EQ(model.text().blocks[0].attentions[0].window, 4);
  EXPECT_FALSE(model.text().blocks[1].attentions[0].window.has_value());
}

// As Mixtral, in DBRX's fused tensors, whatever the inner objects say of tying.
TEST(Dbrx, CountsByHand) {
  const Architecture model = read_small(R"({"model_type": "dbrx", "vocab_size": 10, "d_model": 8, "n_layers": 2,
      "n_heads": 4, "attn_config": {"kv_n_heads": 2, "tie_word_embeddings": true},
      "ffn_config": {"ffn_hidden_size": 12, "moe_num_experts": 3, "moe_top_k": 2}})");
  EXPECT_EQ(census(model).total, Count{2360});
  EXPECT_EQ(census(model).active, Count{1784});
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_THAT(refusal_of(R"({"model_type": "dbrx", "vocab_size": 10, "d_model": 8, "n_layers": 2, "n_heads": 4,
                             "attn_config": {"kv_n_heads": 2}, "ffn_config": {"moe_top_k": 5}})"),
              HasSubstr("moe_top_k"));
}

// Layer 0: 192 + 16 + 288 = 496; layer 1: 192 + 16 + 24 + 360 + shared 24·2·5 = 832.  168 + 496 + 832 = 1,496; 1,376
// active.  Without experts both layers are dense.
TEST(DeepSeekMoe, CountsByHand) {
  const Census count = census_of(small_config("deepseek", joined(kRoutedExperts, R"(, "n_shared_experts": 2)")));
  EXPECT_EQ(count.total, Count{1496});
  EXPECT_EQ(count.active, Count{1376});
  EXPECT_EQ(census_of(small_config("deepseek")).total, Count{168 + 2 * 496});
}

constexpr std::string_view kRanks =
    R"(, "kv_lora_rank": 4, "qk_nope_head_dim": 2, "qk_rope_head_dim": 2, "v_head_dim": 3, "n_shared_experts": 1)";

// q 8·4·(2 + 2) = 128, kv_a 8·(4 + 2) = 48, norm 4, kv_b 4·4·(2 + 3) = 80, o 4·3·8 = 96: 356, with norms 372.  Layer 0:
// 372 + 288 = 660; layer 1: 372 + 24 + 360 + 120 = 876.  168 + 660 + 876 = 1,704; 1,584 active.
TEST(DeepSeekV2, CountsByHandWithoutQueryRank) {
  const Architecture model =
      read_small(small_config("deepseek_v2", joined(kRoutedExperts, joined(kRanks, R"(, "q_lora_rank": null)"))));
  EXPECT_EQ(census(model).total, Count{1704});
  EXPECT_EQ(census(model).active, Count{1584});
  ASSERT_TRUE(model.text().blocks[1].attentions[0].latent.has_value());
  EXPECT_FALSE(model.text().blocks[1].attentions[0].latent->query_rank.has_value());
}

// q_a 48, norm 6, q_b 6·16 = 96 in the place of q: 378, with norms 394.  Layer 0: 682; layer 1: 394 + 24 + selection
// bias 3 + 360 + 120 = 901.  168 + 682 + 901 = 1,751.  A prediction module is one more layer 1, a product of 16·8 and
// three norms: 901 + 128 + 24 = 1,053.
TEST(DeepSeekV3, CountsByHandAndNamesItsPredictionModule) {
  for (const std::string_view type : {"deepseek_v3", "kimi_k2"}) {
    const Architecture model = read_small(small_config(
        type, joined(kRoutedExperts, joined(kRanks, R"(, "q_lora_rank": 6, "num_nextn_predict_layers": 1)"))));
    EXPECT_EQ(census(model).total, Count{1751});
    ASSERT_EQ(model.excluded.size(), 2U);
    EXPECT_EQ(model.excluded[0].parameters, Count{160});
    EXPECT_EQ(model.excluded[1].parameters, Count{1053});
    EXPECT_EQ(model.excluded[1].name_patterns, (std::vector<std::string>{"model.layers.2."}));
  }
  EXPECT_THAT(refusal_of(small_config("deepseek_v3", joined(kRoutedExperts, kRanks))),
              HasSubstr("q_lora_rank is missing"));
}

// The published sizes of DeepSeek-V3's prediction module: 11,610,068,224 and copies of 2·926,679,040.
TEST(DeepSeekV3, NamesThePublishedPredictionModule) {
  const Architecture model = read_small(
      R"({"model_type": "deepseek_v3", "vocab_size": 129280, "hidden_size": 7168, "num_hidden_layers": 61,
          "num_attention_heads": 128, "intermediate_size": 18432, "kv_lora_rank": 512, "q_lora_rank": 1536,
          "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 256,
          "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "first_k_dense_replace": 3,
          "num_nextn_predict_layers": 1})");
  EXPECT_EQ(census(model).total, Count{671026419200});
  EXPECT_EQ(census(model).active, Count{37552297472});
  ASSERT_EQ(model.excluded.size(), 2U);
  EXPECT_EQ(model.excluded[0].parameters, Count{1853358080});
  EXPECT_EQ(model.excluded[1].parameters, Count{11610068224});
}

// An index of two heads of 4: 6·8 + 8·4 + norm 8 + 8·2 = 104 a layer; 1,751 + 208 = 1,959.
TEST(DeepSeekV32, CountsByHandWithItsIndex) {
  const Architecture model = read_small(
      small_config("deepseek_v32", joined(kRoutedExperts, joined(kRanks, R"(, "q_lora_rank": 6, "index_n_heads": 2,
                                                                "index_head_dim": 4, "index_topk": 3)"))));
  EXPECT_EQ(census(model).total, Count{1959});
  const Attention& attention = model.text().blocks[0].attentions[0];
  ASSERT_TRUE(attention.sparse.has_value());
  EXPECT_EQ(attention.sparse->heads, 2);
  EXPECT_EQ(attention.sparse->top_k, 3);
}

// Only the first layer has an index of its own: 1,751 + 104 = 1,855; the second attends to the same keys.
TEST(GlmMoeDsa, CountsByHandAndSharesIndexes) {
  constexpr std::string_view kIndex = R"(, "q_lora_rank": 6, "index_n_heads": 2, "index_head_dim": 4, "index_topk": 3)";
  const auto glm = [&](std::string_view extra) {
    return small_config("glm_moe_dsa", joined(kRoutedExperts, joined(kRanks, joined(kIndex, extra))));
  };
  const Architecture model = read_small(glm(R"(, "indexer_types": ["full", "shared"])"));
  EXPECT_EQ(census(model).total, Count{1855});
  ASSERT_EQ(model.text().blocks.size(), 2U);
  EXPECT_EQ(model.text().blocks[1].attentions[0].sparse->heads, 0);
  EXPECT_EQ(model.text().blocks[1].attentions[0].sparse->top_k, 3);
  EXPECT_EQ(total_of(glm("")), Count{1959});
  EXPECT_EQ(total_of(glm(R"(, "index_topk_pattern": "FS")")), Count{1855});
  EXPECT_THAT(refusal_of(glm(R"(, "indexer_types": ["full"])")), HasSubstr("1 entries for 2 layers"));
}

// Biases of q, k and v 16, head norms 4: 192 + 16 + 4 + 16 = 228.  Layer 0: 516; layer 1: 228 + 24 + 3 + 360 + 120 =
// 735. 168 + 516 + 735 = 1,419.
TEST(Glm4Moe, CountsByHand) {
  EXPECT_EQ(
      total_of(small_config("glm4_moe", joined(kRoutedExperts, R"(, "attention_bias": true, "use_qk_norm": true)"))),
      Count{1419});
}

// Norms of 8 and 4, selection bias 3: 192 + 12 + 16 + 24 + 3 + 864 = 1,111; 168 + 2·1111 = 2,390.
TEST(MiniMaxM2, CountsByHand) {
  EXPECT_EQ(total_of(small_config("minimax_m2", R"(, "head_dim": 2, "num_local_experts": 3,
                                                     "num_experts_per_tok": 2)")),
            Count{2390});
}

}  // namespace
}  // namespace flopwatt::model
