#include "flopwatt/model/latent_attention.hpp"

namespace flopwatt::model {

void latent_attention(Layer& layer, std::string_view name, const LatentAttentionSpec& spec) {
  const LatentAttention& ranks = spec.ranks;
  const std::int64_t head_dim = ranks.nope_dim + ranks.rope_dim;
  Module module = layer / name;
  const auto project = [&](std::string_view projection, std::string_view label, std::int64_t in, std::int64_t out,
                           bool bias) {
    module.linear(
        {.name = projection, .label = label, .component = Component::attention, .in = in, .out = out, .bias = bias});
  };
  if (ranks.query_rank) {
    project("q_a_proj", "attention.q_a", layer.hidden(), *ranks.query_rank, spec.bias);
    module.rms_norm("q_a_layernorm", *ranks.query_rank);
    project("q_b_proj", "attention.q_b", *ranks.query_rank, spec.heads * head_dim, false);
  } else {
    project("q_proj", "attention.q", layer.hidden(), spec.heads * head_dim, false);
  }
  // The rotary part of the key is one for all heads and bypasses the rank.
  project("kv_a_proj_with_mqa", "attention.kv_a", layer.hidden(), ranks.kv_rank + ranks.rope_dim, spec.bias);
  module.rms_norm("kv_a_layernorm", ranks.kv_rank);
  project("kv_b_proj", "attention.kv_b", ranks.kv_rank, spec.heads * (ranks.nope_dim + ranks.value_dim), false);

  if (spec.sparse && spec.sparse->heads > 0) {
    const SparseIndex& index = *spec.sparse;
    const std::int64_t width = ranks.query_rank.value_or(layer.hidden());
    project("indexer.wq_b", "attention.index_q", width, index.heads * index.head_dim, false);
    project("indexer.wk", "attention.index_k", layer.hidden(), index.head_dim, false);
    module.layer_norm("indexer.k_norm", index.head_dim);
    project("indexer.weights_proj", "attention.index_weights", layer.hidden(), index.heads, false);
  }
  layer.part(spec.sparse ? "sparse latent attention" : "latent attention");
  layer.block().elementwise.rotary = true;
  layer.block().attentions.push_back({.query_heads = spec.heads,
                                      .kv_heads = spec.heads,
                                      .head_dim = head_dim,
                                      .value_head_dim = ranks.value_dim,
                                      .latent = ranks,
                                      .sparse = spec.sparse});
  project("o_proj", "attention.out", spec.heads * ranks.value_dim, layer.hidden(), spec.bias);
}

}  // namespace flopwatt::model
