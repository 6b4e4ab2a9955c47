#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::internlm2 {
namespace {

/// InternLM2Config's defaults: the shape of InternLM2-7B.
constexpr DecoderDefaults kDefaults{.vocabulary = 103168, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool bias = config.flag("bias", true);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("tok_embeddings", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("attention_norm", sizes.hidden);
    fused_self_attention(layer, "attention", "wqkv",
                         {.heads = sizes.heads,
                          .kv_heads = sizes.kv_heads,
                          .head_dim = sizes.head_dim,
                          .qkv_bias = bias,
                          .out_bias = bias,
                          .out = "wo"});
    layer.rms_norm("ffn_norm", sizes.hidden);
    gated_mlp(layer, "feed_forward",
              {.width = sizes.ffn, .activation = activation, .gate = "w1", .up = "w3", .down = "w2"});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.name = "output", .tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// InternLM 2 (arXiv 2403.17297): Llama's layers with the projections of each kv group side by side in one matrix.
extern const Family family{
    .name = "internlm2", .model_types = {"internlm2"}, .class_stems = {"InternLM2"}, .read = read};

}  // namespace flopwatt::model::families::internlm2
