#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gpt_neox {
namespace {

/// GPTNeoXConfig's defaults: the shape of GPT-NeoX-20B.
constexpr DecoderDefaults kDefaults{.vocabulary = 50432, .hidden = 6144, .layers = 44, .heads = 64, .ffn = 24576};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", true);
  const Activation activation = read_activation(config, "hidden_act", Activation::gelu);

  StackBuilder text{draft, sizes.hidden, "gpt_neox."};
  text.token_embedding("embed_in", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", sizes.hidden);
    fused_self_attention(layer, "attention", "query_key_value",
                         {.heads = sizes.heads,
                          .kv_heads = sizes.heads,
                          .head_dim = sizes.head_dim,
                          .qkv_bias = attention_bias,
                          .out_bias = attention_bias,
                          .out = "dense"});
    // Both norms exist whether the two sublayers run in parallel or not.
    layer.layer_norm("post_attention_layernorm", sizes.hidden);
    plain_mlp(layer, "mlp",
              {.width = sizes.ffn, .activation = activation, .up = "dense_h_to_4h", .down = "dense_4h_to_h"});
  });
  text.outside().layer_norm("final_layer_norm", sizes.hidden);
  text.head({.name = "embed_out", .tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  const double rotary_share = config.number({"rotary_pct", "partial_rotary_factor"}, 0.25);
  config.require(rotary_share >= 0 && rotary_share <= 1, "rotary_pct", "is not a fraction from 0 to 1");
  if (config.failed()) return;
  exclude_rotary_buffers(draft.model, sizes.layers,
                         static_cast<std::int64_t>(rotary_share * static_cast<double>(sizes.head_dim)));
  exclude_mask_buffers(draft.model, "attention", sizes.layers, config.size("max_position_embeddings", 2048));
}

}  // namespace

/// GPT-NeoX (arXiv 2204.06745), Pythia, RedPajama-INCITE, Dolly.
extern const Family family{.name = "gpt_neox", .model_types = {"gpt_neox"}, .class_stems = {"GPTNeoX"}, .read = read};

}  // namespace flopwatt::model::families::gpt_neox
