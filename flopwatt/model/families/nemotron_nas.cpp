#include <fmt/format.h>

#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::nemotron_nas {
namespace {

/// What a search has left of one sublayer.
enum class Sublayer : std::uint8_t { full, linear, absent };

/// One layer as its block_configs entry describes it.
struct LayerShape {
  Sublayer attention = Sublayer::full, mlp = Sublayer::full;
  std::int64_t kv_heads = 1, ffn = 1;
  std::optional<std::int64_t> window;

  bool operator==(const LayerShape&) const = default;
};

Sublayer read_sublayer(const ConfigReader& part) {
  if (part.flag("no_op", false)) return Sublayer::absent;
  return part.flag("replace_with_linear", false) ? Sublayer::linear : Sublayer::full;
}

/// 2/3 of the multiplied width, as in Llama 1, rounded up to a multiple of 256.
std::int64_t ffn_width(const ConfigReader& part, std::int64_t hidden) {
  if (part.has("intermediate_size")) return part.size("intermediate_size");
  part.require(part.has("ffn_mult"), "ffn_mult", "is missing");
  const double multiplier = part.number("ffn_mult", 1);
  if (!(multiplier > 0 && multiplier <= 1024)) {
    part.fail("ffn_mult", fmt::format("is {}, not a number from 0 to 1024", multiplier));
    return 1;
  }
  const auto width = static_cast<std::int64_t>(2 * multiplier * static_cast<double>(hidden) / 3);
  return (width + 255) / 256 * 256;
}

LayerShape read_layer(const ConfigReader& block, std::int64_t hidden, std::int64_t heads) {
  const ConfigReader attention = block.object("attention");
  const ConfigReader mlp = block.object("ffn");
  for (const std::string_view key : {"mamba", "llama4"}) {
    attention.require(!attention.has(key), key, "is a sublayer that is not supported");
  }
  mlp.require(!mlp.has("moe"), "moe", "is a sublayer that is not supported");

  LayerShape shape{.attention = read_sublayer(attention), .mlp = read_sublayer(mlp)};
  if (shape.attention == Sublayer::full) {
    const std::int64_t group = attention.size("n_heads_in_group");
    check_groups(attention, "n_heads_in_group", heads, group);
    shape.kv_heads = std::max<std::int64_t>(1, heads / group);
    if (attention.has("window_length")) {
      shape.window = attention.size("window_length") + attention.count("num_sink_tokens", 0);
    }
  }
  if (shape.mlp == Sublayer::full) shape.ffn = ffn_width(mlp, hidden);
  return shape;
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers("num_hidden_layers");
  const std::int64_t heads = config.size("num_attention_heads");
  const std::int64_t head_dim =
      config.has("head_dim") ? config.size("head_dim") : divide_heads(config, "num_attention_heads", hidden, heads);
  const bool attention_bias = config.flag("attention_bias", false);
  const bool mlp_bias = config.flag("mlp_bias", false);
  const Activation activation = read_activation(config, "hidden_act", Activation::silu);

  std::vector<LayerShape> shapes;
  for (const ConfigReader& block : config.objects("block_configs")) shapes.push_back(read_layer(block, hidden, heads));
  if (shapes.size() != static_cast<std::size_t>(layers)) {
    config.fail("block_configs", fmt::format("has {} entries for {} layers", shapes.size(), layers));
    shapes.resize(static_cast<std::size_t>(layers));
  }

  StackBuilder text{draft, hidden, "model."};
  text.token_embedding("embed_tokens", vocabulary);
  text.layers(
      layers, "layers", [&](std::int64_t i) { return shapes[static_cast<std::size_t>(i)]; },
      [&](Layer& layer, const LayerShape& shape) {
        const auto replacement = [&](std::string_view name, std::string_view label, Component component) {
          layer.linear({.name = name, .label = label, .component = component, .in = hidden, .out = hidden});
        };
        if (shape.attention != Sublayer::absent) layer.rms_norm("input_layernorm", hidden);
        if (shape.attention == Sublayer::linear) {
          replacement("self_attn.linear_attn", "attention.linear", Component::attention);
        } else if (shape.attention == Sublayer::full) {
          self_attention(layer, "self_attn",
                         {.heads = heads,
                          .kv_heads = shape.kv_heads,
                          .head_dim = head_dim,
                          .qkv_bias = attention_bias,
                          .out_bias = attention_bias,
                          .window = shape.window});
        }
        if (shape.mlp != Sublayer::absent) layer.rms_norm("post_attention_layernorm", hidden);
        if (shape.mlp == Sublayer::linear) {
          replacement("mlp.linear_mlp", "mlp.linear", Component::mlp);
        } else if (shape.mlp == Sublayer::full) {
          gated_mlp(layer, "mlp", {.width = shape.ffn, .activation = activation, .bias = mlp_bias});
        }
        layer.block().elementwise.residuals =
            (shape.attention != Sublayer::absent ? 1 : 0) + (shape.mlp != Sublayer::absent ? 1 : 0);
      });
  text.outside().rms_norm("norm", hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Llama-Nemotron (arXiv 2411.19146): a Llama of which a search has thinned out each layer by itself.
extern const Family family{
    .name = "nemotron-nas", .model_types = {"nemotron-nas"}, .class_stems = {"DeciLM"}, .read = read};

}  // namespace flopwatt::model::families::nemotron_nas
