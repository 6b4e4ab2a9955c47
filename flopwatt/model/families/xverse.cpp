#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::xverse {
namespace {

/// XverseConfig's defaults: the shape of XVERSE-13B.
constexpr DecoderDefaults kDefaults{.vocabulary = 100278, .hidden = 5120, .layers = 40, .heads = 40, .ffn = 13824};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn", {.heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_dim = sizes.head_dim});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  exclude_rotary_buffers(draft.model, sizes.layers, sizes.head_dim);
}

}  // namespace

/// XVERSE: Llama's layers under a name of its own.
extern const Family family{.name = "xverse", .model_types = {"xverse"}, .class_stems = {"Xverse"}, .read = read};

}  // namespace flopwatt::model::families::xverse
