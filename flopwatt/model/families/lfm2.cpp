#include <fmt/format.h>

#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::lfm2 {
namespace {

/// Lfm2Config's defaults.
constexpr std::int64_t kMultiple = 256;
constexpr std::int64_t kKernel = 3;

/// The width that the file gives is the one before Llama 1's 2/3, a multiplier and rounding up.
std::int64_t ffn_width(const ConfigReader& config) {
  const std::int64_t given = config.size({"block_ff_dim", "intermediate_size"});
  if (!config.flag("block_auto_adjust_ff_dim", true)) return given;
  std::int64_t width = 2 * given / 3;
  if (!config.is_null("block_ffn_dim_multiplier")) {
    const double multiplier = config.number("block_ffn_dim_multiplier", 1.0);
    if (!(multiplier > 0 && multiplier <= 1024)) {
      config.fail("block_ffn_dim_multiplier", fmt::format("is {}, not a number from 0 to 1024", multiplier));
      return 1;
    }
    width = static_cast<std::int64_t>(multiplier * static_cast<double>(width));
  }
  const std::int64_t multiple = config.size("block_multiple_of", kMultiple);
  return std::max(multiple, (width + multiple - 1) / multiple * multiple);
}

/// layer_types, or the older list of the layers that attend; without either all layers do.
std::vector<bool> attending_layers(const ConfigReader& config, std::int64_t layers) {
  std::vector<bool> attending(static_cast<std::size_t>(layers), true);
  if (const std::vector<std::string> types = config.texts("layer_types"); !types.empty()) {
    if (types.size() != attending.size()) {
      config.fail("layer_types", fmt::format("has {} entries for {} layers", types.size(), layers));
      return attending;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      attending[i] = types[i] == "full_attention";
      config.require(attending[i] || types[i] == "conv", "layer_types", "names a layer that this family does not have");
    }
  } else if (config.has("full_attn_idxs")) {
    attending.assign(attending.size(), false);
    for (const std::int64_t i : config.counts("full_attn_idxs")) {
      config.require(i < layers, "full_attn_idxs", "names a layer that the model does not have");
      if (i < layers) attending[static_cast<std::size_t>(i)] = true;
    }
  }
  return attending;
}

/// out(C ⊙ conv(B ⊙ x)), with B, C and x from one projection.
void short_convolution(Layer& layer, std::int64_t kernel, bool bias) {
  const std::int64_t width = layer.hidden();
  Module conv = layer / "conv";
  conv.linear({.name = "in_proj",
               .label = "convolution.in",
               .component = Component::other,
               .in = width,
               .out = 3 * width,
               .bias = bias});
  conv.tensor("conv.weight", "convolution", {width, 1, kernel}, Component::other, Use::convolution);
  if (bias) conv.tensor("conv.bias", "convolution", {width}, Component::other, Use::bias);
  conv.linear({.name = "out_proj",
               .label = "convolution.out",
               .component = Component::other,
               .in = width,
               .out = width,
               .bias = bias});
  layer.part("convolution");
  layer.block().recurrence = Recurrence{
      .kind = Recurrence::Kind::short_convolution, .head_dim = width, .conv_channels = width, .conv_kernel = kernel};
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"hidden_size", "block_dim"});
  const std::int64_t layers = config.layers("num_hidden_layers");
  const std::int64_t heads = config.size({"num_attention_heads", "num_heads"});
  const std::int64_t kv_heads = config.size("num_key_value_heads", 8);
  const std::int64_t head_dim = divide_heads(config, "num_attention_heads", hidden, heads);
  const std::int64_t ffn = ffn_width(config);
  const std::int64_t kernel = config.size("conv_L_cache", kKernel);
  const bool conv_bias = config.flag("conv_bias", false);
  const std::vector<bool> attending = attending_layers(config, layers);
  check_groups(config, "num_key_value_heads", heads, kv_heads);
  config.require(config.size("conv_dim", hidden) == hidden, "conv_dim", "differs from hidden_size: not supported");

  StackBuilder text{draft, hidden, "model."};
  text.token_embedding("embed_tokens", vocabulary);
  text.layers(
      layers, "layers", [&](std::int64_t i) { return bool{attending[static_cast<std::size_t>(i)]}; },
      [&](Layer& layer, bool attends) {
        layer.rms_norm("operator_norm", hidden);
        if (attends) {
          self_attention(layer, "self_attn",
                         {.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .out = "out_proj"});
          Module attention = layer / "self_attn";
          attention.rms_norm("q_layernorm", head_dim);
          attention.rms_norm("k_layernorm", head_dim);
        } else {
          short_convolution(layer, kernel, conv_bias);
        }
        layer.rms_norm("ffn_norm", hidden);
        gated_mlp(layer, "feed_forward", {.width = ffn, .gate = "w1", .up = "w3", .down = "w2"});
      });
  text.outside().rms_norm("embedding_norm", hidden);
  text.head({.tied = draft.tied ? *draft.tied : config.flag({"tie_embedding", "tie_word_embeddings"}, true)});
  text.finish(draft.model);
}

}  // namespace

/// LFM2: gated short convolutions, and attention in some layers.
extern const Family family{.name = "lfm2", .model_types = {"lfm2"}, .class_stems = {"Lfm2"}, .read = read};

}  // namespace flopwatt::model::families::lfm2
