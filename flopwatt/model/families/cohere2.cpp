#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::cohere2 {
namespace {

/// Cohere2Config's defaults.
constexpr DecoderDefaults kDefaults{.vocabulary = 256000, .hidden = 8192, .layers = 40, .heads = 64, .ffn = 22528};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  const std::int64_t period = config.size({"sliding_window_pattern", "_sliding_window_pattern"}, 4);
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", 4096),
                                         [&](std::int64_t layer) { return (layer + 1) % period != 0; });

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    layer.layer_norm("input_layernorm", sizes.hidden, false);  // the only one: both sublayers start from it
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias,
                    .window = local.window(is_local)});
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().layer_norm("norm", sizes.hidden, false);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// Command R7B and Command A: Command R with three of four layers local.
extern const Family family{.name = "cohere2", .model_types = {"cohere2"}, .class_stems = {"Cohere2"}, .read = read};

}  // namespace flopwatt::model::families::cohere2
