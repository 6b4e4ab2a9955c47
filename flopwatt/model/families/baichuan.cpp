#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::baichuan {
namespace {

/// BaichuanConfig's defaults.
constexpr DecoderDefaults kDefaults{.vocabulary = 64000, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  // The 13B models use alibi and, having no table of positions, only name the length they were trained on.
  const bool rotary = config.has("max_position_embeddings");

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    fused_self_attention(layer, "self_attn", "W_pack",
                         {.heads = sizes.heads, .kv_heads = sizes.heads, .head_dim = sizes.head_dim, .rotary = rotary});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  if (rotary) exclude_rotary_buffers(draft.model, sizes.layers, sizes.head_dim);
}

}  // namespace

/// Baichuan 1 and 2 (arXiv 2309.10305): Llama's layers with q, k and v in one matrix.
extern const Family family{
    .name = "baichuan", .model_types = {"baichuan"}, .class_stems = {"BaiChuan", "Baichuan"}, .read = read};

}  // namespace flopwatt::model::families::baichuan
