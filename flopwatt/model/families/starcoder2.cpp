#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::starcoder2 {
namespace {

/// Starcoder2Config's defaults: the shape of StarCoder2-3B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 49152, .hidden = 3072, .layers = 30, .heads = 24, .ffn = 12288, .kv_heads = 2};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool bias = config.flag("use_bias", true);
  const Activation activation = read_activation(config, "hidden_act", Activation::gelu);
  const LocalLayers local = local_layers(config, sizes.layers, window_size(config, "sliding_window", std::nullopt),
                                         [](std::int64_t) { return true; });

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    layer.layer_norm("input_layernorm", sizes.hidden);
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .qkv_bias = bias,
                    .out_bias = bias,
                    .window = local.window(is_local)});
    layer.layer_norm("post_attention_layernorm", sizes.hidden);
    plain_mlp(layer, "mlp",
              {.width = sizes.ffn, .activation = activation, .bias = bias, .up = "c_fc", .down = "c_proj"});
  });
  text.outside().layer_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// StarCoder 2 (arXiv 2402.19173).
extern const Family family{
    .name = "starcoder2", .model_types = {"starcoder2"}, .class_stems = {"Starcoder2"}, .read = read};

}  // namespace flopwatt::model::families::starcoder2
