#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gemma {
namespace {

/// GemmaConfig's defaults: the shape of Gemma-7B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 256000, .hidden = 3072, .layers = 28, .heads = 16, .ffn = 24576, .kv_heads = 16, .head_dim = 256};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_activation", Activation::gelu);

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
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// Gemma 1 (arXiv 2403.08295): heads of 256 whatever the width, tied embeddings.
extern const Family family{.name = "gemma", .model_types = {"gemma"}, .class_stems = {"Gemma"}, .read = read};

}  // namespace flopwatt::model::families::gemma
