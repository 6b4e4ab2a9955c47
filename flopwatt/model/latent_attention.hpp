#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/module.hpp"

namespace flopwatt::model {

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): queries and keys through low-rank projections, of which
/// the key and value side is all that the cache holds.
struct LatentAttentionSpec {
  std::int64_t heads = 0;
  LatentAttention ranks;
  bool bias = false;                  ///< on the projections into the ranks and on the output
  std::optional<SparseIndex> sparse;  ///< without heads: the layer takes the keys that an earlier one has picked
};

/// q_proj, or q_a_proj, q_a_layernorm and q_b_proj; kv_a_proj_with_mqa, kv_a_layernorm, kv_b_proj; indexer.wq_b, wk,
/// k_norm and weights_proj; o_proj.
void latent_attention(Layer& layer, std::string_view name, const LatentAttentionSpec& spec);

}  // namespace flopwatt::model
