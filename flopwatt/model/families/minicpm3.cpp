#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::minicpm3 {
namespace {

/// MiniCPM3Config's defaults in the model's own repository.
constexpr DecoderDefaults kDefaults{.vocabulary = 32000, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 11008};

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const bool attention_bias = config.flag("attention_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  LatentAttention ranks{.kv_rank = config.size("kv_lora_rank", 256),
                        .nope_dim = config.size("qk_nope_head_dim", 64),
                        .rope_dim = config.size("qk_rope_head_dim", 32),
                        .value_dim = config.size("v_head_dim", sizes.head_dim)};
  if (!config.is_null("q_lora_rank")) ranks.query_rank = config.size("q_lora_rank", 768);

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", [&](Layer& layer) {
    layer.rms_norm("input_layernorm", sizes.hidden);
    latent_attention(layer, "self_attn", {.heads = sizes.heads, .ranks = ranks, .bias = attention_bias});
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// MiniCPM3: Llama's feed-forward with DeepSeek's latent attention, tied embeddings.
extern const Family family{.name = "minicpm3", .model_types = {"minicpm3"}, .class_stems = {"MiniCPM3"}, .read = read};

}  // namespace flopwatt::model::families::minicpm3
