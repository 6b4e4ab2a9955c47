#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::cohere {
namespace {

/// CohereConfig's defaults: the shape of Command R.
constexpr DecoderDefaults kDefaults{.vocabulary = 256000, .hidden = 8192, .layers = 40, .heads = 64, .ffn = 22528};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", sizes.hidden, false);  // the only one: both sublayers start from it
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias});
    if (config.flag("use_qk_norm", false)) {
      Module attention = layer / "self_attn";
      attention.tensor("q_norm.weight", "norm", {sizes.heads, sizes.head_dim}, Component::norm, Use::scale);
      attention.tensor("k_norm.weight", "norm", {sizes.kv_heads, sizes.head_dim}, Component::norm, Use::scale);
    }
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().layer_norm("norm", sizes.hidden, false);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// Command R and Aya: attention and feed-forward in parallel, layer norms without bias.
extern const Family family{.name = "cohere", .model_types = {"cohere"}, .class_stems = {"Cohere"}, .read = read};

}  // namespace flopwatt::model::families::cohere
