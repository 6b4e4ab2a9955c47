// Attention as other counters got it wrong: each case is a report from a public issue, with its right answer.
#include <gtest/gtest.h>

#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"

namespace flopwatt::work {
namespace {

using testing::Dense;
using testing::totals_of;
using units::Count;

model::Architecture heads(std::int64_t query, std::int64_t key_value, std::int64_t width) {
  return testing::dense({.layers = 1, .hidden = 8, .heads = query, .kv_heads = key_value, .head_dim = width});
}

Totals forward(const model::Architecture& model, std::int64_t batch, std::int64_t tokens, MaskConvention mask) {
  return totals_of(model, {.phase = Phase::prefill, .batch = batch, .sequence = tokens, .mask = mask});
}

TEST(Attention, ScoresAndValuesOfTwelveHeads) {
  // pytorch/pytorch#195460: q = k = v (1, 12, 64, 64): 4·12·64·64²
  EXPECT_EQ(forward(heads(12, 12, 64), 1, 64, MaskConvention::full).attention_forward, 12'582'912);
}

TEST(Attention, MaskConventions) {
  // pytorch/pytorch#131041: B2 H16 S4096 D128: 4·2·16·128·4096² and its causal parts
  const model::Architecture model = heads(16, 16, 128);
  EXPECT_EQ(forward(model, 2, 4096, MaskConvention::full).attention_forward, 274'877'906'944);
  EXPECT_EQ(forward(model, 2, 4096, MaskConvention::causal_half).attention_forward, 137'438'953'472);
  EXPECT_EQ(forward(model, 2, 4096, MaskConvention::causal).attention_forward, 137'472'507'904);
}

TEST(Attention, QueryHeadsAloneCount) {
  // pytorch/pytorch#177188: q (1, 32, 1024, 128), 8 key-value heads: 4·32·128·1024²
  EXPECT_EQ(forward(heads(32, 8, 128), 1, 1024, MaskConvention::full).attention_forward, 17'179'869'184);
  EXPECT_EQ(forward(heads(32, 32, 128), 1, 1024, MaskConvention::full).attention_forward, 17'179'869'184);
}

TEST(Attention, KeyValueHeadsShrinkTheProjections) {
  // pytorch/torchtitan#2055: a 70B shape at 8192 counted with 64 key-value heads is 1.127 times the right count:
  // 80·2·8192·(8192 − 1024) = 9,395,240,960 more products a token beside 68,713,185,280 (head included) and, halved,
  // 2·8192·8192·80 = 10,737,418,240 FLOPs of attention: 1 + 18,790,481,920 / 148,163,788,800 = 1.12682
  Dense shape = testing::kLlama2_70B;
  Workload w{.batch = 1, .sequence = 8192, .mask = MaskConvention::causal_half};
  const Count right = totals_of(testing::dense(shape), w).forward;
  shape.kv_heads = 64;
  const Count wrong = totals_of(testing::dense(shape), w).forward;
  EXPECT_EQ(right, Count{148'163'788'800} * 8192);
  EXPECT_EQ(wrong - right, Count{18'790'481'920} * 8192);
  EXPECT_NEAR(wrong.to_double() / right.to_double(), 1.127, 0.0005);
}

TEST(Attention, RaggedBatchesSumOverTheirParts) {
  // pytorch/pytorch#125712: lengths [3, 5], H2 D4: 4·2·4·(9 + 25); padded to the longest it would be 1600
  const model::Architecture model = heads(2, 2, 4);
  const Workload ragged{.phase = Phase::prefill, .sequence_lengths = {3, 5}};
  EXPECT_EQ(totals_of(model, ragged).attention_forward, 1088);
  EXPECT_EQ(forward(model, 2, 5, MaskConvention::full).attention_forward, 1600);
}

TEST(Attention, ASlidingWindow) {
  // NVIDIA-NeMo/Megatron-Bridge#3029: 7,864,832 of 33,558,528 causal pairs
  model::Architecture model = heads(1, 1, 1);
  model.stacks[0].blocks[0].attentions[0].window = 1024;
  EXPECT_EQ(forward(model, 1, 8192, MaskConvention::causal).attention_forward, 4 * 7'864'832);
  EXPECT_EQ(forward(model, 1, 8192, MaskConvention::full).attention_forward, Count{4} * 8192 * 1024);
}

TEST(Attention, ALlamaStepFullAndHalved) {
  // AI-Hypercomputer/maxtext#1972: Llama-2-7B, batch 4 at 8192.  6·6,607,077,376·32,768 = 1,299.01 TF and attention
  // 12·32·4096·8192·32,768 = 422.21 TF, or half of that.
  const model::Architecture llama = testing::dense(testing::kLlama2_7B);
  Workload w{.batch = 4, .sequence = 8192};
  const Count products = Count{6} * 6'607'077'376 * 32'768;
  EXPECT_EQ(totals_of(llama, w).step, products + Count{12} * 32 * 4096 * 8192 * 32'768);
  EXPECT_NEAR(totals_of(llama, w).step.to_double() / 1e12, 1721.22, 0.005);
  w.mask = MaskConvention::causal_half;
  EXPECT_EQ(totals_of(llama, w).step, products + Count{6} * 32 * 4096 * 8192 * 32'768);
  EXPECT_NEAR(totals_of(llama, w).step.to_double() / 1e12, 1510.11, 0.005);
}

TEST(Attention, TwelveLayersTimesWidthTimesSequence) {
  // volcengine/verl#6389: GPT-2 medium at 1024: 12·24·1024·1024 = 301,989,888 a token and step, 14.2 % of 6N
  const model::Architecture gpt = testing::dense({.layers = 24,
                                                  .hidden = 1024,
                                                  .heads = 16,
                                                  .kv_heads = 16,
                                                  .head_dim = 64,
                                                  .width = 4096,
                                                  .vocabulary = 50257,
                                                  .gated = false});
  const Count step = totals_of(gpt, {.sequence = 1024}).attention_forward * 3;
  EXPECT_EQ(step, Count{301'989'888} * 1024);
  EXPECT_NEAR(301'989'888 / (6.0 * 354'823'168), 0.142, 0.0005);
}

TEST(Attention, AFlashBackwardIsFiveProducts) {
  const model::Architecture model = heads(16, 16, 128);
  const auto hardware = [&](Kernel kernel, Pass pass) {
    const Result<Ledger> ledger = count(model, {.batch = 2, .sequence = 4096, .kernel = kernel});
    return testing::row_of(*ledger, "attention.core", pass).hardware_flops;
  };
  // Causal pairs forward, 2.5 times as much backward; eager visits the whole square, twice as much backward.
  EXPECT_EQ(hardware(Kernel::flash, Pass::forward), 137'472'507'904);
  EXPECT_EQ(hardware(Kernel::flash, Pass::backward) * 2, Count{137'472'507'904} * 5);
  EXPECT_EQ(hardware(Kernel::sdpa, Pass::forward), 137'472'507'904);
  EXPECT_EQ(hardware(Kernel::eager, Pass::forward), 274'877'906'944);
  EXPECT_EQ(hardware(Kernel::eager, Pass::backward), Count{274'877'906'944} * 2);
  // The model FLOPs of the backward pass stay twice the forward ones, whatever runs.
  const Result<Ledger> ledger = count(model, {.batch = 2, .sequence = 4096, .kernel = Kernel::flash});
  EXPECT_EQ(testing::row_of(*ledger, "attention.core", Pass::backward).model_flops, Count{274'877'906'944} * 2);
}

TEST(Attention, AWindowIsAMaskToSdpa) {
  model::Architecture model = heads(1, 1, 1);
  model.stacks[0].blocks[0].attentions[0].window = 1024;
  const auto pairs = [&](Kernel kernel, std::int64_t tokens) {
    return totals_of(model, {.phase = Phase::prefill, .sequence = tokens, .kernel = kernel}).hardware_step -
           totals_of(heads(1, 1, 1), {.phase = Phase::prefill, .sequence = tokens, .kernel = kernel}).hardware_step;
  };
  // Flash skips what the window leaves out; sdpa visits the square, once the sequence is longer than the window.
  EXPECT_EQ(pairs(Kernel::flash, 8192), Count{4} * (7'864'832 - 33'558'528));
  EXPECT_EQ(pairs(Kernel::sdpa, 8192), Count{4} * (Count{8192} * 8192 - 33'558'528));
  EXPECT_EQ(pairs(Kernel::sdpa, 1024), 0);
}

TEST(Attention, SelfAttentionFlopsGrowWithTheSequence) {
  // MrYxJ/calculate-flops.pytorch#26: never the same count a token at 128 and at 4096
  const model::Architecture llama = testing::dense(testing::kLlama2_7B);
  const Count at_128 = forward(llama, 1, 128, MaskConvention::full).forward / Count{128};
  const Count at_4096 = forward(llama, 1, 4096, MaskConvention::full).forward / Count{4096};
  EXPECT_GT(at_4096, at_128);
}

}  // namespace
}  // namespace flopwatt::work
