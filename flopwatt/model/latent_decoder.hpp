#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "flopwatt/model/family.hpp"
#include "flopwatt/model/latent_attention.hpp"

namespace flopwatt::model {

/// What tells DeepSeek's decoders with latent attention apart (arXiv 2405.04434, 2412.19437): defaults of their config
/// classes, and a few habits.
struct LatentDecoder {
  std::int64_t vocabulary = 0, hidden = 0, layers = 0, heads = 0, ffn = 0;
  LatentAttention ranks;
  std::int64_t experts = 0, expert_width = 0, shared_experts = 0, dense_layers = 0;
  std::optional<std::int64_t> top_k;  ///< absent: the class has no default
  bool selection_bias = true;         ///< the router's e_score_correction_bias, unless topk_method says otherwise
};

/// The index of each layer's attention; empty: none.
using LayerIndexes = std::vector<SparseIndex>;

/// Reads such a decoder.
void read_latent_decoder(Draft& draft, const LatentDecoder& defaults, const LayerIndexes& indexes = {});

/// The shape of a sparse index (DeepSeek-V3.2).
[[nodiscard]] SparseIndex read_sparse_index(const ConfigReader& config, const SparseIndex& defaults);

}  // namespace flopwatt::model
