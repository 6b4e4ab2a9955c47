#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gemma2 {
namespace {

/// Gemma2Config's defaults: the shape of Gemma-2-2B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 256000, .hidden = 2304, .layers = 26, .heads = 8, .ffn = 9216, .kv_heads = 4, .head_dim = 256};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_activation", Activation::gelu);
  // Every other layer sees a window, beginning with the first.
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", 4096),
                                         [](std::int64_t layer) { return layer % 2 == 0; });

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

/// Gemma 2 (arXiv 2408.00118): norms before and behind each sublayer, alternating windows, capped logits.
extern const Family family{.name = "gemma2", .model_types = {"gemma2"}, .class_stems = {"Gemma2"}, .read = read};

}  // namespace flopwatt::model::families::gemma2
