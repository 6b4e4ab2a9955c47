#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::rwkv {
namespace {

/// How much of the token before is mixed in.
void time_mix(Module& module, std::string_view name, std::int64_t hidden, Component component) {
  module.tensor(name, "recurrence", {1, 1, hidden}, component, Use::scale);
}

void time_mixing(Layer& layer, std::int64_t inner) {
  const std::int64_t hidden = layer.hidden();
  Module module = layer / "attention";
  const auto project = [&](std::string_view name, std::string_view label, std::int64_t in, std::int64_t out) {
    module.linear({.name = name, .label = label, .component = Component::attention, .in = in, .out = out});
  };
  module.tensor("time_decay", "recurrence", {inner}, Component::attention, Use::scale);
  module.tensor("time_first", "recurrence", {inner}, Component::attention, Use::scale);
  for (const std::string_view name : {"time_mix_key", "time_mix_value", "time_mix_receptance"}) {
    time_mix(module, name, hidden, Component::attention);
  }
  project("key", "rwkv.key", hidden, inner);
  project("value", "rwkv.value", hidden, inner);
  project("receptance", "rwkv.receptance", hidden, inner);
  project("output", "rwkv.out", inner, hidden);
  layer.part("rwkv");
  // Each channel carries a weighted mean of the values: one number of state, its weight beside it.
  layer.block().recurrence = Recurrence{.kind = Recurrence::Kind::rwkv, .heads = 1, .head_dim = inner, .state_dim = 1};
}

void channel_mixing(Layer& layer, std::int64_t width) {
  const std::int64_t hidden = layer.hidden();
  Module module = layer / "feed_forward";
  const auto project = [&](std::string_view name, std::string_view label, std::int64_t in, std::int64_t out) {
    module.linear({.name = name, .label = label, .component = Component::mlp, .in = in, .out = out});
  };
  time_mix(module, "time_mix_key", hidden, Component::mlp);
  time_mix(module, "time_mix_receptance", hidden, Component::mlp);
  project("key", "mlp.up", hidden, width);
  project("receptance", "mlp.receptance", hidden, hidden);
  project("value", "mlp.down", width, hidden);
  layer.part("mlp");
  layer.block().elementwise.activation = Activation::relu_squared;
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers("num_hidden_layers");
  const std::int64_t inner = config.size("attention_hidden_size", hidden);
  const std::int64_t ffn = config.size("intermediate_size", 4 * hidden);

  StackBuilder text{draft, hidden, "rwkv."};
  text.token_embedding("embeddings", vocabulary);
  text.layers(
      layers, "blocks", [](std::int64_t i) { return i == 0; },
      [&](Layer& layer, bool first) {
        if (first) layer.layer_norm("pre_ln", hidden);
        layer.layer_norm("ln1", hidden);
        time_mixing(layer, inner);
        layer.layer_norm("ln2", hidden);
        channel_mixing(layer, ffn);
      });
  text.outside().layer_norm("ln_out", hidden);
  text.head({.name = "head", .tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// RWKV-4 (arXiv 2305.13048).  Later versions under other model_types have other tensors.
extern const Family family{.name = "rwkv", .model_types = {"rwkv"}, .class_stems = {"Rwkv"}, .read = read};

}  // namespace flopwatt::model::families::rwkv
