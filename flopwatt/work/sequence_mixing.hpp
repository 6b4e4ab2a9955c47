#pragma once

#include "flopwatt/work/plan.hpp"
#include "flopwatt/work/row_writer.hpp"

/// The work that no tensor shape tells: scores and values, index scores, state updates, and the caches they keep.

namespace flopwatt::work {

/// Scores and values of one attention of a block, its sparse index, its softmax and rotation.
void write_attention(const Plan& plan, const Run& run, const model::Block& block, const model::Attention& attention,
                     const LayerCounts& layers, RowWriter& writer);

/// State update and causal convolution of a recurrence.
void write_recurrence(const Plan& plan, const Run& run, const model::Recurrence& recurrence, const LayerCounts& layers,
                      RowWriter& writer);

/// Elements that one position of one layer takes in the cache, on one device of `tensor` that share the heads: K and V
/// of the key-value heads; of multi-head latent attention the latent and its rotary key (whole on every device); the
/// keys of a sparse index beside them.
struct CachedElements {
  Integer keys_values = 0;
  Integer index = 0;
};
[[nodiscard]] CachedElements cached_elements(const model::Attention& attention, std::int64_t tensor) noexcept;

/// Elements of the state that one sequence keeps in one layer, whatever its length: the recurrent state and the last
/// kernel − 1 inputs of the convolution.
[[nodiscard]] Integer state_elements(const model::Recurrence& recurrence) noexcept;

}  // namespace flopwatt::work
