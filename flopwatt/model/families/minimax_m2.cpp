#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::minimax_m2 {
namespace {

/// MiniMaxM2Config's defaults: the shape of MiniMax-M2.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 200064, .hidden = 3072, .layers = 62, .heads = 48, .ffn = 1536, .kv_heads = 8, .head_dim = 128};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_local_experts", "num_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "intermediate_size",
                                                       .default_experts = 256,
                                                       .default_top_k = 8,
                                                       .default_width = kDefaults.ffn});
  mixture.activation = read_activation(config, "hidden_act", Activation::silu);
  mixture.gate = "w1";
  mixture.up = "w3";
  mixture.down = "w2";
  if (config.flag("use_routing_bias", true)) mixture.selection_bias = "e_score_correction_bias";
  config.require(config.count("shared_intermediate_size", 0) == 0, "shared_intermediate_size",
                 "asks for a shared expert, which is not supported");

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn", {.heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_dim = sizes.head_dim});
    // Over the whole width, not within a head.
    if (config.flag("use_qk_norm", true)) {
      query_key_norm(layer, "self_attn", sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim);
    }
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    routed_experts(layer, "block_sparse_moe", mixture);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// MiniMax-M2: 256 experts behind full attention.
extern const Family family{
    .name = "minimax_m2", .model_types = {"minimax_m2"}, .class_stems = {"MiniMaxM2"}, .read = read};

}  // namespace flopwatt::model::families::minimax_m2
