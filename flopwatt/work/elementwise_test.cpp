#include "flopwatt/work/elementwise.hpp"

#include <gtest/gtest.h>

#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/testing/architectures.hpp"

namespace flopwatt::work {
namespace {

using model::Activation;
using model::Norm;
using units::Count;

TEST(Elementwise, FusedNormsCrossOnce) {
  const Traffic traffic = norm_traffic(Norm::rms_norm, Execution::fused, 16);
  EXPECT_EQ(traffic.read, 16);
  EXPECT_EQ(traffic.written, 16);
  EXPECT_EQ(traffic.backward_read, 32);
  EXPECT_EQ(traffic.backward_written, 16);
}

TEST(Elementwise, AnRmsNormWrittenOut) {
  // 16 bits: to fp32 2 + 4 bytes, square 4 + 4, mean 4, times root 4 + 4, back 4 + 2, times weight 2 + 2 = 36 bytes.
  const Traffic narrow = norm_traffic(Norm::rms_norm, Execution::eager, 16);
  EXPECT_EQ(narrow.read + narrow.written, 8 * 36);
  // fp32: square, mean, times root, times weight: seven passes of 4 bytes.
  const Traffic wide = norm_traffic(Norm::rms_norm, Execution::eager, 32);
  EXPECT_EQ(wide.read + wide.written, 8 * 28);
}

TEST(Elementwise, ALayerNormIsOneKernelEverywhere) {
  const Traffic eager = norm_traffic(Norm::layer_norm, Execution::eager, 16);
  EXPECT_EQ(eager.read + eager.written, 32);
}

TEST(Elementwise, TheWrittenOutGeluIsEighteenPasses) {
  const Traffic traffic = activation_traffic(Activation::gelu_tanh, false, Execution::eager, 16);
  EXPECT_EQ(traffic.read + traffic.written, 18 * 16);
  const Traffic silu = activation_traffic(Activation::silu, true, Execution::eager, 16);  // 2 passes, then 3
  EXPECT_EQ(silu.read + silu.written, 5 * 16);
}

TEST(Elementwise, EagerNeverMovesLess) {
  const auto no_less = [](Traffic eager, Traffic fused) {
    EXPECT_GE(eager.read + eager.written, fused.read + fused.written);
    EXPECT_GE(eager.backward_read + eager.backward_written, fused.backward_read + fused.backward_written);
  };
  for (const int bits : {16, 32}) {
    for (const Norm norm : {Norm::none, Norm::layer_norm, Norm::rms_norm}) {
      no_less(norm_traffic(norm, Execution::eager, bits), norm_traffic(norm, Execution::fused, bits));
    }
    for (const Activation a : {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::quick_gelu,
                               Activation::silu, Activation::relu, Activation::relu_squared}) {
      for (const bool gated : {false, true}) {
        no_less(activation_traffic(a, gated, Execution::eager, bits),
                activation_traffic(a, gated, Execution::fused, bits));
      }
    }
    no_less(rotary_traffic(Execution::eager, bits), rotary_traffic(Execution::fused, bits));
    no_less(softmax_traffic(Execution::eager, bits), softmax_traffic(Execution::fused, bits));
    no_less(loss_traffic(Execution::eager, bits), loss_traffic(Execution::fused, bits));
  }
}

// One token in fp32 through an untied model: what stays is passes over the parameters.  Products and norms read them
// in the forward and the backward pass, but for the embedding, of which one row is read.
TEST(Elementwise, PassesOfAnAdamWStepOverTheParameters) {
  const testing::Dense shape{
      .layers = 3, .hidden = 64, .heads = 4, .kv_heads = 2, .head_dim = 16, .width = 128, .vocabulary = 1000};
  const model::Architecture architecture = testing::dense(shape);
  const Count parameters = model::census(architecture).total;
  const Count embedding = 64'000;
  Workload w{.sequence = 1, .precision = units::Precision::float32};
  const auto weight_like = [&] {
    const Totals totals = count(architecture, w)->totals();
    return totals.bytes[ByteKind::weights] + totals.bytes[ByteKind::gradients] + totals.bytes[ByteKind::optimizer];
  };
  const Count read_twice = (parameters - embedding + 64) * 2;
  // Fused: weights read and written, gradients written and read, two states read and written: 8 passes.
  EXPECT_EQ(weight_like(), (read_twice + parameters * (2 + 2 + 4)) * 4);
  // Eager: weights 4, gradients 1 + 2, states 8 + 6: 21 passes.
  w.execution = Execution::eager;
  EXPECT_EQ(weight_like(), (read_twice + parameters * (4 + 3 + 14)) * 4);
}

TEST(Elementwise, AMasterCopyIsUpdatedInPlaceOfTheWeights) {
  const model::Architecture architecture = testing::dense({});
  const Count parameters = model::census(architecture).total;
  Workload w{.sequence = 1};
  const Bytes without = count(architecture, w)->totals().bytes;
  w.master_weights = true;
  const Bytes with = count(architecture, w)->totals().bytes;
  EXPECT_EQ(without[ByteKind::weights] - with[ByteKind::weights], parameters * 2);      // no longer read by the update
  EXPECT_EQ(with[ByteKind::optimizer] - without[ByteKind::optimizer], parameters * 8);  // 4 bytes read, 4 written
}

}  // namespace
}  // namespace flopwatt::work
