#include <gmock/gmock.h>

#include "flopwatt/model/families/small_config.hpp"

/// Models that see, counted by hand.  The language models are those of the other tests: Llama's and Mistral's small
/// shape 1,160, Qwen2's 1,192, Qwen3's with heads of 6 1,952, Qwen3-MoE's 2,048, Gemma 3's with heads of 2 1,120.
namespace flopwatt::model {
namespace {

using testing::HasSubstr;
using units::Count;

/// The small shape without its braces' type: for `text_config`.
std::string text(std::string_view model_type, std::string_view extra = "") {
  return R"("text_config": )" + small_config(model_type, extra);
}

/// Images of 8, patches of 4: four of them, 48 numbers each.  Width 4, one layer of two heads, feed-forward 6.
std::string vision(std::string_view model_type, std::string_view extra = "") {
  return R"("vision_config": {"model_type": ")" + std::string{model_type} +
         R"(", "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 6,
             "image_size": 8, "patch_size": 4)" +
         std::string{extra} + "}";
}

std::string whole(std::string_view model_type, const std::string& parts, std::string_view extra = "") {
  return R"({"model_type": ")" + std::string{model_type} + R"(", )" + parts + std::string{extra} + "}";
}

// CLIP: class 4, patches 4·48 = 192, positions 5·4 = 20, norm 8; a layer 4·20 + norms 16 + 4·6 + 6 + 6·4 + 4 = 154;
// norm 8: 386.  Projector 4·8 + 8 + 8·8 + 8 = 112.  1160 + 386 + 112 = 1,658.
TEST(Llava, CountsByHand) {
  const Architecture model = read_small(whole("llava", text("llama") + ", " + vision("clip_vision_model")));
  const Census count = census(model);
  EXPECT_EQ(count.total, Count{1658});
  EXPECT_EQ(count[Component::vision], Count{498});
  ASSERT_TRUE(model.vision.has_value());
  EXPECT_EQ(model.vision->image, 8);
  EXPECT_EQ(model.vision->extra_tokens, 1);
  EXPECT_EQ(model.stacks[1].role, StackRole::vision);
  EXPECT_FALSE(model.stacks[1].blocks[0].attentions[0].causal);
  EXPECT_EQ(model.text().blocks[0].tensors[1].name, "language_model.model.layers.{layer}.self_attn.q_proj.weight");
}

// SigLIP: patches with biases 196, positions 16, the layer 154, norm 8: 374; with its pooling head 4 + 60 + 20 + 8 + 58
// = 150 more, unless told otherwise.  Pixtral: patches 192, norm 4, a layer 4·16 + 3·24 + 8 = 144: 340.
TEST(Llava, TakesOtherEncoders) {
  const auto total = [](const std::string& encoder) {
    return total_of(whole("llava", text("llama") + ", " + encoder));
  };
  EXPECT_EQ(total(vision("siglip_vision_model")), Count{1160 + 374 + 150 + 112});
  EXPECT_EQ(total(vision("siglip_vision_model", R"(, "vision_use_head": false)")), Count{1160 + 374 + 112});
  EXPECT_EQ(total(vision("pixtral")), Count{1160 + 340 + 112});
  EXPECT_THAT(refusal_of(whole("llava", text("llama") + ", " + vision("odd_vision_model"))),
              HasSubstr("vision_config.model_type 'odd_vision_model' is not supported"));
  EXPECT_THAT(refusal_of(whole("llava", text("odd") + ", " + vision("pixtral"))),
              HasSubstr("text_config.model_type 'odd' is not supported"));
}

TEST(Llava, ItsOwnRepositorysFormIsRefusedByName) {
  EXPECT_THAT(refusal_of(small_config("llava", R"(, "mm_vision_tower": "openai/clip-vit-large-patch14-336")")),
              HasSubstr("mm_vision_tower"));
  EXPECT_THAT(refusal_of(whole("llava", text("llama"))), HasSubstr("vision_config is missing"));
}

// Who is asked whether embedding and head are tied, if both configs say something.
TEST(Llava, TiesAsItsTransformersVersionWould) {
  const auto tied = [](bool inner, bool outer, std::string_view version) {
    const std::string extra = std::string{R"(, "tie_word_embeddings": )"} + (inner ? "true" : "false");
    return read_small(whole("mistral3", text("mistral", extra) + ", " + vision("pixtral"),
                            std::string{R"(, "tie_word_embeddings": )"} + (outer ? "true" : "false") +
                                R"(, "transformers_version": ")" + std::string{version} + "\""))
        .tied_embeddings;
  };
  EXPECT_TRUE(tied(true, false, "4.57.1"));
  EXPECT_FALSE(tied(false, true, "4.57.1"));
  EXPECT_FALSE(tied(true, false, "5.0.0"));
  EXPECT_TRUE(tied(false, true, "5.0.0"));
  EXPECT_TRUE(tied(true, true, "5.0.0"));
}

// SigLIP without its head 374, projector 4·8 + norm 4 = 36: 1120 + 374 + 36 = 1,530.  One token for all four patches.
TEST(Gemma3, CountsByHand) {
  const std::string parts =
      text("gemma3_text", R"(, "head_dim": 2)") + ", " + vision("siglip_vision_model", R"(, "vision_use_head": false)");
  const Architecture model = read_small(whole("gemma3", parts, R"(, "mm_tokens_per_image": 1)"));
  EXPECT_EQ(census(model).total, Count{1530});
  EXPECT_TRUE(model.tied_embeddings);
  EXPECT_EQ(model.vision->merge, 2);
  EXPECT_THAT(refusal_of(whole("gemma3", parts, R"(, "mm_tokens_per_image": 9)")), HasSubstr("mm_tokens_per_image"));
  EXPECT_EQ(total_of(whole("gemma3", parts, R"(, "architectures": ["Gemma3ForCausalLM"])")), Count{1120});
}

// Pixtral 340; norm 4, merging 16·4 = 64, products 4·8 and 8·8: 164.  1160 + 340 + 164 = 1,664.
TEST(Mistral3, CountsByHand) {
  const Architecture model = read_small(whole("mistral3", text("mistral") + ", " + vision("pixtral")));
  EXPECT_EQ(census(model).total, Count{1664});
  EXPECT_FALSE(model.vision->image.has_value());
  EXPECT_EQ(model.vision->merge, 2);
  EXPECT_EQ(total_of(whole("ministral3", text("ministral3", R"(, "head_dim": 2)") + ", " + vision("pixtral"))),
            Count{1664});
}

constexpr std::string_view kLlama4 =
    R"(, "head_dim": 2, "num_local_experts": 3, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2,
         "intermediate_size_mlp": 14, "attention_chunk_size": 4, "no_rope_layers": [1, 0])";

// Layer 0: attention 192, norms 16, feed-forward 24·14 = 336: 544.  Layer 1: 192 + 16 + router 24 + experts 864 +
// shared 288: 1,384.  168 + 544 + 1384 = 2,096; 2,096 − 576 = 1,520 active.
TEST(Llama4, CountsItsTextByHand) {
  const Architecture model = read_small(small_config("llama4_text", kLlama4));
  EXPECT_EQ(census(model).total, Count{2096});
  EXPECT_EQ(census(model).active, Count{1520});
  EXPECT_EQ(model.text().blocks[0].attentions[0].chunk, 4);
  EXPECT_TRUE(model.text().blocks[0].elementwise.rotary);
  EXPECT_FALSE(model.text().blocks[1].attentions[0].chunk.has_value());
  EXPECT_FALSE(model.text().blocks[1].elementwise.rotary);
}

// Class 4, positions 20, patches 192, norms 16; a layer 80 + 16 + 4·16 + 16 + 16·4 + 4 = 244; adapter 16·6 + 6·6 = 132,
// projector 6·8 = 48: 656.
TEST(Llama4, CountsItsVisionByHand) {
  const std::string encoder =
      R"("vision_config": {"hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
                           "image_size": 8, "patch_size": 4, "pixel_shuffle_ratio": 0.5, "projector_input_dim": 6,
                           "projector_output_dim": 6, "vision_output_dim": 6})";
  const Architecture model = read_small(whole("llama4", text("llama4_text", kLlama4) + ", " + encoder));
  EXPECT_EQ(census(model).total, Count{2096 + 656});
  EXPECT_EQ(census(model)[Component::vision], Count{656});
  EXPECT_EQ(model.vision->merge, 2);
  EXPECT_EQ(total_of(whole("llama4", text("llama4_text", kLlama4))), Count{2096});
}

// Patches of two frames 4·96 = 384; a block norms 16, qkv 60, proj 20, feed-forward 4·8 + 8 + 8·4 + 4 = 76: 172; merger
// norm 8, 16·16 + 16 = 272, 16·8 + 8 = 136: 416.  1192 + 384 + 172 + 416 = 2,164, flat or nested.
TEST(Qwen2Vl, CountsByHand) {
  const std::string encoder =
      R"("vision_config": {"depth": 1, "embed_dim": 4, "hidden_size": 8, "mlp_ratio": 2, "num_heads": 2,
                           "patch_size": 4, "in_chans": 3})";
  EXPECT_EQ(total_of(small_config("qwen2_vl", ", " + encoder)), Count{2164});
  const Architecture model = read_small(whole("qwen2_vl", text("qwen2_vl_text") + ", " + encoder));
  EXPECT_EQ(census(model).total, Count{2164});
  EXPECT_EQ(model.vision->temporal_patch, 2);
  EXPECT_EQ(model.stacks[1].outside.back().rows, Rows::patches);
  EXPECT_THAT(refusal_of(small_config("qwen2_vl")), HasSubstr("vision_config is missing"));
}

// A block norms 8, qkv 60, proj 20, feed-forward 3·24 + 16 = 88: 176; merger norm 4 + 272 + 136 = 412.
// 1192 + 384 + 2·176 + 412 = 2,340.  Windows of 16 pixels are 4·4 patches.
TEST(Qwen25Vl, CountsByHandAndSeesThroughWindows) {
  const Architecture model = read_small(small_config(
      "qwen2_5_vl", R"(, "vision_config": {"depth": 2, "hidden_size": 4, "out_hidden_size": 8, "intermediate_size": 6,
                                          "num_heads": 2, "patch_size": 4, "window_size": 16,
                                          "fullatt_block_indexes": [1]})"));
  EXPECT_EQ(census(model).total, Count{2340});
  EXPECT_EQ(model.stacks[1].blocks[0].attentions[0].chunk, 16);
  EXPECT_FALSE(model.stacks[1].blocks[1].attentions[0].chunk.has_value());
}

// Patches with biases 388, positions 36, a block 16 + 60 + 20 + 4·6 + 6 + 6·4 + 4 = 154, merger 8 + 272 + 136 = 416, a
// deeper one with its norm of 16: 32 + 408 = 440: 1,434.
TEST(Qwen3Vl, CountsByHand) {
  const std::string encoder =
      R"("vision_config": {"depth": 1, "hidden_size": 4, "out_hidden_size": 8, "intermediate_size": 6, "num_heads": 2,
                           "patch_size": 4, "num_position_embeddings": 9, "deepstack_visual_indexes": [0]})";
  EXPECT_EQ(total_of(whole("qwen3_vl", text("qwen3_vl_text", R"(, "head_dim": 6)") + ", " + encoder)),
            Count{1952 + 1434});
  const Architecture model = read_small(
      whole("qwen3_vl_moe", text("qwen3_vl_moe_text", R"(, "head_dim": 6, "mlp_only_layers": [0], "num_experts": 3,
                                                     "num_experts_per_tok": 2, "moe_intermediate_size": 5)") +
                                ", " + encoder));
  EXPECT_EQ(census(model).total, Count{2048 + 1434});
  EXPECT_EQ(census(model).active, Count{2048 + 1434 - 120});
  EXPECT_THAT(refusal_of(small_config("qwen3_vl", ", " + encoder)), HasSubstr("text_config is missing"));
}

}  // namespace
}  // namespace flopwatt::model
