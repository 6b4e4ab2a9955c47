#include "flopwatt/work/pairs.hpp"

#include <algorithm>

namespace flopwatt::work {
namespace {

using I = PairCount;

// Sums of the first n numbers, of the first n sums, and of the first n squares.
constexpr I triangle(I n) { return n * (n + 1) / 2; }
constexpr I tetrahedron(I n) { return n * (n + 1) * (n + 2) / 6; }
constexpr I pyramid(I n) { return n * (n + 1) * (2 * n + 1) / 6; }

bool unbounded(Reach reach, I n) { return reach.kind == Reach::Kind::everything || n <= reach.bound; }

// Σ_{p≤n} of the keys that position p sees.
I causal(Reach reach, I n) {
  if (unbounded(reach, n)) return triangle(n);
  const I b = reach.bound;
  if (reach.kind == Reach::Kind::window) return triangle(b) + (n - b) * b;
  return n / b * triangle(b) + triangle(n % b);
}

// Σ_{m≤n} causal(m)
I causal_sum(Reach reach, I n) {
  if (unbounded(reach, n)) return tetrahedron(n);
  const I b = reach.bound;
  if (reach.kind == Reach::Kind::window) return tetrahedron(b) + (n - b) * triangle(b) + b * triangle(n - b);
  const I chunks = n / b;
  const I rest = n % b;
  return b * triangle(b) * (chunks * (chunks - 1) / 2) + chunks * tetrahedron(b) + rest * chunks * triangle(b) +
         tetrahedron(rest);
}

I full(Reach reach, I n) {
  if (unbounded(reach, n)) return n * n;
  const I b = reach.bound;
  if (reach.kind == Reach::Kind::window) return n * b;
  return n / b * b * b + (n % b) * (n % b);
}

I full_sum(Reach reach, I n) {
  if (unbounded(reach, n)) return pyramid(n);
  const I b = reach.bound;
  if (reach.kind == Reach::Kind::window) return pyramid(b) + b * (triangle(n) - triangle(b));
  const I chunks = n / b;
  const I rest = n % b;
  return b * b * b * (chunks * (chunks - 1) / 2) + chunks * pyramid(b) + rest * chunks * b * b + pyramid(rest);
}

// Twice the half convention: S² within the bound, where it equals `full`.
I twice_half(Reach reach, I n) {
  if (unbounded(reach, n) || reach.kind == Reach::Kind::chunk) return full(reach, n);
  const I b = reach.bound;
  return b * b + 2 * (n - b) * b;
}

I twice_half_sum(Reach reach, I n) {
  if (unbounded(reach, n) || reach.kind == Reach::Kind::chunk) return full_sum(reach, n);
  const I b = reach.bound;
  return pyramid(b) + (n - b) * b * b + 2 * b * triangle(n - b);
}

}  // namespace

Reach reach(const model::Attention& attention) noexcept {
  if (attention.chunk) return {Reach::Kind::chunk, *attention.chunk};
  if (attention.window && attention.sparse) {
    return {Reach::Kind::window, std::min(*attention.window, attention.sparse->top_k)};
  }
  if (attention.window) return {Reach::Kind::window, *attention.window};
  if (attention.sparse) return {Reach::Kind::window, attention.sparse->top_k};
  return {};
}

PairCount twice_pairs(Reach reach, bool is_causal, MaskConvention mask, std::int64_t length) noexcept {
  if (!is_causal || mask == MaskConvention::full) return 2 * full(reach, length);
  return mask == MaskConvention::causal ? 2 * causal(reach, length) : twice_half(reach, length);
}

PairCount twice_pairs_sum(Reach reach, bool is_causal, MaskConvention mask, std::int64_t first,
                          std::int64_t last) noexcept {
  const I before = first - 1;
  if (!is_causal || mask == MaskConvention::full) return 2 * (full_sum(reach, last) - full_sum(reach, before));
  if (mask == MaskConvention::causal) return 2 * (causal_sum(reach, last) - causal_sum(reach, before));
  return twice_half_sum(reach, last) - twice_half_sum(reach, before);
}

PairCount keys_sum(Reach reach, std::int64_t first, std::int64_t last) noexcept {
  return causal(reach, last) - causal(reach, first - 1);
}

}  // namespace flopwatt::work
