#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::smollm3 {
namespace {

/// SmolLM3Config's defaults: the shape of SmolLM3-3B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 128256, .hidden = 2048, .layers = 36, .heads = 16, .ffn = 11008, .kv_heads = 4};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const bool mlp_bias = config.flag("mlp_bias", false);
  const bool windows = config.flag("use_sliding_window", false);
  const LocalLayers local =
      local_layers(config, sizes.layers, windows ? window_size(config, "sliding_window", std::nullopt) : std::nullopt,
                   [](std::int64_t layer) { return layer % 4 != 3; });
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
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation, .bias = mlp_bias});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// SmolLM3: Llama's layers, tied, every fourth without rotary positions (which hold no parameters).
extern const Family family{.name = "smollm3", .model_types = {"smollm3"}, .class_stems = {"SmolLM3"}, .read = read};

}  // namespace flopwatt::model::families::smollm3
