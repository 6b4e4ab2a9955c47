#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gemma3_text {
namespace {

/// Gemma3TextConfig's defaults.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 262208, .hidden = 2304, .layers = 26, .heads = 8, .ffn = 9216, .kv_heads = 4, .head_dim = 256};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_activation", Activation::gelu);
  // Five layers with a window, then one without.
  const std::int64_t period = config.size({"sliding_window_pattern", "_sliding_window_pattern"}, 6);
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", 4096),
                                         [&](std::int64_t layer) { return (layer + 1) % period != 0; });

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias,
                    .window = local.window(is_local)});
    query_key_norm(layer, "self_attn", sizes.head_dim, sizes.head_dim);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    layer.rms_norm("pre_feedforward_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
    layer.rms_norm("post_feedforward_layernorm", sizes.hidden);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// The language model of Gemma 3 (arXiv 2503.19786): Gemma 2 with query and key norms, five of six layers local.
extern const Family family{.name = "gemma3_text", .model_types = {"gemma3_text"}, .class_stems = {}, .read = read};

}  // namespace flopwatt::model::families::gemma3_text
