#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::phimoe {
namespace {

/// PhimoeConfig's defaults: the shape of Phi-3.5-MoE.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 32064, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 6400, .kv_heads = 8};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_local_experts", "num_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "intermediate_size",
                                                       .default_experts = 16,
                                                       .default_top_k = 2,
                                                       .default_width = kDefaults.ffn});
  mixture.activation = read_activation(config, "hidden_act", Activation::silu);
  mixture.gate = "w1";
  mixture.up = "w3";
  mixture.down = "w2";
  const std::optional<std::int64_t> window = window_size(config, "sliding_window", std::nullopt);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias,
                    .window = window});
    layer.layer_norm("post_attention_layernorm", sizes.hidden);
    routed_experts(layer, "block_sparse_moe", mixture);
  });
  text.outside().layer_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false), .bias = config.flag("lm_head_bias", false)});
  text.finish(draft.model);
}

}  // namespace

/// Phi-3.5-MoE (arXiv 2404.14219): norms with biases, and often biases of attention and head.
extern const Family family{
    .name = "phimoe", .model_types = {"phimoe"}, .class_stems = {"PhiMoE", "Phimoe"}, .read = read};

}  // namespace flopwatt::model::families::phimoe
