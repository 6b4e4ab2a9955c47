#pragma once

#include "flopwatt/work/plan.hpp"

/// Activations that one layer keeps for its backward pass (see Memory in ledger.hpp for the rule and its source).

namespace flopwatt::work {

/// Bytes, of one layer of a block over all rows of a run on one device.
struct KeptActivations {
  Integer linear = 0;  ///< what grows with the tokens
  Integer scores = 0;  ///< what grows with their square: eager attention's probabilities
  Integer input = 0;   ///< the layer's input: all that full recompute keeps
};
[[nodiscard]] KeptActivations kept_activations(const Plan& plan, const Run& run, const model::Block& block);

/// Bytes of the widest moment of a layer in inference: the residual stream twice, one operation's input and output,
/// and in eager attention the scores.
[[nodiscard]] Integer widest_moment(const Plan& plan, const Run& run, const model::Block& block);

}  // namespace flopwatt::work
