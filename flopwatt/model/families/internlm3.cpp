#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::internlm3 {
namespace {

/// InternLM3Config's defaults.
constexpr DecoderDefaults kDefaults{.vocabulary = 128512, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool qkv_bias = config.flag("qkv_bias", false);
  const bool bias = config.flag("bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = qkv_bias,
                    .out_bias = bias});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation, .bias = bias});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// InternLM 3: Llama's layers with optional biases.
extern const Family family{
    .name = "internlm3", .model_types = {"internlm3"}, .class_stems = {"InternLM3"}, .read = read};

}  // namespace flopwatt::model::families::internlm3
