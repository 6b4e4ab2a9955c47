#pragma once

#include <cstdint>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/work/workload.hpp"

/// Query-key pairs of attention in closed form: no function here loops over tokens.

namespace flopwatt::work {

/// Which keys a query can reach before any causal mask.
struct Reach {
  enum class Kind : std::uint8_t {
    everything,
    window,  ///< at most `bound` keys a query, itself included; a sparse index's top_k bounds in the same way
    chunk,   ///< the keys of the query's own chunk of `bound` positions
  };
  Kind kind = Kind::everything;
  std::int64_t bound = 0;

  friend bool operator==(const Reach&, const Reach&) = default;
};

/// The reach of an attention's scores and values.
[[nodiscard]] Reach reach(const model::Attention& attention) noexcept;

/// 128 bits hold every sum below for lengths up to 2^33.
using PairCount = __int128;

/// Twice the pairs of one pass over a sequence of `length` tokens (twice, because S²/2 need not be whole).
///   full         Σ over queries of the keys in reach, unmasked: S·min(S, W); chunks: Σ c²
///   causal       Σ over queries p of min(p, W): S(S+1)/2, or W(W+1)/2 + (S−W)·W; chunks: Σ c(c+1)/2
///   causal_half  S²/2, or W²/2 + (S−W)·W; chunks: Σ c²/2
/// An attention that is not causal has the full pairs under every convention.
[[nodiscard]] PairCount twice_pairs(Reach reach, bool causal, MaskConvention mask, std::int64_t length) noexcept;

/// Σ of twice_pairs over lengths first … last: generation without a cache.
[[nodiscard]] PairCount twice_pairs_sum(Reach reach, bool causal, MaskConvention mask, std::int64_t first,
                                        std::int64_t last) noexcept;

/// Keys that the query at position p (1 the first) sees, summed over p = first … last: decode steps.
[[nodiscard]] PairCount keys_sum(Reach reach, std::int64_t first, std::int64_t last) noexcept;

}  // namespace flopwatt::work
