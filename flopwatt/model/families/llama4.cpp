#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/multimodal.hpp"
#include "flopwatt/model/vision_tower.hpp"

namespace flopwatt::model::families::llama4 {
namespace {

/// Llama4TextConfig's defaults: the shape of Scout.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 202048, .hidden = 5120, .layers = 48, .heads = 40, .ffn = 8192, .kv_heads = 8, .head_dim = 128};
constexpr std::int64_t kDenseWidth = 16384;

/// Llama4VisionConfig's defaults.
constexpr VisionShape kVision{.hidden = 768, .layers = 34, .heads = 16, .ffn = 5632, .patch = 14, .image = 448};
constexpr std::int64_t kVisionOutput = 7680;
constexpr std::int64_t kProjectorWidth = 4096;

/// `moe_layers`, or the last of every `interleave_moe_layer_step` layers.
std::vector<bool> layers_with_experts(const ConfigReader& config, std::int64_t layers) {
  std::vector<bool> sparse(static_cast<std::size_t>(layers), false);
  if (config.has("moe_layers")) {
    for (const std::int64_t i : config.counts("moe_layers")) {
      config.require(i < layers, "moe_layers", "names a layer that the model does not have");
      if (i < layers) sparse[static_cast<std::size_t>(i)] = true;
    }
    return sparse;
  }
  const std::int64_t step = config.size("interleave_moe_layer_step", 1);
  for (std::int64_t i = 0; i < layers; ++i) sparse[static_cast<std::size_t>(i)] = (i + 1) % step == 0;
  return sparse;
}

/// Layers whose queries and keys are rotated: all but every fourth.
std::vector<bool> rotated_layers(const ConfigReader& config, std::int64_t layers) {
  std::vector<bool> rotated(static_cast<std::size_t>(layers), true);
  const std::vector<std::int64_t> given = config.counts("no_rope_layers");  // 1 says that there is a rotation
  const std::int64_t interval = config.size("no_rope_layer_interval", 4);
  if (!given.empty() && given.size() < rotated.size()) {
    config.fail("no_rope_layers", fmt::format("has {} entries for {} layers", given.size(), layers));
    return rotated;
  }
  for (std::size_t i = 0; i < rotated.size(); ++i) {
    rotated[i] = given.empty() ? (static_cast<std::int64_t>(i) + 1) % interval != 0 : given[i] != 0;
  }
  return rotated;
}

void read_text(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  const std::int64_t dense_width = config.shape("intermediate_size_mlp", kDenseWidth);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_local_experts", "num_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "intermediate_size",
                                                       .default_experts = 16,
                                                       .default_top_k = 1,
                                                       .default_width = kDefaults.ffn});
  mixture.activation = activation;
  mixture.router = "router";
  const std::vector<bool> sparse = layers_with_experts(config, sizes.layers);
  const std::vector<bool> rotated = rotated_layers(config, sizes.layers);
  const LocalLayers local =
      local_layers(config, sizes.layers, window_size(config, "attention_chunk_size", 8192),
                   [&](std::int64_t layer) { return bool{rotated[static_cast<std::size_t>(layer)]}; });

  using Kind = std::tuple<bool, bool, bool>;
  const auto kind_of = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return Kind{sparse[at], local(i), rotated[at]};
  };
  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", kind_of, [&](Layer& layer, const Kind& kind) {
    const auto [has_experts, is_local, is_rotated] = kind;
    layer.rms_norm("input_layernorm", sizes.hidden);
    // The norm of queries and keys that use_qk_norm asks for has no weights.
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias,
                    .rotary = is_rotated,
                    .chunk = local.window(is_local)});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    if (!has_experts) return gated_mlp(layer, "feed_forward", {.width = dense_width, .activation = activation});
    fused_routed_experts(layer, "feed_forward", mixture, {.layout = Layout::in_out});
    shared_expert(layer, "feed_forward.shared_expert", mixture.width, activation);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

void read_vision(const Draft& draft) {
  const ConfigReader config = vision_part(draft);
  const VisionShape shape = read_vision_shape(config, kVision);
  const double ratio = config.number("pixel_shuffle_ratio", 0.5);
  const auto merge = static_cast<std::int64_t>(std::lround(ratio > 0.01 && ratio <= 1 ? 1 / ratio : 0));
  config.require(merge > 0 && std::abs(ratio * static_cast<double>(merge) - 1) < 1e-9, "pixel_shuffle_ratio",
                 "is not one over a whole number");
  const std::int64_t projector_in = config.size("projector_input_dim", kProjectorWidth);
  const std::int64_t projector_out = config.size("projector_output_dim", kProjectorWidth);
  const std::int64_t output = config.shape("vision_output_dim", kVisionOutput);
  if (config.failed()) return;
  draft.model.vision = VisionInput{.patch = shape.patch, .image = shape.image, .merge = merge, .extra_tokens = 1};

  StackBuilder stack{StackRole::vision, shape.hidden, "vision_model."};
  Module outside = stack.outside();
  outside.tensor("class_embedding", "embedding", {shape.hidden}, Component::vision, Use::scale);
  outside.tensor("positional_embedding_vlm", "embedding", {shape.patches() + 1, shape.hidden}, Component::vision,
                 Use::lookup);
  // The patches stand flat in the checkpoint.
  outside.linear({.name = "patch_embedding.linear",
                  .label = "vision.patch",
                  .component = Component::vision,
                  .in = shape.channels * shape.patch * shape.patch,
                  .out = shape.hidden,
                  .rows = Rows::patches});
  outside.layer_norm("layernorm_pre", shape.hidden);
  stack.layers(shape.layers, "model.layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", shape.hidden);
    self_attention(layer, "self_attn",
                   {.heads = shape.heads,
                    .kv_heads = shape.heads,
                    .head_dim = shape.head_dim(),
                    .qkv_bias = true,
                    .out_bias = true,
                    .causal = false});
    layer.layer_norm("post_attention_layernorm", shape.hidden);
    plain_mlp(layer, "mlp", {.width = shape.ffn, .up = "fc1", .down = "fc2"});
  });
  outside.layer_norm("layernorm_post", shape.hidden);
  // merge² patches side by side, which is as wide as the feed-forward.
  outside.linear(projector("vision_adapter.mlp.fc1", shape.ffn, projector_in, false, merge * merge));
  outside.linear(projector("vision_adapter.mlp.fc2", projector_out, projector_out, false, merge * merge));
  stack.outside("multi_modal_projector.")
      .linear(projector("linear_1", output, draft.model.text().hidden, false, merge * merge));
  finish_vision(std::move(stack), draft.model);
}

void read(Draft& draft) {
  if (!has_text_config(draft)) return read_text(draft);
  Draft text = text_part(draft, {.body = "language_model.model.", .head = "language_model."});
  read_text(text);
  if (text_alone(draft) || draft.config.failed()) return;
  if (draft.config.has("vision_config")) return read_vision(draft);
  draft.config.note("no vision_config: the language model alone is counted");
}

}  // namespace

/// Llama 4: chunked attention in three of four layers, experts with a shared one, and a vision encoder.
extern const Family family{
    .name = "llama4", .model_types = {"llama4", "llama4_text"}, .class_stems = {"Llama4"}, .read = read};

}  // namespace flopwatt::model::families::llama4
