#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "flopwatt/model/module.hpp"

namespace flopwatt::model {

/// Multi-head, grouped-query (arXiv 2305.13245) or multi-query (arXiv 1911.02150) attention of a token with its own
/// sequence.
struct SelfAttention {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t head_dim = 0;  ///< of queries, keys and values
  bool qkv_bias = false, out_bias = false;
  std::optional<bool> k_bias;  ///< where the keys' projection differs from that
  bool causal = true;
  bool rotary = true;                  ///< queries and keys are rotated by their position
  std::optional<std::int64_t> window;  ///< keys that a query sees at most, itself included
  std::optional<std::int64_t> chunk;   ///< positions of a chunk outside of which a query sees nothing
  std::string_view q = "q_proj", k = "k_proj", v = "v_proj", out = "o_proj";

  [[nodiscard]] std::int64_t query_width() const noexcept { return heads * head_dim; }
  [[nodiscard]] std::int64_t kv_width() const noexcept { return kv_heads * head_dim; }
};

/// Four projections of their own in the module `name`, and the attention between them.
void self_attention(Layer& layer, std::string_view name, const SelfAttention& attention);

/// The same with q, k and v in one tensor [query + 2·kv, hidden] called `qkv`.
void fused_self_attention(Layer& layer, std::string_view name, std::string_view qkv, const SelfAttention& attention,
                          Layout layout = Layout::out_in);

/// The RMS norms of queries and keys that many models put behind the projections.
void query_key_norm(Layer& layer, std::string_view name, std::int64_t query_width, std::int64_t key_width);

/// Attention to the encoder's output: queries from the tokens, keys and values from the memory.  Never rotated.
void cross_attention(Layer& layer, std::string_view name, const SelfAttention& attention);

/// Scores and values only, for a layer that lists its projections itself.
void attend(Layer& layer, const SelfAttention& attention);

}  // namespace flopwatt::model
