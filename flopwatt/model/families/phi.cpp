#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::phi {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"hidden_size", "n_embd"});
  const std::int64_t layers = config.layers({"num_hidden_layers", "n_layer"});
  const std::int64_t heads = config.size({"num_attention_heads", "n_head"});
  const std::int64_t kv_heads = config.size({"num_key_value_heads", "n_head_kv"}, heads);
  const std::int64_t ffn = config.size({"intermediate_size", "n_inner"}, 4 * hidden);
  const std::int64_t head_dim = divide_heads(config, "num_attention_heads", hidden, heads);
  const Activation activation = read_activation(config, {"hidden_act", "activation_function"}, Activation::gelu_tanh);
  check_groups(config, "num_key_value_heads", heads, kv_heads);

  StackBuilder text{draft, hidden, "model."};
  text.token_embedding("embed_tokens", vocabulary);
  text.layers(layers, "layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", hidden);  // the only one: both sublayers start from it
    self_attention(layer, "self_attn",
                   {.heads = heads,
                    .kv_heads = kv_heads,
                    .head_dim = head_dim,
                    .qkv_bias = true,
                    .out_bias = true,
                    .out = "dense"});
    if (config.flag("qk_layernorm", false)) {
      Module attention = layer / "self_attn";
      attention.layer_norm("q_layernorm", head_dim);
      attention.layer_norm("k_layernorm", head_dim);
    }
    plain_mlp(layer, "mlp", {.width = ffn, .activation = activation, .up = "fc1", .down = "fc2"});
  });
  text.outside().layer_norm("final_layernorm", hidden);
  text.head({.tied = draft.tied_embeddings(false), .bias = true});
  text.finish(draft.model);
}

}  // namespace

/// Phi 1, 1.5 and 2 (arXiv 2306.11644), in the present form of their config and in their first ones.
extern const Family family{.name = "phi",
                           .model_types = {"phi", "phi-msft", "mixformer-sequential"},
                           .class_stems = {"Phi", "MixFormerSequential"},
                           .read = read};

}  // namespace flopwatt::model::families::phi
