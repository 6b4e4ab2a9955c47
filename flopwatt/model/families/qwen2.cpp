#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families {
namespace {

/// Qwen2Config's defaults.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 151936, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 22016, .kv_heads = 32};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const LocalLayers local = qwen_local_layers(config, sizes.layers);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = true,  // always, and no key says so
                    .window = local.window(is_local)});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Qwen2 and Qwen2.5 (arXiv 2407.10671).
extern const Family qwen2{.name = "qwen2", .model_types = {"qwen2"}, .class_stems = {"Qwen2"}, .read = read};

}  // namespace flopwatt::model::families
