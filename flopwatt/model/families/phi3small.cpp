#include "flopwatt/model/building_blocks.hpp"

namespace flopwatt::model::families::phi3small {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers("num_hidden_layers");
  const std::int64_t heads = config.size("num_attention_heads");
  const std::int64_t kv_heads = config.size("num_key_value_heads", heads);
  const std::int64_t ffn = config.size("ff_intermediate_size");
  const std::int64_t head_dim = divide_heads(config, "num_attention_heads", hidden, heads);
  check_groups(config, "num_key_value_heads", heads, kv_heads);
  config.require(!config.has("ff_dim_multiplier"), "ff_dim_multiplier",
                 "is given beside ff_intermediate_size: not supported");
  if (config.has("dense_attention_every_n_layers")) {
    config.note("block-sparse attention layers count as if every query saw all keys before it");
  }

  StackBuilder text{draft, hidden, "model."};
  text.token_embedding("embed_tokens", vocabulary);
  text.layers(layers, "layers", [&](Layer& layer) {
    layer.layer_norm("input_layernorm", hidden);
    fused_self_attention(layer, "self_attn", "query_key_value",
                         {.heads = heads,
                          .kv_heads = kv_heads,
                          .head_dim = head_dim,
                          .qkv_bias = true,
                          .out_bias = true,
                          .out = "dense"});
    layer.layer_norm("post_attention_layernorm", hidden);
    fused_gated_mlp(layer, "mlp", "up_proj", {.width = ffn, .activation = Activation::gelu, .bias = true});
  });
  text.outside().layer_norm("final_layernorm", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// Phi-3-small (arXiv 2404.14219): grouped queries, biases everywhere, GEGLU, block-sparse attention in most layers.
extern const Family family{
    .name = "phi3small", .model_types = {"phi3small"}, .class_stems = {"Phi3Small"}, .read = read};

}  // namespace flopwatt::model::families::phi3small
