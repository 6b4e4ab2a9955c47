#include <utility>

#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/recurrent_mixers.hpp"

namespace flopwatt::model::families::jamba {
namespace {

/// JambaConfig's defaults: the shape of Jamba-v0.1.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 65536, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 14336, .kv_heads = 8};

std::int64_t step_rank(const ConfigReader& config, std::int64_t hidden) {
  if (config.is_text("mamba_dt_rank")) {
    config.require(config.text("mamba_dt_rank", "auto") == "auto", "mamba_dt_rank", "is a text other than 'auto'");
    return (hidden + 15) / 16;
  }
  return config.size("mamba_dt_rank", (hidden + 15) / 16);
}

/// Every `period`-th layer, beginning with `offset`.
struct Rhythm {
  std::int64_t period = 1, offset = 0;
  [[nodiscard]] bool operator()(std::int64_t layer) const { return layer % period == offset; }
};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  const Mamba1 mixer{.inner = config.size("mamba_expand", 2) * sizes.hidden,
                     .state = config.size("mamba_d_state", 16),
                     .step_rank = step_rank(config, sizes.hidden),
                     .kernel = config.size("mamba_d_conv", 4),
                     .conv_bias = config.flag("mamba_conv_bias", true),
                     .bias = config.flag("mamba_proj_bias", false),
                     .inner_norms = true};
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_experts", "num_local_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "intermediate_size",
                                                       .default_experts = 16,
                                                       .default_top_k = 2,
                                                       .default_width = kDefaults.ffn});
  mixture.activation = activation;
  mixture.router = "router";
  const Rhythm attends{config.size("attn_layer_period", 8), config.count("attn_layer_offset", 4)};
  const Rhythm mixes{config.size("expert_layer_period", 2), config.count("expert_layer_offset", 1)};
  config.require(attends.offset < attends.period, "attn_layer_offset", "is not below attn_layer_period");
  config.require(mixes.offset < mixes.period, "expert_layer_offset", "is not below expert_layer_period");

  const auto kind_of = [&](std::int64_t i) { return std::pair{attends(i), mixes(i) && mixture.experts > 1}; };
  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", kind_of, [&](Layer& layer, std::pair<bool, bool> kind) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    if (kind.first) {
      self_attention(layer, "self_attn",
                     {.heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_dim = sizes.head_dim, .rotary = false});
    } else {
      mamba1_mixer(layer, "mamba", mixer);
    }
    layer.rms_norm("pre_ff_layernorm", sizes.hidden);
    if (!kind.second) return gated_mlp(layer, "feed_forward", {.width = sizes.ffn, .activation = activation});
    routed_experts(layer, "feed_forward", mixture);
  });
  text.outside().rms_norm("final_layernorm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Jamba (arXiv 2403.19887): Mamba layers, attention in every eighth, experts in every other, no positions.
extern const Family family{.name = "jamba", .model_types = {"jamba"}, .class_stems = {"Jamba"}, .read = read};

}  // namespace flopwatt::model::families::jamba
