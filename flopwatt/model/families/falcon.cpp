#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::falcon {
namespace {

/// The old architecture has one kv head or as many as heads, whatever num_kv_heads says (71 in Falcon-7B).
std::int64_t key_value_heads(const ConfigReader& config, std::int64_t heads, bool new_decoder) {
  if (!new_decoder && config.flag("multi_query", true)) return 1;
  if (!new_decoder) return heads;
  const std::int64_t kv_heads = config.size({"num_kv_heads", "n_head_kv"}, heads);
  check_groups(config, "num_kv_heads", heads, kv_heads);
  return kv_heads;
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"hidden_size", "n_embed"});
  const std::int64_t layers = config.layers({"num_hidden_layers", "n_layer"});
  const std::int64_t heads = config.size({"num_attention_heads", "n_head"});
  const std::int64_t head_dim = divide_heads(config, "num_attention_heads", hidden, heads);
  const std::int64_t ffn = config.size("ffn_hidden_size", 4 * hidden);
  const bool bias = config.flag("bias", false);
  const bool parallel = config.flag("parallel_attn", true);
  // The 40B's own class was called RefinedWeb and knew nothing but what became the new architecture.
  const bool new_decoder = config.flag("new_decoder_architecture", draft.model.model_type == "RefinedWeb");
  const std::int64_t kv_heads = key_value_heads(config, heads, new_decoder);
  const std::int64_t parallel_norms = config.count("num_ln_in_parallel_attn", new_decoder ? 2 : 1);

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("word_embeddings", vocabulary);
  text.layers(layers, "h", [&](Layer& layer) {
    if (parallel && parallel_norms == 2) {
      layer.layer_norm("ln_attn", hidden);
      layer.layer_norm("ln_mlp", hidden);
    } else {
      layer.layer_norm("input_layernorm", hidden);
    }
    fused_self_attention(layer, "self_attention", "query_key_value",
                         {.heads = heads,
                          .kv_heads = kv_heads,
                          .head_dim = head_dim,
                          .qkv_bias = bias,
                          .out_bias = bias,
                          .rotary = !config.flag("alibi", false),
                          .out = "dense"});
    if (!parallel) layer.layer_norm("post_attention_layernorm", hidden);
    plain_mlp(layer, "mlp",
              {.width = ffn,
               .activation = read_activation(config, "activation", Activation::gelu),
               .bias = bias,
               .up = "dense_h_to_4h",
               .down = "dense_4h_to_h"});
  });
  text.outside().layer_norm("ln_f", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// Falcon (arXiv 2311.16867), under its first names too.
extern const Family family{.name = "falcon",
                           .model_types = {"falcon", "RefinedWeb", "RefinedWebModel"},
                           .class_stems = {"Falcon", "RW"},
                           .read = read};

}  // namespace flopwatt::model::families::falcon
