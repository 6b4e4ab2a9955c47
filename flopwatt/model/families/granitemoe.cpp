#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::granitemoe {
namespace {

/// GraniteMoeConfig's defaults.
constexpr DecoderDefaults kDefaults{.vocabulary = 32000, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_local_experts", "num_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "intermediate_size",
                                                       .default_experts = 8,
                                                       .default_top_k = 2,
                                                       .default_width = kDefaults.ffn});
  mixture.activation = read_activation(config, "hidden_act", Activation::silu);
  mixture.router = "router.layer";
  // granitemoeshared: one more feed-forward for every token, 0 wide where there is none.
  const std::int64_t shared = config.count("shared_intermediate_size", 0);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    fused_routed_experts(layer, "block_sparse_moe", mixture,
                         {.gate_up = "input_linear.weight", .down = "output_linear.weight"});
    if (shared > 0) {
      fused_gated_mlp(
          layer, "shared_mlp", "input_linear",
          {.width = shared, .activation = mixture.activation, .down = "output_linear", .part = "shared expert"});
    }
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// IBM Granite 3 mixtures of experts.
extern const Family family{.name = "granitemoe",
                           .model_types = {"granitemoe", "granitemoeshared"},
                           .class_stems = {"GraniteMoe", "GraniteMoeShared"},
                           .read = read};

}  // namespace flopwatt::model::families::granitemoe
