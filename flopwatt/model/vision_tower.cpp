#include "flopwatt/model/vision_tower.hpp"

#include <fmt/format.h>

#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model {
namespace {

/// CLIPVisionConfig's defaults (openai/clip-vit-base-patch32).
constexpr VisionShape kClip{.hidden = 768,
                            .layers = 12,
                            .heads = 12,
                            .ffn = 3072,
                            .patch = 32,
                            .image = 224,
                            .activation = Activation::quick_gelu};
/// SiglipVisionConfig's (google/siglip-base-patch16-224).
constexpr VisionShape kSiglip{.hidden = 768, .layers = 12, .heads = 12, .ffn = 3072, .patch = 16, .image = 224};
/// PixtralVisionConfig's.
constexpr VisionShape kPixtral{.hidden = 1024, .layers = 24, .heads = 16, .ffn = 4096, .patch = 16, .image = 1024};

/// The layers that CLIP and SigLIP share.
void biased_layers(StackBuilder& stack, const VisionShape& shape) {
  stack.layers(shape.layers, "encoder.layers", [&](Layer& layer) {
    layer.layer_norm("layer_norm1", shape.hidden);
    self_attention(layer, "self_attn",
                   {.heads = shape.heads,
                    .kv_heads = shape.heads,
                    .head_dim = shape.head_dim(),
                    .qkv_bias = true,
                    .out_bias = true,
                    .causal = false,
                    .rotary = false,
                    .out = "out_proj"});
    layer.layer_norm("layer_norm2", shape.hidden);
    plain_mlp(layer, "mlp", {.width = shape.ffn, .activation = shape.activation, .up = "fc1", .down = "fc2"});
  });
}

VisionTower clip(const ConfigReader& config, const std::string& prefix) {
  const VisionShape shape = read_vision_shape(config, kClip);
  StackBuilder stack{StackRole::vision, shape.hidden, prefix + "vision_model."};
  Module embeddings = stack.outside() / "embeddings";
  embeddings.tensor("class_embedding", "embedding", {shape.hidden}, Component::vision, Use::scale);
  patch_embedding(embeddings, shape.hidden,
                  {.name = "patch_embedding", .channels = shape.channels, .patch = shape.patch});
  embeddings.lookup("position_embedding", "embedding", shape.patches() + 1, shape.hidden);
  stack.outside().layer_norm("pre_layrnorm", shape.hidden);
  biased_layers(stack, shape);
  stack.outside().layer_norm("post_layernorm", shape.hidden);
  return {std::move(stack), shape, 1};
}

/// One query that attends to all patches, and a feed-forward behind it.
void pooling_head(Module head, const VisionShape& shape) {
  const std::int64_t h = shape.hidden;
  const auto product = [&](std::string_view name, std::string_view label, std::int64_t in, std::int64_t out,
                           Rows rows) {
    Tensor& tensor = head.tensor(name, label, {out, in}, Component::vision, Use::product);
    tensor.k = in;
    tensor.n = out;
    tensor.rows = rows;
  };
  const auto bias = [&](std::string_view name, std::int64_t width) {
    head.tensor(name, "vision.pool", {width}, Component::vision, Use::bias);
  };
  head.tensor("probe", "vision.pool", {1, 1, h}, Component::vision, Use::scale);
  product("attention.in_proj_weight", "vision.pool_qkv", h, 3 * h, Rows::patches);
  bias("attention.in_proj_bias", 3 * h);
  product("attention.out_proj.weight", "vision.pool_out", h, h, Rows::sequences);
  bias("attention.out_proj.bias", h);
  head.layer_norm("layernorm", h, true, Rows::sequences);
  product("mlp.fc1.weight", "vision.pool_up", h, shape.ffn, Rows::sequences);
  bias("mlp.fc1.bias", shape.ffn);
  product("mlp.fc2.weight", "vision.pool_down", shape.ffn, h, Rows::sequences);
  bias("mlp.fc2.bias", h);
}

VisionTower siglip(const ConfigReader& config, const std::string& prefix) {
  const VisionShape shape = read_vision_shape(config, kSiglip);
  StackBuilder stack{StackRole::vision, shape.hidden, prefix + "vision_model."};
  Module embeddings = stack.outside() / "embeddings";
  patch_embedding(embeddings, shape.hidden,
                  {.name = "patch_embedding", .channels = shape.channels, .patch = shape.patch, .bias = true});
  embeddings.lookup("position_embedding", "embedding", shape.patches(), shape.hidden);
  biased_layers(stack, shape);
  stack.outside().layer_norm("post_layernorm", shape.hidden);
  if (config.flag("vision_use_head", true)) pooling_head(stack.outside() / "head", shape);
  return {std::move(stack), shape};
}

VisionTower pixtral(const ConfigReader& config, const std::string& prefix) {
  const VisionShape shape = read_vision_shape(config, kPixtral);
  StackBuilder stack{StackRole::vision, shape.hidden, prefix};
  patch_embedding(stack.outside(), shape.hidden,
                  {.name = "patch_conv", .channels = shape.channels, .patch = shape.patch});
  stack.outside().rms_norm("ln_pre", shape.hidden);
  stack.layers(shape.layers, "transformer.layers", [&](Layer& layer) {
    layer.rms_norm("attention_norm", shape.hidden);
    self_attention(layer, "attention",
                   {.heads = shape.heads, .kv_heads = shape.heads, .head_dim = shape.head_dim(), .causal = false});
    layer.rms_norm("ffn_norm", shape.hidden);
    gated_mlp(layer, "feed_forward", {.width = shape.ffn, .activation = shape.activation});
  });
  return {std::move(stack), shape, 0, true};
}

}  // namespace

VisionShape read_vision_shape(const ConfigReader& config, const VisionShape& defaults) {
  VisionShape shape{.hidden = config.shape("hidden_size", defaults.hidden),
                    .layers = config.layers("num_hidden_layers", defaults.layers),
                    .heads = config.shape("num_attention_heads", defaults.heads),
                    .ffn = config.shape("intermediate_size", defaults.ffn),
                    .channels = config.size("num_channels", defaults.channels),
                    .patch = config.shape("patch_size", defaults.patch),
                    .image = config.shape("image_size", defaults.image),
                    .activation = read_activation(config, "hidden_act", defaults.activation)};
  (void)divide_heads(config, "num_attention_heads", shape.hidden, shape.heads);
  config.require(shape.patch <= kMaxPatch && shape.channels <= kMaxPatch, "patch_size", "is too large");
  config.require(shape.patch <= shape.image, "patch_size", "is larger than the image");
  return shape;
}

void patch_embedding(Module module, std::int64_t hidden, const PatchEmbedding& patches) {
  const std::int64_t c = patches.channels;
  const std::int64_t p = patches.patch;
  const std::string weight = std::string{patches.name} + ".weight";
  Tensor& product =
      patches.temporal
          ? module.tensor(weight, "vision.patch", {hidden, c, *patches.temporal, p, p}, Component::vision, Use::product)
          : module.tensor(weight, "vision.patch", {hidden, c, p, p}, Component::vision, Use::product);
  product.k = c * patches.temporal.value_or(1) * p * p;
  product.n = hidden;
  product.rows = Rows::patches;
  if (!patches.bias) return;
  module.tensor(std::string{patches.name} + ".bias", "vision.patch", {hidden}, Component::vision, Use::bias).rows =
      Rows::patches;
}

VisionTower read_vision_tower(const ConfigReader& config, std::string_view class_default, const std::string& prefix) {
  const std::string type = config.text("model_type", class_default);
  if (type == "clip_vision_model") return clip(config, prefix);
  if (type == "siglip_vision_model") return siglip(config, prefix);
  if (type != "pixtral") config.fail("model_type", fmt::format("'{}' is not supported", base::excerpt(type)));
  return pixtral(config, prefix);
}

Linear projector(std::string_view name, std::int64_t in, std::int64_t out, bool bias, std::int64_t patches_a_row) {
  return {.name = name,
          .label = "vision.projector",
          .component = Component::vision,
          .in = in,
          .out = out,
          .bias = bias,
          .rows = Rows::patches,
          .rows_divisor = patches_a_row};
}

}  // namespace flopwatt::model
