#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::exaone4 {
namespace {

/// Exaone4Config's defaults.
constexpr DecoderDefaults kDefaults{
    .vocabulary = 102400, .hidden = 4096, .layers = 32, .heads = 32, .ffn = 16384, .kv_heads = 32};

/// The pattern is a period, or letters "LLLG" that repeat, with the last layer global.
std::function<bool(std::int64_t)> local_rule(const ConfigReader& config, std::int64_t layers) {
  if (!config.is_text("sliding_window_pattern")) {
    return [period = config.size("sliding_window_pattern", 4)](std::int64_t i) { return (i + 1) % period != 0; };
  }
  const std::string letters = config.text("sliding_window_pattern", "LLLG");
  config.require(!letters.empty() && letters.find_first_not_of("LG") == std::string::npos, "sliding_window_pattern",
                 "has letters other than L and G");
  return [letters, layers](std::int64_t i) {
    return i + 1 < layers && !letters.empty() && letters[static_cast<std::size_t>(i) % letters.size()] == 'L';
  };
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const DecoderSizes sizes = read_decoder_sizes(config, kDefaults);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);
  const LocalLayers local =
      local_layers(config, sizes.layers, window_size(config, "sliding_window", 4096), local_rule(config, sizes.layers));

  StackBuilder text{draft, sizes.hidden, "model."};
  text.token_embedding("embed_tokens", sizes.vocabulary);
  text.layers(sizes.layers, "layers", local, [&](Layer& layer, bool is_local) {
    self_attention(layer, "self_attn",
                   {.heads = sizes.heads,
                    .kv_heads = sizes.kv_heads,
                    .head_dim = sizes.head_dim,
                    .rotary = is_local || !local.size,
                    .window = local.window(is_local)});
    query_key_norm(layer, "self_attn", sizes.head_dim, sizes.head_dim);
    layer.rms_norm("post_attention_layernorm", sizes.hidden);
    gated_mlp(layer, "mlp", {.width = sizes.ffn, .activation = activation});
    layer.rms_norm("post_feedforward_layernorm", sizes.hidden);
  });
  text.outside().rms_norm("norm", sizes.hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// EXAONE 4 (arXiv 2507.11407): norms behind the sublayers and within each head; rotary positions in local layers only.
extern const Family family{.name = "exaone4", .model_types = {"exaone4"}, .class_stems = {"Exaone4"}, .read = read};

}  // namespace flopwatt::model::families::exaone4
