#include "flopwatt/work/elementwise.hpp"

namespace flopwatt::work {
namespace {

using model::Activation;
using model::Norm;

constexpr int kWide = 32;  // bits of the fp32 copies

constexpr Traffic times(Traffic accesses, int bits) noexcept {
  return {accesses.read * bits, accesses.written * bits, accesses.backward_read * bits,
          accesses.backward_written * bits};
}

// Narrow accesses and fp32 accesses.  In fp32 the copies between them vanish; `casts` gives the counts of that case.
constexpr Traffic mixed(Traffic narrow, Traffic wide, Traffic without_casts, int bits) noexcept {
  if (bits >= kWide) return times(without_casts, kWide);
  const Traffic n = times(narrow, bits);
  const Traffic w = times(wide, kWide);
  return {n.read + w.read, n.written + w.written, n.backward_read + w.backward_read,
          n.backward_written + w.backward_written};
}

}  // namespace

Traffic norm_traffic(Norm norm, Execution execution, int bits) noexcept {
  // One kernel: input in, result out; backward: input and gradient in, gradient out.
  constexpr Traffic kOnce{1, 1, 2, 1};
  if (norm == Norm::none) return {};
  if (norm == Norm::layer_norm || execution == Execution::fused) return times(kOnce, bits);
  // RMSNorm written out: to fp32, square, mean, times root, to 16 bits, times weight.  Backward: the weight's product
  // (two gradients), both casts, the product with the root (two gradients), the square's gradient in three kernels,
  // and the sum of the two paths to the input.
  return mixed({2, 2, 5, 3}, {4, 3, 10, 7}, {4, 3, 13, 8}, bits);
}

Traffic activation_traffic(Activation activation, bool gated, Execution execution, int bits) noexcept {
  if (activation == Activation::none) return {};
  Traffic accesses{1, 1, 2, 1};  // one kernel
  if (execution == Execution::fused) {
    if (gated) accesses = {2, 1, 3, 2};
    return times(accesses, bits);
  }
  switch (activation) {
    case Activation::gelu_tanh:
      accesses = {10, 8, 20, 16};
      break;  // eight kernels, two of them with two inputs
    case Activation::quick_gelu:
      accesses = {4, 3, 8, 6};
      break;  // scale, sigmoid, product
    case Activation::relu_squared:
      accesses = {2, 2, 4, 2};
      break;
    default:
      break;
  }
  if (gated) {  // act(gate) written and read again by the product; its backward makes two gradients
    accesses.read += 2;
    accesses.written += 1;
    accesses.backward_read += 4;
    accesses.backward_written += 2;
  }
  return times(accesses, bits);
}

Traffic residual_traffic(int bits) noexcept { return times({2, 1, 2, 1}, bits); }

Traffic rotary_traffic(Execution execution, int bits) noexcept {
  if (execution == Execution::fused) return times({1, 1, 1, 1}, bits);
  // Half negated, halves joined, two products, one sum (tables of cosines and sines are small): 5½ reads, 4½ writes;
  // the same kernels run backwards.
  return {11 * bits / 2, 9 * bits / 2, 11 * bits / 2, 9 * bits / 2};
}

Traffic softmax_traffic(Execution execution, int bits) noexcept {
  if (execution == Execution::fused) return times({1, 1, 2, 1}, bits);
  // Scale; add the mask; softmax into fp32; back to 16 bits.  Backward without the mask's sum.
  return mixed({3, 3, 2, 2}, {1, 1, 3, 2}, {3, 3, 3, 2}, bits);
}

Traffic loss_traffic(Execution execution, int bits) noexcept {
  if (execution == Execution::fused) return times({1, 0, 1, 1}, bits);
  // To fp32; log-softmax.  Backward: the scattered gradient is written, log-softmax's gradient made, back to 16 bits.
  return mixed({1, 0, 0, 1}, {1, 2, 3, 2}, {1, 1, 2, 2}, bits);
}

int norm_flops(Norm norm) noexcept {
  switch (norm) {
    case Norm::none:
      return 0;
    case Norm::rms_norm:
      return 4;  // square, sum, times root, times weight
    case Norm::layer_norm:
      return 7;  // and mean: sum, subtract, plus bias
  }
  return 0;
}

int activation_flops(Activation activation, bool gated) noexcept {
  int flops = 0;
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      flops = 1;
      break;
    case Activation::relu_squared:
      flops = 2;
      break;
    case Activation::silu:
      flops = 4;
      break;  // negate, exponential, add, divide
    case Activation::quick_gelu:
      flops = 5;
      break;
    case Activation::gelu:
      flops = 5;
      break;
    case Activation::gelu_tanh:
      flops = 9;
      break;
  }
  return flops + (gated ? 1 : 0);
}

UpdateTraffic update_traffic(Optimizer optimizer, Execution execution) noexcept {
  UpdateTraffic result;
  const bool eager = execution == Execution::eager;
  switch (optimizer) {
    case Optimizer::none:
      return {0, 0, 0, 0, 0, 0};
    case Optimizer::sgd:
      result.flops = 2;
      return result;
    case Optimizer::sgd_momentum:
      // Eager: scale the momentum, add the gradient, add it to the weights.
      result.states_read = eager ? 3 : 1;
      result.states_written = eager ? 2 : 1;
      result.flops = 4;
      return result;
    case Optimizer::adamw:
      result.flops = 15;
      if (!eager) {
        result.states_read = result.states_written = 2;
        return result;
      }
      // Decay the weights; move the first moment to the gradient; scale the second; add the gradient's square; take
      // its root into a temporary; divide that; add epsilon; weights += first / temporary.
      result.weights_read = result.weights_written = 2;
      result.gradients_read = 2;
      result.states_read = 2 + 3 + 3;
      result.states_written = 1 + 2 + 3;
      return result;
    case Optimizer::adamw_8bit:
      result.flops = 15;
      result.states_read = result.states_written = 2;
      return result;
  }
  return result;
}

}  // namespace flopwatt::work
