#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::qwen3 {
namespace {

/// Qwen3Config's defaults.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 151936, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 22016, .kv_heads = 32, .head_dim = 128};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
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
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias,
                    .window = local.window(is_local)});
    query_key_norm(layer, "self_attn", sizes.head_dim, sizes.head_dim);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Qwen3 dense (arXiv 2505.09388): no projection biases, queries and keys normalised within each head.
extern const Family family{
    .name = "qwen3", .model_types = {"qwen3", "qwen3_vl_text"}, .class_stems = {"Qwen3"}, .read = read};

}  // namespace flopwatt::model::families::qwen3
