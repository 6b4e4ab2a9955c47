#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::minicpm {
namespace {

/// MiniCPMConfig's defaults.
constexpr DecoderDefaults kDefaults{.vocabulary = 32000, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  config.require(config.count("num_experts", 0) == 0, "num_experts", "is given: a MiniCPM of experts is not supported");
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
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// MiniCPM 1 and 2 (arXiv 2404.06395): Llama's layers with scaled embeddings and residuals, tied.
extern const Family family{.name = "minicpm", .model_types = {"minicpm"}, .class_stems = {"MiniCPM"}, .read = read};

}  // namespace flopwatt::model::families::minicpm
