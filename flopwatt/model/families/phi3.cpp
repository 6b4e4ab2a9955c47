#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::phi3 {
namespace {

/// Phi3Config's defaults: the shape of Phi-3-mini.
constexpr DecoderDefaults kDefaults{.vocabulary = 32064, .hidden = 3072, .layers = 32, .heads = 32, .ffn = 8192};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", std::nullopt),
                                         [](std::int64_t) { return true; });

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    // attention_bias stands in many of these files, but the class has no biases.
    fused_self_attention(layer, "self_attn", "qkv_proj",
                         {.heads = sizes.heads,
                          .kv_heads = sizes.kv_heads,
                          .head_dim = sizes.head_dim,
                          .window = local.window(is_local)});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    fused_gated_mlp(layer, "mlp", "gate_up_proj", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Phi-3 and 3.5 (mini, medium; arXiv 2404.14219) and Phi-4, which is saved as a Phi-3.
extern const Family family{.name = "phi3", .model_types = {"phi3"}, .class_stems = {"Phi3"}, .read = read};

}  // namespace flopwatt::model::families::phi3
