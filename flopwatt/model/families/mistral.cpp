#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::mistral {
namespace {

/// MistralConfig's defaults: the shape of Mistral-7B-v0.1.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 32000, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 14336, .kv_heads = 8};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  // `layer_types` comes with Ministral, whose layers alternate; Mistral's own all see the same window.
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", 4096),
                                         [](std::int64_t) { return true; });
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .window = local.window(is_local)});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Mistral 7B and its kin: Llama's layers with a sliding window (arXiv 2310.06825).
extern const Family family{
    .name = "mistral", .model_types = {"mistral", "ministral"}, .class_stems = {"Mistral", "Ministral"}, .read = read};

}  // namespace flopwatt::model::families::mistral
