#include <gmock/gmock.h>

#include "flopwatt/model/families/small_config.hpp"

/// Families with layers that carry a state, counted by hand: V = 10, h = 8, L = 2, and for layers that attend 4 heads
/// of 2 over 2 kv heads (64 + 32 + 32 + 64 = 192) and a feed-forward of 12 (288).  Embedding, head and last norm: 168.
namespace flopwatt::model {
namespace {

using testing::HasSubstr;
using units::Count;

std::string with(std::string_view model_type, std::string_view extra) {
  return R"({"model_type": ")" + std::string{model_type} +
         R"(", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2)" + std::string{extra} + "}";
}

// Inner width 16: in 8·32 = 256, convolution 16·4 + 16 = 80, x 16·(2 + 2·3) = 128, dt 2·16 + 16 = 48, A 16·3 = 48, D
// 16, out 128: 704, with its norm 712.  Tied: 80 + 2·712 + 8 = 1,512.  A rank of "auto" is ⌈8/16⌉ = 1: 32 less a layer.
TEST(Mamba, CountsByHandWhateverItsInnerWidthClaims) {
  const auto mamba = [](std::string_view rank) {
    return with("mamba", R"(, "state_size": 3, "d_inner": 99, "time_step_rank": )" + std::string{rank});
  };
  const Architecture model = read_small(mamba("2"));
  EXPECT_EQ(census(model).total, Count{1512});
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_TRUE(model.text().blocks[0].attentions.empty());
  ASSERT_TRUE(model.text().blocks[0].recurrence.has_value());
  EXPECT_EQ(model.text().blocks[0].recurrence->head_dim, 16);
  EXPECT_EQ(model.text().blocks[0].recurrence->state_dim, 3);
  EXPECT_EQ(total_of(mamba("\"auto\"")), Count{1448});
  EXPECT_THAT(refusal_of(mamba("\"high\"")), HasSubstr("time_step_rank"));
}

// Channels of the convolution 16 + 2·2·3 = 28: in 8·(16 + 28 + 4) = 384, convolution 28·4 + 28 = 140, step biases, A
// and D 12, norm 16, out 128: 680, with its norm 688.  168 + 2·688 = 1,544.
TEST(Mamba2, CountsByHand) {
  constexpr std::string_view kHeads = R"(, "num_heads": 4, "n_groups": 2, "state_size": 3, "head_dim": )";
  EXPECT_EQ(total_of(with("mamba2", std::string{kHeads} + "4")), Count{1544});
  EXPECT_THAT(refusal_of(with("mamba2", std::string{kHeads} + "5")), HasSubstr("is not expand times hidden_size"));
}

// Decay and bonus 16, mixes 24, four products 256: 296.  Feed-forward: mixes 16, 8·32 twice, 64: 592.  Norms with
// biases 32: 920 a layer, 16 more in the first.  160 + 2·920 + 16 + 16 = 2,032.
TEST(Rwkv, CountsByHand) {
  const Architecture model = read_small(with("rwkv", ""));
  EXPECT_EQ(census(model).total, Count{2032});
  EXPECT_EQ(model.text().blocks.size(), 2U);
}

constexpr std::string_view kDelta =
    R"(, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 2, "linear_num_key_heads": 1,
         "linear_num_value_heads": 2, "linear_key_head_dim": 3, "linear_value_head_dim": 2)";
constexpr std::string_view kDeltaExperts =
    R"(, "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 5, "shared_expert_intermediate_size": 6)";

// Keys 3 and values 4 wide, channels 2·3 + 4 = 10: qkvz 8·14 = 112, ba 8·4 = 32, convolution 40, step biases and A 4,
// norm 2, out 32: 222.  Attention: q with its gate 128, k and v 64, o 64, head norms 4: 260.  Router 24, experts
// 3·24·5 = 360, shared expert 144 and its gate 8: 536.  Norms 16: 774 and 812; 168 + 774 + 812 = 1,754; 1,514 active.
// The prediction module is one more layer that attends: 812 + 128 + 24 = 964.
TEST(Qwen3Next, CountsByHandAndNamesItsPredictionModule) {
  const Architecture model =
      read_small(with("qwen3_next", std::string{kDelta} + std::string{kDeltaExperts} + R"(, "intermediate_size": 12,
                                                                            "full_attention_interval": 2)"));
  EXPECT_EQ(census(model).total, Count{1754});
  EXPECT_EQ(census(model).active, Count{1514});
  EXPECT_TRUE(model.text().blocks[0].recurrence.has_value());
  EXPECT_TRUE(model.text().blocks[1].attentions[0].causal);
  ASSERT_EQ(model.excluded.size(), 1U);
  EXPECT_EQ(model.excluded[0].parameters, Count{964});
}

// With a feed-forward of 288: 526 and 564; 168 + 526 + 564 = 1,258.
TEST(Qwen35, CountsItsTextByHand) {
  EXPECT_EQ(total_of(with("qwen3_5_text", std::string{kDelta} + R"(, "intermediate_size": 12,
                                          "layer_types": ["linear_attention", "full_attention"])")),
            Count{1258});
  EXPECT_THAT(
      refusal_of(with("qwen3_5_text", std::string{kDelta} + R"(, "intermediate_size": 12, "layer_types": ["a", "b"])")),
      HasSubstr("layer_types names a layer"));
}

TEST(Qwen35Moe, CountsItsTextAsQwen3Next) {
  const Architecture model = read_small(
      with("qwen3_5_moe_text", std::string{kDelta} + std::string{kDeltaExperts} + R"(, "full_attention_interval": 2)"));
  EXPECT_EQ(census(model).total, Count{1754});
  EXPECT_TRUE(model.excluded.empty());
}

// Layer 0: Mamba's 704 and inner norms 2 + 3 + 3, feed-forward 288, norms 16: 1,016.  Layer 1: attention 192, router
// 24, experts 864, norms 16: 1,096.  168 + 1016 + 1096 = 2,280; 2,280 − 288 = 1,992 active.
TEST(Jamba, CountsByHand) {
  const Architecture model = read_small(small_config(
      "jamba", R"(, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1,
                   "num_experts": 3, "num_experts_per_tok": 2, "mamba_d_state": 3, "mamba_dt_rank": 2,
                   "mamba_inner_layernorms": false)"));
  EXPECT_EQ(census(model).total, Count{2280});
  EXPECT_EQ(census(model).active, Count{1992});
  EXPECT_FALSE(model.text().blocks[1].elementwise.rotary);
}

// Mamba 2 688, attention 200, feed-forward of two products 200, experts 24 + 3·80 + shared 96 + 8 = 368.
// 168 + 688 + 200 + 200 + 368 = 1,624; 1,544 active.
TEST(NemotronH, CountsByHandInEitherSpelling) {
  const auto nemotron = [](std::string_view pattern) {
    return R"({"model_type": "nemotron_h", "vocab_size": 10, "hidden_size": 8, "num_attention_heads": 4,
               "num_key_value_heads": 2, "attention_head_dim": 2, "intermediate_size": 12, "mamba_num_heads": 4,
               "mamba_head_dim": 4, "n_groups": 2, "ssm_state_size": 3, "n_routed_experts": 3,
               "num_experts_per_tok": 2, "moe_intermediate_size": 5, "moe_shared_expert_intermediate_size": 6, )" +
           std::string{pattern} + "}";
  };
  const Architecture model = read_small(nemotron(R"("hybrid_override_pattern": "M*-E", "num_hidden_layers": 4)"));
  EXPECT_EQ(census(model).total, Count{1624});
  EXPECT_EQ(census(model).active, Count{1544});
  ASSERT_EQ(model.excluded.size(), 1U);
  EXPECT_EQ(model.excluded[0].parameters, Count{3});
  EXPECT_EQ(total_of(nemotron(R"("layers_block_type": ["mamba", "attention", "mlp", "moe"])")), Count{1624});
  EXPECT_THAT(refusal_of(nemotron(R"("hybrid_override_pattern": "M*", "num_hidden_layers": 4)")),
              HasSubstr("2 entries for 4 layers"));
  EXPECT_THAT(refusal_of(nemotron(R"("hybrid_override_pattern": "M?")")), HasSubstr("'?'"));
  EXPECT_THAT(refusal_of(nemotron(R"("x": 1)")), HasSubstr("hybrid_override_pattern is missing"));
}

}  // namespace
}  // namespace flopwatt::model
