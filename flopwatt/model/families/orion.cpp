#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::orion {
namespace {

/// OrionConfig's defaults: the shape of Orion-14B.
constexpr DecoderDefaults kDefaults{.vocabulary = 84608, .hidden = 5120, .layers = 40, .heads = 40, .ffn = 15360};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias});
    layer.layer_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().layer_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Orion-14B (arXiv 2401.12246): Llama's layers with full layer norms.
extern const Family family{.name = "orion", .model_types = {"orion"}, .class_stems = {"Orion"}, .read = read};

}  // namespace flopwatt::model::families::orion
