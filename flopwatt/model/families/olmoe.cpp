#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::olmoe {
namespace {

/// OlmoeConfig's defaults.
constexpr DecoderDefaults kDefaults{.vocabulary = 50304, .hidden = 2048, .layers = 16, .heads = 16, .ffn = 2048};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_experts", "num_local_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "intermediate_size",
                                                       .default_experts = 64,
                                                       .default_top_k = 8,
                                                       .default_width = kDefaults.ffn});
  mixture.activation = read_activation(config, "hidden_act", Activation::silu);

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
    // Over the whole width, not within a head.
    query_key_norm(layer, "self_attn", sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    routed_experts(layer, "mlp", mixture);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// OLMoE (arXiv 2409.02060).
extern const Family family{.name = "olmoe", .model_types = {"olmoe"}, .class_stems = {"Olmoe"}, .read = read};

}  // namespace flopwatt::model::families::olmoe
