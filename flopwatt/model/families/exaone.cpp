#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::exaone {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers({"num_layers", "num_hidden_layers"});
  const std::int64_t heads = config.size("num_attention_heads");
  const std::int64_t kv_heads = config.size("num_key_value_heads", heads);
  const std::int64_t ffn = config.size("intermediate_size", 4 * hidden);
  const std::int64_t head_dim =
      config.has("head_dim") ? config.size("head_dim") : divide_heads(config, "num_attention_heads", hidden, heads);
  const Activation activation = read_activation(config, {"activation_function", "hidden_act"}, Activation::silu);
  check_groups(config, "num_key_value_heads", heads, kv_heads);

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("wte", vocabulary);
  text.layers(layers, "h", [&](Layer& layer) {
    layer.rms_norm("ln_1", hidden);
    self_attention(layer, "attn.attention",
                   {.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .out = "out_proj"});
    layer.rms_norm("ln_2", hidden);
    gated_mlp(layer, "mlp",
              {.width = ffn, .activation = activation, .gate = "c_fc_0", .up = "c_fc_1", .down = "c_proj"});
  });
  text.outside().rms_norm("ln_f", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// EXAONE 3 and 3.5 (arXiv 2408.03541): Llama's layers under GPT-2's names.
extern const Family family{.name = "exaone", .model_types = {"exaone"}, .class_stems = {"Exaone"}, .read = read};

}  // namespace flopwatt::model::families::exaone
