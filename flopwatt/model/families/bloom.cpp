#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::bloom {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size({"n_embed", "hidden_size"});
  const std::int64_t layers = config.layers({"n_layer", "num_hidden_layers"});
  const std::int64_t heads = config.size({"n_head", "num_attention_heads"});
  const std::int64_t head_dim = divide_heads(config, "n_head", hidden, heads);

  StackBuilder text{draft, hidden, "transformer."};
  text.token_embedding("word_embeddings", vocabulary);
  text.outside().layer_norm("word_embeddings_layernorm", hidden);
  text.layers(layers, "h", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", hidden);
    fused_self_attention(layer, "self_attention", "query_key_value",
                         {.heads = heads,
                          .kv_heads = heads,
                          .head_dim = head_dim,
                          .qkv_bias = true,
                          .out_bias = true,
                          .rotary = false,  // alibi
                          .out = "dense"});
    layer.layer_norm("post_attention_layernorm", hidden);
    plain_mlp(
        layer, "mlp",
        {.width = 4 * hidden, .activation = Activation::gelu_tanh, .up = "dense_h_to_4h", .down = "dense_4h_to_h"});
  });
  text.outside().layer_norm("ln_f", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// BLOOM (arXiv 2211.05100): alibi positions and a norm behind the embedding.
extern const Family family{.name = "bloom", .model_types = {"bloom"}, .class_stems = {"Bloom"}, .read = read};

}  // namespace flopwatt::model::families::bloom
