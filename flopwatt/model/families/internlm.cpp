#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::internlm {
namespace {

/// InternLMConfig's defaults: the shape of InternLM-7B.
constexpr DecoderDefaults kDefaults{.vocabulary = 103168, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool bias = config.flag("bias", true);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = bias,
                    .out_bias = bias});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  exclude_rotary_buffers(draft.model, sizes.layers, sizes.head_dim);
}

}  // namespace

/// InternLM 1: Llama's layers with biases on all four projections.
extern const Family family{.name = "internlm", .model_types = {"internlm"}, .class_stems = {"InternLM"}, .read = read};

}  // namespace flopwatt::model::families::internlm
