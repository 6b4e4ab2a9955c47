#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::qwen2 {
namespace {

/// Qwen2Config's defaults, and those of Qwen2VLTextConfig: the shape of Qwen2-VL-72B.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 151936, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 22016, .kv_heads = 32};
constexpr DecoderDefaults kVisionDefaults{
    .vocabulary = 152064, .hidden = 8192, .layers = 80, .heads = 64, .ffn = 29568, .kv_heads = 8};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const bool of_vision = config.text("model_type", "").find("vl") != std::string::npos;
  const DecoderSizes sizes = read_decoder_sizes(config, of_vision ? kVisionDefaults : kDefaults);
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
                    .qkv_bias = true,  // always, and no key says so
                    .window = local.window(is_local)});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Qwen2 and Qwen2.5 (arXiv 2407.10671).
extern const Family family{.name = "qwen2",
                           .model_types = {"qwen2", "qwen2_vl_text", "qwen2_5_vl_text"},
                           .class_stems = {"Qwen2"},
                           .read = read};

}  // namespace flopwatt::model::families::qwen2
