#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::llama {
namespace {

/// LlamaConfig's defaults: the shape of Llama-7B.
constexpr DecoderDefaults kDefaults{.vocabulary = 32000, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const bool mlp_bias = config.flag("mlp_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = attention_bias,
                    .out_bias = attention_bias});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation, .bias = mlp_bias});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  exclude_rotary_buffers(draft.model, sizes.layers, sizes.head_dim);
}

}  // namespace

/// Llama 1 to 3.x, and the many models saved under its class (SmolLM, TinyLlama, CodeLlama, DeepSeek-Coder, …).
extern const Family family{.name = "llama", .model_types = {"llama"}, .class_stems = {"Llama"}, .read = read};

}  // namespace flopwatt::model::families::llama
