#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::glm4 {
namespace {

/// The config class's defaults: the shape of GLM-4-9B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 151552, .hidden = 4096, .layers = 40, .heads = 32, .ffn = 13696, .kv_heads = 2, .head_dim = 128};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", true);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(
        layer, "self_attn",
        {.heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_dim = sizes.head_dim, .qkv_bias = attention_bias});
    layer.rms_norm("post_self_attn_layernorm", sizes.hidden);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    fused_gated_mlp(layer, "mlp", "gate_up_proj", {.width = sizes.ffn, .activation = activation});
    layer.rms_norm("post_mlp_layernorm", sizes.hidden);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// GLM-4-0414: GLM-4 with a norm behind each sublayer too.
extern const Family family{.name = "glm4", .model_types = {"glm4"}, .class_stems = {"Glm4"}, .read = read};

}  // namespace flopwatt::model::families::glm4
