#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::olmo3 {
namespace {

/// Olmo3Config's defaults.
constexpr DecoderDefaults kDefaults{.vocabulary = 50304, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", 4096),
                                         [](std::int64_t layer) { return layer % 4 != 3; });

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias,
                    .window = local.window(is_local)});
    // Over all heads at once.
    query_key_norm(layer, "self_attn", sizes.heads * sizes.head_dim, sizes.kv_heads * sizes.head_dim);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
    layer.rms_norm("post_feedforward_layernorm", sizes.hidden);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// OLMo 3: OLMo 2 with three of four layers local.
extern const Family family{.name = "olmo3", .model_types = {"olmo3"}, .class_stems = {"Olmo3"}, .read = read};

}  // namespace flopwatt::model::families::olmo3
