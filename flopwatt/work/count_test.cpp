#include <gtest/gtest.h>

#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/testing/architectures.hpp"

namespace flopwatt::work {
namespace {

using units::Count;

Totals totals_of(const model::Architecture& architecture, const Workload& workload) {
  const Result<Ledger> ledger = count(architecture, workload);
  EXPECT_TRUE(ledger.has_value()) << ledger.error().message();
  return ledger ? ledger->totals() : Totals{};
}

Workload prefill(std::int64_t tokens) { return {.phase = Phase::prefill, .sequence = tokens}; }
Workload train(std::int64_t batch, std::int64_t tokens) { return {.batch = batch, .sequence = tokens}; }

// Qwen2.5-1.5B.  Products of a layer: q, o 2·1536², k, v 2·1536·256, MLP 3·1536·8960 = 46,792,704; 28 of them are
// 1,310,195,712.  Head 1536·151936 = 233,373,696.  Scores and values 4·12·128·28 = 172,032 FLOPs a pair.
const model::Architecture& qwen() {
  static const model::Architecture architecture = testing::dense(testing::kQwen25_1B5);
  return architecture;
}

TEST(Count, TheHandMadeModelHasTheRightParameters) {
  const model::Census census = model::census(qwen());
  EXPECT_EQ(census.total, 1'543'714'304);
  EXPECT_EQ(census.body, 1'310'340'608);
  EXPECT_EQ(model::census(testing::deepseek_v3()).total, 671'026'419'200);
  EXPECT_EQ(model::census(testing::mixtral_8x7b()).total, 46'702'792'704);
}

TEST(Count, AForwardPassIsItsProductsTheHeadAndThePairs) {
  for (const std::int64_t n : {1, 11, 4096, 131072}) {
    const Totals totals = totals_of(qwen(), prefill(n));
    EXPECT_EQ(totals.forward, Count{2} * 1'310'195'712 * n + 466'747'392 + Count{172'032} * n * n);
    EXPECT_EQ(totals.lm_head_forward, 466'747'392);
    EXPECT_EQ(totals.attention_forward, Count{172'032} * n * n);
    EXPECT_EQ(totals.body_forward, Count{2} * 1'310'195'712 * n);
    EXPECT_EQ(totals.backward, 0);
    EXPECT_EQ(totals.tokens, n);
  }
}

TEST(Count, EveryBodyParameterAsAProduct) {
  Workload w = prefill(1000);
  w.body = BodyCount::parameters;
  EXPECT_EQ(totals_of(qwen(), w).body_forward, Count{2} * 1'310'340'608 * 1000);
}

TEST(Count, TrainingIsThreeTimesItsForwardPass) {
  const Totals totals = totals_of(qwen(), train(3, 512));
  const Count tokens = 3 * 512;
  const Count forward = Count{2} * (1'310'195'712 + 233'373'696) * tokens + Count{172'032} * 512 * 512 * 3;
  EXPECT_EQ(totals.forward, forward);
  EXPECT_EQ(totals.backward, forward * 2);
  EXPECT_EQ(totals.step, forward * 3);
}

TEST(Count, BytesOfATrainingStepByKind) {
  // Weights, 16 bits: every product reads its own in the forward and the backward pass; the look-up reads one row a
  // token; norms and biases go along with both passes; the update reads and writes each parameter.  Gradients are
  // written once and read once; two fp32 states are read and written.
  Workload w = train(1, 11);
  const Totals totals = totals_of(qwen(), w);
  const Count parameters = 1'543'714'304;
  const Count read_in_a_pass = parameters * 2;  // the tied embedding is read by the head's product
  const Count looked_up = Count{11} * 1536 * 2;
  EXPECT_EQ(totals.bytes[ByteKind::weights], read_in_a_pass * 2 + looked_up * 2 + parameters * 4);
  EXPECT_EQ(totals.bytes[ByteKind::gradients], parameters * 4);
  EXPECT_EQ(totals.bytes[ByteKind::optimizer], parameters * 2 * 4 * 2);
  EXPECT_EQ(totals.bytes[ByteKind::kv_cache], 0);
  // Logits: written by the head, read by the loss, read again and replaced by their gradient, which two products read.
  EXPECT_EQ(totals.bytes[ByteKind::logits], Count{11} * 151936 * 2 * 6);
}

TEST(Count, DecodeReadsEveryWeightAndEachPositionOnce) {
  const Result<Ledger> ledger = count(qwen(), {.phase = Phase::decode, .sequence = 1000});
  ASSERT_TRUE(ledger.has_value());
  const Totals totals = ledger->totals();
  EXPECT_EQ(totals.forward, Count{2} * 1'310'195'712 + 466'747'392 + Count{172'032} * 1000);
  EXPECT_EQ(totals.bytes[ByteKind::kv_cache], Count{28'672} * 1000);
  EXPECT_EQ(totals.bytes[ByteKind::weights], Count{3'087'428'608} + 1536 * 2);  // and the looked-up row
  EXPECT_EQ(totals.tokens, 1);
}

TEST(Count, CacheOfAToken) {
  // 28 layers · 2 heads · 128 · (K and V) · 2 bytes
  EXPECT_EQ(kv_cache_bytes_per_token(qwen(), units::Precision::bfloat16), 28'672);
  EXPECT_EQ(kv_cache_bytes_per_token(qwen(), units::Precision::fp8), 14'336);
}

TEST(Count, SizesOutOfRangeNameTheirOption) {
  const auto error = [&](const Workload& w) { return count(qwen(), w).error(); };
  EXPECT_EQ(error({.sequence = 0}).where, "--seq");
  EXPECT_EQ(error({.sequence = -4}).where, "--seq");
  EXPECT_EQ(error({.sequence = 1'000'000'000'000}).where, "--seq");
  EXPECT_EQ(error({.batch = 0, .sequence = 1}).where, "--batch");
  EXPECT_EQ(error({.batch = INT64_MIN, .sequence = 1}).where, "--batch");
  EXPECT_EQ(error({.phase = Phase::generate, .sequence = 1}).where, "--new-tokens");
  EXPECT_EQ(error({.sequence = 1, .sequence_lengths = {3, 0}}).where, "--seq-lengths");
  EXPECT_EQ(error({.sequence = 0}).code, Errc::usage);
}

TEST(Count, TotalsAreTheSumsOfTheRows) {
  for (const model::Architecture& model : {qwen(), testing::deepseek_v3()}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const Ledger ledger =
          *count(model, {.batch = 2, .sequence = 64, .kernel = Kernel::eager, .recompute = recompute});
      const Totals sums = Ledger{ledger.rows(), ledger.tokens()}.totals();
      EXPECT_EQ(ledger.totals().forward, sums.forward);
      EXPECT_EQ(ledger.totals().backward, sums.backward);
      EXPECT_EQ(ledger.totals().step, sums.step);
      EXPECT_EQ(ledger.totals().hardware_step, sums.hardware_step);
      EXPECT_EQ(ledger.totals().attention_forward, sums.attention_forward);
      EXPECT_EQ(ledger.totals().lm_head_forward, sums.lm_head_forward);
      EXPECT_EQ(ledger.totals().body_forward, sums.body_forward);
      EXPECT_EQ(ledger.totals().elementwise, sums.elementwise);
      EXPECT_EQ(ledger.totals().bytes.by_kind, sums.bytes.by_kind);
      EXPECT_EQ(ledger.totals().bytes.total, sums.bytes.total);
      EXPECT_EQ(ledger.totals().tokens, sums.tokens);
    }
  }
}

TEST(Count, AStepAtOnceIsItsParts) {
  const Workload w{.batch = 2, .sequence = 64};
  const StepCount step = *count_step(qwen(), w);
  EXPECT_EQ(step.totals.step, count(qwen(), w)->totals().step);
  EXPECT_EQ(step.totals.bytes.total, step.ledger.totals().bytes.total);
  EXPECT_EQ(step.memory.total, memory(qwen(), w)->total);
}

TEST(Count, MemoryOfTraining) {
  const Result<Memory> memory_of = memory(qwen(), train(1, 11));
  ASSERT_TRUE(memory_of.has_value());
  const Count parameters = 1'543'714'304;
  EXPECT_EQ(memory_of->weights, parameters * 2);
  EXPECT_EQ(memory_of->gradients, parameters * 2);
  EXPECT_EQ(memory_of->optimizer, parameters * 8);
}

}  // namespace
}  // namespace flopwatt::work
