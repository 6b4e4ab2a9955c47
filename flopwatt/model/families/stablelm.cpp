#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::stablelm {
namespace {

/// StableLmConfig's defaults: the shape of StableLM-3B-4E1T.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 50304, .hidden = 2560, .layers = 32, .heads = 32, .ffn = 6912, .kv_heads = 32};

/// StableLM-2-12B normalises each head with weights of its own, in a module for each head.
void norm_of_each_head(Layer& layer, std::string_view name, std::int64_t heads, std::int64_t head_dim) {
  Module module = layer / "self_attn" / name / "norms";
  module.tensor("{expert}.weight", "norm", {head_dim}, Component::norm, Use::scale).copies = heads;
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool qkv_bias = config.flag("use_qkv_bias", false);
  const bool parallel = config.flag("use_parallel_residual", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", sizes.hidden);
    self_attention(
        layer, "self_attn",
        {.heads = sizes.heads, .kv_heads = sizes.kv_heads, .head_dim = sizes.head_dim, .qkv_bias = qkv_bias});
    if (config.flag("qk_layernorm", false)) {
      norm_of_each_head(layer, "q_layernorm", sizes.heads, sizes.head_dim);
      norm_of_each_head(layer, "k_layernorm", sizes.kv_heads, sizes.head_dim);
    }
    if (!parallel) layer.layer_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().layer_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// StableLM 2 and StableLM-3B-4E1T: Llama's layers with full layer norms.
extern const Family family{.name = "stablelm",
                           .model_types = {"stablelm", "stablelm_epoch"},
                           .class_stems = {"StableLm", "StableLMEpoch"},
                           .read = read};

}  // namespace flopwatt::model::families::stablelm
