#include <gmock/gmock.h>

#include "flopwatt/model/families/small_config.hpp"

/// Families with two-product feed-forwards, counted by hand on the small shape: V = 10, h = 8, L = 2, 4 heads of 2.
namespace flopwatt::model {
namespace {

using testing::HasSubstr;
using units::Count;

// Embedding 10·8 + (6 + 2)·8 = 144.  A layer: q, k, v, out 4·(64 + 8) = 288; fc1 96 + 12, fc2 96 + 8: 212; norms 32:
// 532. Last norm 16.  144 + 2·532 + 16 = 1,224, the head being tied.
TEST(Opt, CountsByHand) { EXPECT_EQ(total_of(small_config("opt", R"(, "ffn_dim": 12)")), Count{1224}); }

// Like OPT-350M: embedding of width 4 (40 + 64), a product in and one out of it (32 each), no last norm:
// 104 + 64 + 2·532 = 1,232.
TEST(Opt, ProjectsANarrowEmbeddingInAndOut) {
  EXPECT_EQ(
      total_of(small_config("opt", R"(, "ffn_dim": 12, "word_embed_proj_dim": 4, "do_layer_norm_before": false)")),
      Count{1232});
}

// Embedding 80, its norm 16.  A layer: qkv 8·24 + 24 = 216, out 72, mlp 8·32 + 32 + 32·8 + 8 = 552, norms 32: 872.
// Last norm 16.  80 + 16 + 2·872 + 16 = 1,856.
TEST(Bloom, CountsByHand) {
  EXPECT_EQ(total_of(R"({"model_type": "bloom", "vocab_size": 10, "n_embed": 8, "n_layer": 2, "n_head": 4})"),
            Count{1856});
  EXPECT_EQ(total_of(small_config("bloom")), Count{1856});
}

// Embedding and head 160.  A layer: 216 + 72 + mlp 212 + norms 32 = 532.  Last norm 16.  160 + 2·532 + 16 = 1,240.
// Without attention biases 2·(24 + 8) less.
TEST(GptNeox, CountsByHand) {
  EXPECT_EQ(total_of(small_config("gpt_neox")), Count{1240});
  EXPECT_EQ(total_of(small_config("gpt_neox", R"(, "use_parallel_residual": false)")), Count{1240});
  EXPECT_EQ(total_of(small_config("gpt_neox", R"(, "attention_bias": false)")), Count{1176});
}

// Two layers, each with a mask of 6·6 and a scalar, and heads of 2 that are rotated by one frequency.
TEST(GptNeox, NamesTheBuffersThatItLeavesOut) {
  const Architecture model = read_small(small_config("gpt_neox", R"(, "rotary_pct": 1.0)"));
  ASSERT_EQ(model.excluded.size(), 2U);
  EXPECT_EQ(model.excluded[0].parameters, Count{2});
  EXPECT_EQ(model.excluded[1].parameters, Count{2 * 37});
  EXPECT_THAT(refusal_of(small_config("gpt_neox", R"(, "rotary_pct": 1e300)")), HasSubstr("rotary_pct"));
}

// Embedding 80, head 80 + 10.  A layer: 4·64 = 256, mlp 552, one norm 16: 824.  Last norm 16.  80 + 90 + 2·824 + 16.
TEST(Gptj, CountsByHand) {
  EXPECT_EQ(total_of(small_gpt_config("gptj", R"(, "n_inner": null, "rotary_dim": 2)")), Count{1834});
}

// Embedding 80 + positions 48.  A layer: qkv 8·(8 + 2 + 2) + 12 = 108, out 72, mlp 552, norms 32: 764.  Last norm 16.
// 128 + 2·764 + 16 = 1,672.  With as many kv heads as heads qkv is 216: 2·108 more.
TEST(GptBigcode, CountsByHand) {
  EXPECT_EQ(total_of(small_gpt_config("gpt_bigcode")), Count{1672});
  EXPECT_EQ(total_of(small_gpt_config("gpt_bigcode", R"(, "multi_query": false)")), Count{1888});
}

constexpr std::string_view kFalcon7b =
    R"("vocab_size": 10, "hidden_size": 8, "n_layer": 2, "n_head": 4, "multi_query": true, "parallel_attn": true,
       "bias": false, "num_kv_heads": 4})";

// Embedding 80, tied.  A layer: qkv 8·12 = 96, out 64, mlp 2·8·32 = 512, one norm 16: 688.  Last norm 16.
// 80 + 2·688 + 16 = 1,472.  num_kv_heads plays no part.
TEST(Falcon, CountsTheOldArchitectureByHandUnderBothNames) {
  EXPECT_EQ(total_of(R"({"model_type": "falcon", )" + std::string{kFalcon7b}), Count{1472});
  const Architecture old = read_small(R"({"model_type": "RefinedWebModel", )" + std::string{kFalcon7b});
  EXPECT_EQ(census(old).total, Count{1472});
  EXPECT_EQ(old.text().blocks[0].attentions[0].kv_heads, 1);
}

// qkv 8·(8 + 2·2·2) = 128, two norms 32: 736 a layer; 80 + 2·736 + 16 = 1,568.  With one norm (Falcon2) 2·16 less.
TEST(Falcon, CountsTheNewArchitectureByHandUnderBothNames) {
  EXPECT_EQ(total_of(R"({"model_type": "falcon", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2,
                         "num_attention_heads": 4, "num_kv_heads": 2, "new_decoder_architecture": true})"),
            Count{1568});
  EXPECT_EQ(total_of(R"({"model_type": "RefinedWeb", "vocab_size": 10, "hidden_size": 8, "n_layer": 2, "n_head": 4,
                         "n_head_kv": 2, "parallel_attn": true})"),
            Count{1568});
  EXPECT_EQ(total_of(R"({"model_type": "falcon", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2,
                         "num_attention_heads": 4, "num_kv_heads": 2, "new_decoder_architecture": true,
                         "num_ln_in_parallel_attn": 1})"),
            Count{1536});
}

// Like Falcon-RW-1B: as Bloom's layer without the embedding's norm: 80 + 2·872 + 16 = 1,840.
TEST(Falcon, CountsASequentialModelWithBiases) {
  EXPECT_EQ(total_of(R"({"model_type": "falcon", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2,
                         "num_attention_heads": 4, "alibi": true, "bias": true, "multi_query": false,
                         "parallel_attn": false})"),
            Count{1840});
}

// Embedding 80.  A layer: qkv 192, out 64, mlp 512, norms 16: 784.  Last norm 8.  80 + 2·784 + 8 = 1,656.
TEST(Mpt, CountsByHandAndRefusesTheFormsItDoesNotKnow) {
  const auto mpt = [](std::string_view extra) {
    return R"({"model_type": "mpt", "vocab_size": 10, "d_model": 8, "n_layers": 2, "n_heads": 4)" + std::string{extra} +
           "}";
  };
  EXPECT_EQ(total_of(mpt(R"(, "learned_pos_emb": true, "attn_config": {"alibi": true})")), Count{1656});
  EXPECT_THAT(refusal_of(mpt(R"(, "no_bias": false)")), HasSubstr("no_bias"));
  EXPECT_THAT(refusal_of(mpt(R"(, "attn_config": {"alibi": false})")), HasSubstr("attn_config.alibi"));
  EXPECT_THAT(refusal_of(mpt(R"(, "attn_config": {"qk_ln": true})")), HasSubstr("attn_config.qk_ln"));
  EXPECT_THAT(refusal_of(mpt(R"(, "attn_config": {"attn_type": "multiquery_attention"})")), HasSubstr("attn_type"));
}

// Embedding 80, head 80 + 10.  A layer: q 72, k and v 36 each, out 72, mlp 212, one norm 16: 444.  Last norm 16.
// 170 + 2·444 + 16 = 1,074.  Norms over queries and keys of a head: 2·(2 + 2) a layer.
TEST(Phi, CountsByHand) {
  EXPECT_EQ(total_of(small_config("phi")), Count{1074});
  EXPECT_EQ(total_of(small_config("phi", R"(, "qk_layernorm": true)")), Count{1074 + 2 * 8});
}

// In the first form: 4 kv heads, feed-forward 32: 4·72 + 552 + 16 = 856 a layer; 170 + 2·856 + 16 = 1,898.
TEST(Phi, ReadsItsFirstForms) {
  for (const std::string_view type : {"phi-msft", "mixformer-sequential"}) {
    EXPECT_EQ(total_of(small_gpt_config(type, R"(, "n_head_kv": null, "n_inner": null)")), Count{1898}) << type;
  }
}

// Embedding 80, tied.  A layer: qkv 8·16 + 16 = 144, out 72, up 8·24 + 24 = 216, down 12·8 + 8 = 104, norms 32: 568.
// Last norm 16.  80 + 2·568 + 16 = 1,232.
TEST(Phi3Small, CountsByHand) {
  EXPECT_EQ(total_of(R"({"model_type": "phi3small", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2,
                         "num_attention_heads": 4, "num_key_value_heads": 2, "ff_intermediate_size": 12})"),
            Count{1232});
}

// Embedding 80, tied.  A layer: 72 + 36 + 36 + 72 = 216, mlp 212, norms 32: 460.  Last norm 16.  80 + 2·460 + 16.
// Without biases 192 + 192 + 32 = 416 a layer.
TEST(Starcoder2, CountsByHand) {
  EXPECT_EQ(total_of(small_config("starcoder2")), Count{1016});
  EXPECT_EQ(total_of(small_config("starcoder2", R"(, "use_bias": false)")), Count{928});
}

// Embedding 80 + positions 48.  A layer: q, k, v 3·64, out 72, mlp 552, norms 32: 848.  Last norm 16.
// 128 + 2·848 + 16 = 1,840.
TEST(GptNeo, CountsByHandAndAlternates) {
  const auto neo = [](std::string_view kinds) {
    return R"({"model_type": "gpt_neo", "vocab_size": 10, "hidden_size": 8, "num_layers": 2, "num_heads": 4,
               "max_position_embeddings": 6, "intermediate_size": null, "window_size": 4, "attention_layers": )" +
           std::string{kinds} + "}";
  };
  const Architecture model = read_small(neo(R"(["global", "local"])"));
  EXPECT_EQ(census(model).total, Count{1840});
  EXPECT_FALSE(model.text().blocks[0].attentions[0].window.has_value());
  EXPECT_EQ(model.text().blocks[1].attentions[0].window, 4);
  EXPECT_THAT(refusal_of(neo(R"(["global"])")), HasSubstr("attention_layers"));
}

// As GPT-J.
TEST(CodeGen, CountsByHand) { EXPECT_EQ(total_of(small_gpt_config("codegen")), Count{1834}); }

// Embedding and head 160.  A layer: 192, mlp 2·96, norms 32: 416.  Last norm 16.  160 + 2·416 + 16 = 1,008.
TEST(Nemotron, CountsByHand) {
  EXPECT_EQ(total_of(small_config("nemotron", R"(, "hidden_act": "relu2")")), Count{1008});
}

}  // namespace
}  // namespace flopwatt::model
