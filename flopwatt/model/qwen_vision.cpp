#include "flopwatt/model/qwen_vision.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/vision_tower.hpp"

namespace flopwatt::model {
namespace {

struct QwenVisionShape {
  std::int64_t hidden = 1, layers = 1, heads = 1, ffn = 1;
  std::int64_t out = 1;  ///< width of the tokens that the language model gets
  std::int64_t channels = 3, patch = 1, temporal = 1, merge = 1;

  [[nodiscard]] SelfAttention attention() const {
    return {.heads = heads,
            .kv_heads = heads,
            .head_dim = hidden / heads,
            .qkv_bias = true,
            .out_bias = true,
            .causal = false,
            .out = "proj"};
  }
  /// Width of the patches that make one token, side by side.
  [[nodiscard]] std::int64_t joined() const { return hidden * merge * merge; }
};

/// What the three have in common; `hidden` and `ffn` differ in their keys.
QwenVisionShape read_qwen_vision_shape(const ConfigReader& config, std::int64_t hidden,
                                       const QwenVisionShape& defaults) {
  QwenVisionShape shape{.hidden = hidden,
                        .layers = config.layers({"depth", "num_hidden_layers"}, defaults.layers),
                        .heads = config.shape({"num_heads", "num_attention_heads"}, defaults.heads),
                        // The classes read `in_channels` alone; the older files say `in_chans`.
                        .channels = config.size({"in_channels", "in_chans"}, 3),
                        .patch = config.size("patch_size", defaults.patch),
                        .temporal = config.size("temporal_patch_size", 2),
                        .merge = config.size("spatial_merge_size", 2)};
  (void)divide_heads(config, "num_heads", shape.hidden, shape.heads);
  config.require(shape.patch <= kMaxPatch && shape.channels <= 64 && shape.temporal <= 64, "patch_size",
                 "is too large");
  if (shape.merge > 64) {
    config.fail("spatial_merge_size", "is too large");
    shape.merge = 1;
  }
  return shape;
}

StackBuilder open_stack(const Draft& draft, const QwenVisionShape& shape, const std::string& prefix, bool patch_bias) {
  draft.model.vision = VisionInput{.patch = shape.patch, .merge = shape.merge, .temporal_patch = shape.temporal};
  StackBuilder stack{StackRole::vision, shape.hidden, prefix};
  patch_embedding(stack.outside() / "patch_embed", shape.hidden,
                  {.name = "proj",
                   .channels = shape.channels,
                   .patch = shape.patch,
                   .temporal = shape.temporal,
                   .bias = patch_bias});
  return stack;
}

void merger_products(Module merger, const QwenVisionShape& shape, std::string_view first, std::string_view second) {
  const std::int64_t patches_a_row = shape.merge * shape.merge;
  merger.linear(projector(first, shape.joined(), shape.joined(), true, patches_a_row));
  merger.linear(projector(second, shape.joined(), shape.out, true, patches_a_row));
}

}  // namespace

void qwen2_vision(const Draft& draft, const std::string& prefix) {
  const ConfigReader config = vision_part(draft);
  QwenVisionShape shape =
      read_qwen_vision_shape(config, config.shape("embed_dim", 1280), {.layers = 32, .heads = 16, .patch = 14});
  shape.out = config.shape("hidden_size", 3584);
  const double ratio = config.number("mlp_ratio", 4);
  config.require(ratio > 0 && ratio <= 1024, "mlp_ratio", "is not a number from 0 to 1024");
  if (ratio > 0 && ratio <= 1024) shape.ffn = static_cast<std::int64_t>(static_cast<double>(shape.hidden) * ratio);
  const Activation activation = read_activation(config, "hidden_act", Activation::quick_gelu);

  StackBuilder stack = open_stack(draft, shape, prefix, false);
  stack.layers(shape.layers, "blocks", [&](Layer& layer) {
    layer.layer_norm("norm1", shape.hidden);
    fused_self_attention(layer, "attn", "qkv", shape.attention());
    layer.layer_norm("norm2", shape.hidden);
    plain_mlp(layer, "mlp", {.width = shape.ffn, .activation = activation, .up = "fc1", .down = "fc2"});
  });
  Module merger = stack.outside() / "merger";
  merger.layer_norm("ln_q", shape.hidden);
  merger_products(merger, shape, "mlp.0", "mlp.2");
  finish_vision(std::move(stack), draft.model);
}

void qwen2_5_vision(const Draft& draft, const std::string& prefix) {
  const ConfigReader config = vision_part(draft);
  QwenVisionShape shape =
      read_qwen_vision_shape(config, config.shape("hidden_size", 3584), {.layers = 32, .heads = 16, .patch = 14});
  shape.out = config.shape("out_hidden_size", 3584);
  shape.ffn = config.shape("intermediate_size", 3420);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  // Windows of so many pixels, in whole tokens.
  const std::int64_t window_side = config.size("window_size", 112) / shape.patch / shape.merge * shape.merge;
  config.require(window_side > 0, "window_size", "is smaller than one token");
  std::vector<std::int64_t> whole = config.counts("fullatt_block_indexes");
  if (whole.empty() && !config.has("fullatt_block_indexes")) whole = {7, 15, 23, 31};
  const auto sees_all = [&](std::int64_t layer) { return std::find(whole.begin(), whole.end(), layer) != whole.end(); };

  StackBuilder stack = open_stack(draft, shape, prefix, false);
  stack.layers(shape.layers, "blocks", sees_all, [&](Layer& layer, bool all) {
    SelfAttention attention = shape.attention();
    if (!all) attention.chunk = window_side * window_side;
    layer.rms_norm("norm1", shape.hidden);
    fused_self_attention(layer, "attn", "qkv", attention);
    layer.rms_norm("norm2", shape.hidden);
    gated_mlp(layer, "mlp", {.width = shape.ffn, .activation = activation, .bias = true});
  });
  Module merger = stack.outside() / "merger";
  merger.rms_norm("ln_q", shape.hidden);
  merger_products(merger, shape, "mlp.0", "mlp.2");
  finish_vision(std::move(stack), draft.model);
}

void qwen3_vision(const Draft& draft, const std::string& prefix, const Qwen3Vision& form) {
  const ConfigReader config = vision_part(draft);
  QwenVisionShape shape =
      read_qwen_vision_shape(config, config.shape("hidden_size", 1152), {.layers = 27, .heads = 16, .patch = 16});
  shape.out = config.shape("out_hidden_size", 3584);
  shape.ffn = config.shape("intermediate_size", 4304);
  const std::int64_t positions = config.shape("num_position_embeddings", 2304);
  const Activation activation = read_activation(config, "hidden_act", Activation::gelu);
  std::vector<std::int64_t> deep;
  if (form.deepstack) {
    deep = config.counts("deepstack_visual_indexes");
    if (deep.empty() && !config.has("deepstack_visual_indexes")) deep = {8, 16, 24};
    if (deep.size() > static_cast<std::size_t>(shape.layers)) {
      config.fail("deepstack_visual_indexes", "names more layers than there are");
      deep.clear();
    }
  }

  StackBuilder stack = open_stack(draft, shape, prefix, true);
  stack.outside().lookup("pos_embed", "embedding", positions, shape.hidden);
  stack.layers(shape.layers, "blocks", [&](Layer& layer) {
    layer.layer_norm("norm1", shape.hidden);
    fused_self_attention(layer, "attn", "qkv", shape.attention());
    layer.layer_norm("norm2", shape.hidden);
    plain_mlp(layer, "mlp", {.width = shape.ffn, .activation = activation, .up = "linear_fc1", .down = "linear_fc2"});
  });
  Module merger = stack.outside() / "merger";
  merger.layer_norm("norm", shape.hidden);
  merger_products(merger, shape, "linear_fc1", "linear_fc2");
  for (std::size_t i = 0; i < deep.size(); ++i) {
    Module deeper = stack.outside() / fmt::format("deepstack_merger_list.{}", i);
    deeper.layer_norm("norm", shape.joined(), true, Rows::patches, shape.merge * shape.merge);
    merger_products(deeper, shape, "linear_fc1", "linear_fc2");
  }
  finish_vision(std::move(stack), draft.model);
}

}  // namespace flopwatt::model
