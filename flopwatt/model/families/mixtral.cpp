#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::mixtral {
namespace {

/// MixtralConfig's defaults: the shape of Mixtral-8x7B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 32000, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 14336, .kv_heads = 8};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  RoutedExperts mixture = read_routed_experts(config, {.experts = {"num_local_experts", "num_experts"},
                                                       .top_k = "num_experts_per_tok",
                                                       .width = "intermediate_size",
                                                       .default_experts = 8,
                                                       .default_top_k = 2,
                                                       .default_width = kDefaults.ffn});
  mixture.activation = read_activation(config, "hidden_act", Activation::silu);
  mixture.gate = "w1";
  mixture.up = "w3";
  mixture.down = "w2";
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", std::nullopt),
                                         [](std::int64_t) { return true; });

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .window = local.window(is_local)});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    routed_experts(layer, "block_sparse_moe", mixture);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Mixtral (arXiv 2401.04088): Mistral's layers with experts in the place of the feed-forward.
extern const Family family{.name = "mixtral", .model_types = {"mixtral"}, .class_stems = {"Mixtral"}, .read = read};

}  // namespace flopwatt::model::families::mixtral
