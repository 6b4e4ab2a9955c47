#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::gptj {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"n_embd", "hidden_size"});
  const std::int64_t layers = config.layers({"n_layer", "num_hidden_layers"});
  const std::int64_t heads = config.size({"n_head", "num_attention_heads"});
  const std::int64_t head_dim = divide_heads(config, "n_head", hidden, heads);
  const Activation activation = read_activation(config, "activation_function", Activation::gelu_tanh);

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("wte", vocabulary);
  text.layers(layers, "h", [&](Layer& layer) {
    layer.layer_norm("ln_1", hidden);  // the only one: both sublayers start from it
    self_attention(layer, "attn", {.heads = heads, .kv_heads = heads, .head_dim = head_dim, .out = "out_proj"});
    plain_mlp(layer, "mlp",
              {.width = config.size("n_inner", 4 * hidden), .activation = activation, .up = "fc_in", .down = "fc_out"});
  });
  text.outside().layer_norm("ln_f", hidden);
  text.head({.tied = draft.tied_embeddings(false), .bias = true});
  text.finish(draft.model);
  exclude_mask_buffers(draft.model, "attn", layers, config.size({"n_positions", "max_position_embeddings"}, 2048));
}

}  // namespace

/// GPT-J: attention and feed-forward in parallel behind one norm, a head with a bias.
extern const Family family{.name = "gptj", .model_types = {"gptj"}, .class_stems = {"GPTJ"}, .read = read};

}  // namespace flopwatt::model::families::gptj
