#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gpt_neo {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers({"num_layers", "num_hidden_layers"});
  const std::int64_t heads = config.size({"num_heads", "num_attention_heads"});
  const std::int64_t positions = config.size("max_position_embeddings");
  const std::int64_t head_dim = divide_heads(config, "num_heads", hidden, heads);
  const std::int64_t window = config.size("window_size", 256);
  const Activation activation = read_activation(config, "activation_function", Activation::gelu_tanh);
  const std::vector<std::string> kinds = config.texts("attention_layers");
  config.require(kinds.size() == static_cast<std::size_t>(layers), "attention_layers",
                 "does not have one entry for each layer");

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("wte", vocabulary);
  text.outside().lookup("wpe", "embedding.position", positions, hidden);
  text.layers(
      layers, "h", [&](std::int64_t i) { return !config.failed() && kinds[static_cast<std::size_t>(i)] == "local"; },
      [&](Layer& layer, bool is_local) {
        layer.layer_norm("ln_1", hidden);
        SelfAttention attention{.heads = heads,
                                .kv_heads = heads,
                                .head_dim = head_dim,
                                .out_bias = true,
                                .rotary = false,
                                .out = "out_proj"};
        if (is_local) attention.window = window;
        self_attention(layer, "attn.attention", attention);
        layer.layer_norm("ln_2", hidden);
        plain_mlp(layer, "mlp",
                  {.width = config.size("intermediate_size", 4 * hidden),
                   .activation = activation,
                   .up = "c_fc",
                   .down = "c_proj"});
      });
  text.outside().layer_norm("ln_f", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// GPT-Neo: GPT-2 with unfused projections, every other layer local.
extern const Family family{.name = "gpt_neo", .model_types = {"gpt_neo"}, .class_stems = {"GPTNeo"}, .read = read};

}  // namespace flopwatt::model::families::gpt_neo
