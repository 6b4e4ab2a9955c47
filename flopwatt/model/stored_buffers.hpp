#pragma once

#include <cstdint>
#include <string_view>

#include "flopwatt/model/architecture.hpp"

namespace flopwatt::model {

/// Tables that old checkpoints hold although they are computed, not trained: the census leaves them out and names them.

/// Frequencies of the rotary positions: rotary_dim / 2 in each of `copies` modules.
void exclude_rotary_buffers(Architecture& model, std::int64_t copies, std::int64_t rotary_dim);

/// Causal masks [1, 1, positions, positions] and a scalar in each layer's module `attention`, as MODULE.bias and
/// MODULE.masked_bias.
void exclude_mask_buffers(Architecture& model, std::string_view attention, std::int64_t layers, std::int64_t positions);

}  // namespace flopwatt::model
