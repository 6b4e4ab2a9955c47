#include "flopwatt/model/delta_decoder.hpp"

#include <fmt/format.h>

#include <utility>

#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/prediction_module.hpp"

namespace flopwatt::model {
namespace {

GatedDelta read_mixer(const ConfigReader& config, const GatedDelta& defaults) {
  GatedDelta mixer{.key_heads = config.shape("linear_num_key_heads", defaults.key_heads),
                   .value_heads = config.shape("linear_num_value_heads", defaults.value_heads),
                   .key_dim = config.shape("linear_key_head_dim", defaults.key_dim),
                   .value_dim = config.shape("linear_value_head_dim", defaults.value_dim),
                   .kernel = config.size("linear_conv_kernel_dim", defaults.kernel),
                   .fused = defaults.fused};
  if (mixer.value_heads % mixer.key_heads != 0) {
    config.fail("linear_num_value_heads",
                fmt::format("is {}, no multiple of the {} key heads", mixer.value_heads, mixer.key_heads));
  }
  return mixer;
}

/// `layer_types`, or attention in every `full_attention_interval`-th layer.
std::vector<bool> attending_layers(const ConfigReader& config, std::int64_t layers) {
  std::vector<bool> attends(static_cast<std::size_t>(layers), false);
  const std::vector<std::string> types = config.texts("layer_types");
  if (types.empty()) {
    const std::int64_t interval = config.size("full_attention_interval", 4);
    for (std::int64_t i = 0; i < layers; ++i) attends[static_cast<std::size_t>(i)] = (i + 1) % interval == 0;
    return attends;
  }
  if (types.size() != attends.size()) {
    config.fail("layer_types", fmt::format("has {} entries for {} layers", types.size(), layers));
    return attends;
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    attends[i] = types[i] == "full_attention";
    config.require(attends[i] || types[i] == "linear_attention", "layer_types",
                   "names a layer that this family does not have");
  }
  return attends;
}

RoutedExperts read_mixture(const ConfigReader& config, const DeltaDecoder::Experts& defaults) {
  return read_routed_experts(config, {.experts = {"num_experts", "num_local_experts"},
                                      .top_k = "num_experts_per_tok",
                                      .width = "moe_intermediate_size",
                                      .default_experts = defaults.experts,
                                      .default_top_k = defaults.top_k,
                                      .default_width = defaults.width});
}

/// Queries come with a gate of their own width, which scales what attention returns.
void gated_attention(Layer& layer, const DecoderSizes& sizes, bool bias) {
  const SelfAttention attention{
      .heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_dim = sizes.head_dim, .qkv_bias = bias, .out_bias = bias};
  Module module = layer / "self_attn";
  const auto project = [&](std::string_view name, std::string_view label, std::int64_t in, std::int64_t out) {
    module.linear(
        {.name = name, .label = label, .component = Component::attention, .in = in, .out = out, .bias = bias});
  };
  project("q_proj", "attention.q", layer.hidden(), 2 * attention.query_width());
  project("k_proj", "attention.k", layer.hidden(), attention.kv_width());
  project("v_proj", "attention.v", layer.hidden(), attention.kv_width());
  query_key_norm(layer, "self_attn", sizes.head_dim, sizes.head_dim);
  attend(layer, attention);
  project("o_proj", "attention.out", attention.query_width(), layer.hidden());
}

}  // namespace

void read_delta_decoder(Draft& draft, const DeltaDecoder& defaults) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, defaults.sizes);
  const bool attention_bias = config.flag("attention_bias", false);
  config.require(config.flag("attn_output_gate", true), "attn_output_gate", "is false: not supported");
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  const GatedDelta mixer = read_mixer(config, defaults.mixer);
  const std::vector<bool> attends = attending_layers(config, sizes.layers);
  RoutedExperts mixture;
  std::int64_t shared_width = 0;
  std::vector<bool> sparse(static_cast<std::size_t>(sizes.layers), false);
  if (defaults.experts) {
    mixture = read_mixture(config, *defaults.experts);
    mixture.activation = activation;
    shared_width = config.shape("shared_expert_intermediate_size", defaults.experts->shared_width);
    sparse = experts_in_sparse_steps(config, sizes.layers);
    for (const bool has_experts : sparse) {
      config.require(has_experts || sizes.ffn > 0, "mlp_only_layers", "names layers that this family does not have");
    }
  }

  const auto kind_of = [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    return std::pair{bool{attends[at]}, bool{sparse[at]}};
  };
  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", kind_of, [&](Layer& layer, std::pair<bool, bool> kind) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    kind.first ? gated_attention(layer, sizes, attention_bias) : gated_delta_mixer(layer, "linear_attn", mixer);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    if (!kind.second) return gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
    defaults.experts->fused ? fused_routed_experts(layer, "mlp", mixture, {}) : routed_experts(layer, "mlp", mixture);
    gated_shared_expert(layer, "mlp.shared_expert", shared_width, activation);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);

  const auto& layers = draft.model.text().layers;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!attends[i]) continue;
    return exclude_prediction_module(draft.model, layers[i],
                                     config.count("mtp_num_hidden_layers", defaults.prediction_layers));
  }
}

}  // namespace flopwatt::model
