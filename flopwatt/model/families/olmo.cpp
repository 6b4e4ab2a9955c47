#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::olmo {
namespace {

/// OlmoConfig's defaults: the shape of OLMo-7B.
constexpr DecoderDefaults kDefaults{.vocabulary = 50304, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    // The layer norms have no weights, here and at the end.
    layer.block().elementwise.norm = Norm::layer_norm;
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias});
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// OLMo 1 (arXiv 2402.00838).
extern const Family family{.name = "olmo", .model_types = {"olmo"}, .class_stems = {"Olmo"}, .read = read};

}  // namespace flopwatt::model::families::olmo
