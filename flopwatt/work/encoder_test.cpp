#include "flopwatt/work/encoder.hpp"

#include <gtest/gtest.h>

#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"
#include "flopwatt/work/traffic.hpp"

namespace flopwatt::work {
namespace {

using testing::totals_of;
using units::Count;

TEST(Encoder, ADecoderHasNone) {
  const model::Architecture model = testing::dense({});
  EXPECT_EQ(encoder_of(model), nullptr);
  EXPECT_EQ(encoder_positions(model), std::nullopt);
}

// A dense model has nothing that --ep could spread, whatever else divides or not.
TEST(Encoder, ExpertsOfADenseModelAreNamedFirst) {
  const model::Architecture model = testing::dense({});
  const Error error = count(model, {.phase = Phase::prefill, .sequence = 4, .parallel = {.expert = 2}}).error();
  EXPECT_EQ(error.where, "--ep");
  EXPECT_EQ(error.what, "the model has no experts to spread");
}

// Mixtral with a bias of each expert's result, 32 layers · 8 experts · 4096.  One token reaches two experts: their
// biases, 32 · 2 · 4096 · 2 bytes, are read with the experts, and of all weights the norms read their own two alone.
TEST(ExpertBiases, ThoseOfExpertsThatNoTokenReachesAreNotRead) {
  model::Architecture model = testing::mixtral_8x7b();
  model::Tensor bias = testing::vector("model.layers.{layer}.block_sparse_moe.experts.bias", "experts.down",
                                       model::Component::experts, model::Use::bias, 8 * 4096);
  model.stacks.front().blocks.front().tensors.push_back(bias);
  const Workload decode{.phase = Phase::decode, .sequence = 100};
  const Ledger ledger = count(model, decode).value();
  EXPECT_EQ(testing::row_of(ledger, "experts.dispatch").read(ByteKind::weights), 32 * 2 * 4096 * 2);
  EXPECT_EQ(testing::row_of(ledger, "norm+residual").read(ByteKind::weights), 32 * 2 * 4096 * 2);
  // The published mean takes the whole embedding of 32,000 rows, of which a step reads one.
  EXPECT_EQ(weight_traffic(model, decode).value().weights,
            ledger.totals().bytes.by_kind[static_cast<std::size_t>(ByteKind::weights)] + Count{31'999} * 4096 * 2);
  // Five tokens may reach all eight; training writes every gradient: 32 · 8 · 4096 · 2 bytes.
  const Ledger many = count(model, {.phase = Phase::decode, .batch = 5, .sequence = 100}).value();
  EXPECT_EQ(testing::row_of(many, "experts.dispatch").read(ByteKind::weights), 32 * 8 * 4096 * 2);
  const Ledger step = count(model, {.sequence = 1}).value();
  EXPECT_EQ(testing::row_of(step, "experts.dispatch", Pass::backward).written(ByteKind::gradients), 32 * 8 * 4096 * 2);
}

}  // namespace
}  // namespace flopwatt::work
