#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::nemotron {
namespace {

/// NemotronConfig's defaults: the shape of Nemotron-4-15B.
constexpr DecoderDefaults kDefaults{.vocabulary = 256000, .hidden = 6144, .layers = 32, .heads = 48, .ffn = 24576};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const bool mlp_bias = config.flag("mlp_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::relu_squared);

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
    plain_mlp(layer, "mlp",
              {.width = sizes.ffn, .activation = activation, .bias = mlp_bias, .up = "up_proj", .down = "down_proj"});
  });
  text.outside().layer_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Nemotron 3 and 4, Minitron (arXiv 2402.16819): squared ReLU without a gate.
extern const Family family{.name = "nemotron", .model_types = {"nemotron"}, .class_stems = {"Nemotron"}, .read = read};

}  // namespace flopwatt::model::families::nemotron
