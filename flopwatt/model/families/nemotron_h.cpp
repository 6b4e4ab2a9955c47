#include <fmt/format.h>

#include <string>

#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/recurrent_mixers.hpp"

namespace flopwatt::model::families::nemotron_h {
namespace {

enum class Kind : std::uint8_t { mamba, attention, mlp, experts };

/// A letter of `hybrid_override_pattern`, or a word of `layers_block_type`.
std::optional<Kind> kind_of_name(std::string_view name) {
  if (name == "M" || name == "mamba" || name == "linear_attention") return Kind::mamba;
  if (name == "*" || name == "attention" || name == "full_attention") return Kind::attention;
  if (name == "-" || name == "mlp") return Kind::mlp;
  if (name == "E" || name == "moe") return Kind::experts;
  return std::nullopt;
}

std::vector<Kind> read_kinds(const ConfigReader& config) {
  std::vector<std::string> names = config.texts("layers_block_type");
  std::string_view key = "layers_block_type";
  if (names.empty()) {
    key = "hybrid_override_pattern";
    config.require(config.has(key), key, "is missing");
    for (const char letter : config.text(key, "")) names.emplace_back(1, letter);
  }
  std::vector<Kind> kinds;
  for (const std::string& name : names) {
    const std::optional<Kind> kind = kind_of_name(name);
    if (!kind) config.fail(key, fmt::format("names a layer '{}' that is not known", base::excerpt(name)));
    kinds.push_back(kind.value_or(Kind::mlp));
  }
  const auto count = static_cast<std::int64_t>(kinds.size());
  if (count < 1 || count > ConfigReader::kMaxLayers) {
    config.fail(key, fmt::format("has {} entries, not 1 to {}", count, ConfigReader::kMaxLayers));
    kinds.assign(1, Kind::mlp);
  } else if (config.has("num_hidden_layers") && config.layers("num_hidden_layers") != count) {
    config.fail(key, fmt::format("has {} entries for {} layers", count, config.layers("num_hidden_layers")));
  }
  return kinds;
}

/// Experts of two products, in a width of their own if there is one, and a shared one.
void mixture(Layer& layer, const ConfigReader& config, Activation activation, bool bias) {
  RoutedExperts experts = read_routed_experts(
      config, {.experts = "n_routed_experts", .top_k = "num_experts_per_tok", .width = "moe_intermediate_size"});
  experts.activation = activation;
  experts.gate = "";
  experts.input = config.optional_size("moe_latent_size");
  const auto latent = [&](std::string_view name, std::string_view label, std::int64_t in, std::int64_t out) {
    layer.linear({.name = name, .label = label, .component = Component::mlp, .in = in, .out = out, .bias = bias});
  };
  if (experts.input) latent("mixer.fc1_latent_proj", "mlp.latent_in", layer.hidden(), *experts.input);
  routed_experts(layer, "mixer", experts);
  if (experts.input) latent("mixer.fc2_latent_proj", "mlp.latent_out", *experts.input, layer.hidden());
  if (config.count("n_shared_experts", 1) == 0) return;
  plain_mlp(layer, "mixer.shared_experts",
            {.width = config.size("moe_shared_expert_intermediate_size"),
             .activation = activation,
             .bias = bias,
             .up = "up_proj",
             .down = "down_proj"});
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::vector<Kind> kinds = read_kinds(config);
  const Activation activation = read_activation(config, "mlp_hidden_act", Activation::relu_squared);
  const bool attention_bias = config.flag("attention_bias", false);
  const bool mlp_bias = config.flag("mlp_bias", false);
  const auto has = [&](Kind kind) { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); };

  SelfAttention attention;
  if (has(Kind::attention)) {
    attention.heads = config.size("num_attention_heads");
    attention.kv_heads = config.size("num_key_value_heads", attention.heads);
    attention.head_dim = config.size({"head_dim", "attention_head_dim"}, 128);
    attention.qkv_bias = attention.out_bias = attention_bias;
    attention.rotary = false;
    attention.window = config.optional_size("sliding_window");
    check_groups(config, "num_key_value_heads", attention.heads, attention.kv_heads);
  }
  Mamba2 mixer;
  if (has(Kind::mamba)) {
    mixer = {.heads = config.size("mamba_num_heads"),
             .head_dim = config.size("mamba_head_dim"),
             .state = config.size("ssm_state_size"),
             .groups = config.size({"n_groups", "mamba_n_groups"}),
             .kernel = config.size({"conv_kernel", "mamba_d_conv"}, 4),
             .conv_bias = config.flag({"use_conv_bias", "mamba_conv_bias"}, true),
             .bias = config.flag("use_bias", false)};
    config.require(mixer.heads % mixer.groups == 0, "n_groups", "does not divide mamba_num_heads");
  }
  const std::int64_t ffn = has(Kind::mlp) ? config.size("intermediate_size") : 1;

  StackBuilder text{draft, hidden, "backbone."};
  text.token_embedding("embeddings", vocabulary);
  text.layers(
      static_cast<std::int64_t>(kinds.size()), "layers",
      [&](std::int64_t i) { return kinds[static_cast<std::size_t>(i)]; },
      [&](Layer& layer, Kind kind) {
        layer.block().elementwise.residuals = 1;
        layer.rms_norm("norm", hidden);
        switch (kind) {
          case Kind::mamba:
            return mamba2_mixer(layer, "mixer", mixer);
          case Kind::attention:
            return self_attention(layer, "mixer", attention);
          case Kind::mlp:
            return plain_mlp(
                layer, "mixer",
                {.width = ffn, .activation = activation, .bias = mlp_bias, .up = "up_proj", .down = "down_proj"});
          case Kind::experts:
            return mixture(layer, config, activation, mlp_bias);
        }
      });
  text.outside().rms_norm("norm_f", hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
  if (has(Kind::experts)) {
    const auto layers = std::count(kinds.begin(), kinds.end(), Kind::experts);
    draft.model.excluded.push_back({.what = "selection biases of the routers",
                                    .parameters = units::Count{layers} * config.experts("n_routed_experts"),
                                    .why = "the class keeps them as buffers, not as parameters",
                                    .name_patterns = {"e_score_correction_bias"}});
  }
}

}  // namespace

/// Nemotron-H and Nemotron 3 (arXiv 2504.03624): each layer one of Mamba 2, attention, feed-forward or experts.
extern const Family family{
    .name = "nemotron_h", .model_types = {"nemotron_h"}, .class_stems = {"NemotronH"}, .read = read};

}  // namespace flopwatt::model::families::nemotron_h
