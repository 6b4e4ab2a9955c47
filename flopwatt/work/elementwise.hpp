#pragma once

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/work/workload.hpp"

/// How often elementwise work crosses the memory bus.  Fused, each operand crosses once.  Eager is one kernel an
/// operator, as PyTorch with Hugging Face modules runs without a compiler: each intermediate result is written and
/// read again, and 16-bit norms, softmax and losses pass through fp32 copies.  The eager numbers are read off those
/// modules' operators (forward) and the operators' gradients (backward):
///
///   reads + writes of an element      fused fwd  fused bwd    eager fwd            eager bwd
///   layer norm                        1 + 1      2 + 1        1 + 1                2 + 1
///   RMS norm, fp32                    1 + 1      2 + 1        4 + 3                13 + 8
///   RMS norm, 16 bits (N, fp32 W)     1 + 1 N    2 + 1 N      2 + 2 N, 4 + 3 W     5 + 3 N, 10 + 7 W
///   gelu, silu, relu                  1 + 1      2 + 1        1 + 1                2 + 1
///   gelu_tanh (written out)           1 + 1      2 + 1        10 + 8               20 + 16
///   act(gate) · up (silu)             2 + 1      3 + 2        3 + 2                6 + 3
///   residual addition                 2 + 1      2 + 1        2 + 1                2 + 1
///   rotation of q or k                1 + 1      1 + 1        5½ + 4½              5½ + 4½
///   joining the heads                 -          -            1 + 1                1 + 1
///   softmax of eager attention        1 + 1 N    2 + 1 N      3 + 3 N, 1 + 1 W     2 + 2 N, 3 + 2 W
///   cross-entropy                     1 + 0 N    1 + 1 N      1 + 0 N, 1 + 2 W     0 + 1 N, 3 + 2 W
///   AdamW: weights, gradients, states 1 + 1, 1, 2 + 2         2 + 2, 2, 8 + 6 (20 passes over the parameters)

namespace flopwatt::work {

/// Bits that one element moves.
struct Traffic {
  int read = 0, written = 0;                    ///< forward
  int backward_read = 0, backward_written = 0;  ///< backward
};

/// A norm's input element; `bits` those of the activations.
[[nodiscard]] Traffic norm_traffic(model::Norm norm, Execution execution, int bits) noexcept;
/// An element of the activation function's result; a gated one reads gate and up.
[[nodiscard]] Traffic activation_traffic(model::Activation activation, bool gated, Execution execution,
                                         int bits) noexcept;
/// An element of the residual stream, one addition; its gradient is the sum of two paths.
[[nodiscard]] Traffic residual_traffic(int bits) noexcept;
/// A rotated element of queries or keys.
[[nodiscard]] Traffic rotary_traffic(Execution execution, int bits) noexcept;
/// A score of eager attention between the two products: scale, mask, softmax.
[[nodiscard]] Traffic softmax_traffic(Execution execution, int bits) noexcept;
/// A logit of the cross-entropy.
[[nodiscard]] Traffic loss_traffic(Execution execution, int bits) noexcept;

/// Elementwise FLOPs of one element, forward; an exponential, a root or a comparison counts as one.
[[nodiscard]] int norm_flops(model::Norm norm) noexcept;
[[nodiscard]] int activation_flops(model::Activation activation, bool gated) noexcept;
inline constexpr int kRotaryFlops = 3;   ///< two multiplications, one addition
inline constexpr int kSoftmaxFlops = 5;  ///< scale, maximum, subtract, exponential, divide
inline constexpr int kLossFlops = 5;     ///< maximum, subtract, exponential, sum, logarithm or its share

/// What the optimizer's update moves, in accesses of one element of each buffer.
struct UpdateTraffic {
  int weights_read = 1, weights_written = 1, gradients_read = 1, states_read = 0, states_written = 0;
  int flops = 0;
};
/// Eager is the multi-tensor form of PyTorch's optimizers (foreach), one pass over the buffers an operator, whose
/// temporary counts as a state; the 8-bit optimizer is a fused kernel everywhere.
[[nodiscard]] UpdateTraffic update_traffic(Optimizer optimizer, Execution execution) noexcept;

}  // namespace flopwatt::work
