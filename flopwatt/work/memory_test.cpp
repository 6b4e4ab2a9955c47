#include <gtest/gtest.h>

#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"

namespace flopwatt::work {
namespace {

using units::Count;

// GPT-3 175B as in Korthikanti et al. (arXiv 2205.05198), table 3: a = 96, h = 12288, L = 96, s = 2048, b = 1.
constexpr std::int64_t kTokens = 2048;
constexpr std::int64_t kHidden = 12288;
constexpr std::int64_t kHeads = 96;
constexpr std::int64_t kLayers = 96;

const model::Architecture& gpt3() {
  static const model::Architecture architecture = [] {
    testing::Dense shape{.layers = kLayers,
                         .hidden = kHidden,
                         .heads = kHeads,
                         .kv_heads = kHeads,
                         .head_dim = kHidden / kHeads,
                         .width = 4 * kHidden,
                         .vocabulary = 51200,
                         .gated = false};
    return testing::dense(shape);
  }();
  return architecture;
}

// Activations of the layers: without the inputs of the final norm and of the head, 2·2·s·b·h bytes.
Count layer_activations(Workload w) {
  const Count ends = Count{4} * kTokens * kHidden / Count{w.parallel.sequence ? w.parallel.tensor : 1};
  return memory(gpt3(), w)->activations - ends;
}

constexpr std::int64_t kSbh = kTokens * kHidden;
constexpr std::int64_t kScores = 5 * kHeads * kTokens * kTokens;  // 5·a·s²·b bytes

Workload step(Kernel kernel, Recompute recompute, std::int64_t tensor = 1, bool sequence = false) {
  Workload w{.batch = 1, .sequence = kTokens, .kernel = kernel, .recompute = recompute};
  w.parallel.tensor = tensor;
  w.parallel.sequence = sequence;
  return w;
}

TEST(Memory, ActivationsOfAGptLayerAsPublished) {
  using enum Kernel;
  const Count layers = kLayers;
  // Equation 1: s·b·h·(34 + 5·a·s/h)
  EXPECT_EQ(layer_activations(step(eager, Recompute::none)), (Count{34} * kSbh + kScores) * layers);
  // Equation 2, tensor parallel: s·b·h·(10 + 24/t + 5·a·s/(h·t))
  EXPECT_EQ(layer_activations(step(eager, Recompute::none, 8)), (Count{13} * kSbh + kScores / 8) * layers);
  // Equation 4, with sequence parallelism: s·b·h/t·(34 + 5·a·s/h)
  EXPECT_EQ(layer_activations(step(eager, Recompute::none, 8, true)),
            (Count{34} * kSbh / Count{8} + kScores / 8) * layers);
  // Table 2: selective recompute 34·s·b·h/t, and s·b·h·(10 + 24/t) without sequence parallelism
  EXPECT_EQ(layer_activations(step(eager, Recompute::selective, 8, true)), Count{34} * kSbh / Count{8} * layers);
  EXPECT_EQ(layer_activations(step(eager, Recompute::selective, 8)), Count{13} * kSbh * layers);
  // Full recompute: 2·s·b·h
  EXPECT_EQ(layer_activations(step(eager, Recompute::full)), Count{2} * kSbh * layers);
}

TEST(Memory, FusedAttentionKeepsNoScores) {
  EXPECT_EQ(layer_activations(step(Kernel::flash, Recompute::none)), Count{34} * kSbh * kLayers);
  EXPECT_EQ(layer_activations(step(Kernel::sdpa, Recompute::none)), Count{34} * kSbh * kLayers);
}

TEST(Memory, RecomputeOfSomeLayersLiesBetween) {
  Workload w = step(Kernel::flash, Recompute::full);
  w.recompute_layers = 24;
  EXPECT_EQ(layer_activations(w), Count{2} * kSbh * 24 + Count{34} * kSbh * 72);
  // While a layer is rebuilt its activations live beside the kept ones: 34 − 2.
  EXPECT_EQ(memory(gpt3(), w)->workspace, Count{32} * kSbh);
}

TEST(Memory, MicroBatchesInFlightAddUp) {
  Workload w = step(Kernel::flash, Recompute::none);
  w.parallel.pipeline = 8;
  w.parallel.in_flight = 8;
  EXPECT_EQ(memory(gpt3(), w)->activations, Count{34} * kSbh * kLayers);  // an eighth of the layers, eight times
}

TEST(Memory, AGatedLayerWithFewKeyValueHeads) {
  // Llama-3-405B, 16 bits, elements a token: norm inputs 2h, inputs of attention and MLP 2h, Q and result 2h,
  // K and V 2·1024, gate, up and their product 3·53248; no dropout.
  const model::Architecture llama = testing::dense(testing::kLlama3_405B);
  const Count elements = Count{6} * 16384 + 2 * 1024 + 3 * 53248;
  const Memory m = *memory(llama, {.sequence = 8192, .kernel = Kernel::flash});
  EXPECT_EQ(m.activations, elements * 8192 * 2 * 126 + Count{4} * 8192 * 16384);
}

TEST(Memory, OptimizersByTheirStates) {
  const Count parameters = model::census(gpt3()).total;
  const auto of = [&](Optimizer optimizer, bool master) {
    return memory(gpt3(), {.sequence = 8, .master_weights = master, .optimizer = optimizer})->optimizer;
  };
  EXPECT_EQ(of(Optimizer::adamw, false), parameters * 8);
  EXPECT_EQ(of(Optimizer::adamw, true), parameters * 12);
  EXPECT_EQ(of(Optimizer::adamw_8bit, false), parameters * 2);
  EXPECT_EQ(of(Optimizer::sgd, false), 0);
  EXPECT_EQ(of(Optimizer::sgd_momentum, false), parameters * 4);
  EXPECT_EQ(of(Optimizer::none, false), 0);
  // The public study keeps AdamW's states in the run's own type.
  EXPECT_EQ(memory(gpt3(), {.sequence = 8, .optimizer_precision = units::Precision::bfloat16})->optimizer,
            parameters * 4);
}

TEST(Memory, LogitsAndTheirLoss) {
  // 16-bit logits, fp32 log-probabilities, fp32 gradient: 10 bytes each.
  EXPECT_EQ(memory(gpt3(), step(Kernel::flash, Recompute::none))->logits, Count{kTokens} * 51200 * 10);
  EXPECT_EQ(memory(gpt3(), {.phase = Phase::prefill, .sequence = kTokens})->logits, 51200 * 2);
}

TEST(Memory, AdaptersKeepTheirOwnGradientsAndStates) {
  const model::Architecture llama = testing::dense(testing::kLlama2_7B);
  Workload w{.sequence = 8};
  w.trainable = *parse_trainable("lora:r=16,targets=q_proj,v_proj");
  const Memory m = *memory(llama, w);
  const Count adapters = 8'388'608;
  EXPECT_EQ(m.weights, (model::census(llama).total + adapters) * 2);
  EXPECT_EQ(m.gradients, adapters * 2);
  EXPECT_EQ(m.optimizer, adapters * 8);
}

TEST(Memory, InferenceHoldsWeightsCacheAndAMoment) {
  const model::Architecture llama = testing::dense(testing::kLlama2_7B);
  const Memory m = *memory(llama, {.phase = Phase::decode, .batch = 4, .sequence = 4096});
  EXPECT_EQ(m.weights, model::census(llama).total * 2);
  EXPECT_EQ(m.kv_cache, Count{4} * 4096 * 2 * 4096 * 32 * 2);
  EXPECT_EQ(m.gradients + m.optimizer + m.activations, 0);
  // Residual stream twice and the widest product, 4096 to 11008 elements.
  EXPECT_EQ(m.workspace, Count{4} * (2 * 4096 + 4096 + 11008) * 2);
  EXPECT_EQ(m.total, m.weights + m.kv_cache + m.workspace + m.logits);
}

TEST(Memory, TheCacheOfAGenerationIsItsLastContext) {
  const model::Architecture llama = testing::dense(testing::kLlama2_7B);
  const Count position = kv_cache_bytes_per_token(llama, units::Precision::bfloat16);
  EXPECT_EQ(memory(llama, {.phase = Phase::generate, .sequence = 100, .new_tokens = 29})->kv_cache, position * 128);
  EXPECT_EQ(memory(llama, {.phase = Phase::generate, .sequence = 100, .new_tokens = 29, .kv_cache = false})->kv_cache,
            0);
  EXPECT_EQ(memory(llama, {.phase = Phase::prefill, .sequence = 100})->kv_cache, position * 100);
}

TEST(Memory, AWindowBoundsTheCache) {
  model::Architecture model = testing::dense({});
  model.stacks[0].blocks[0].attentions[0].window = 6;
  const Count position = kv_cache_bytes_per_token(model, units::Precision::bfloat16);
  EXPECT_EQ(memory(model, {.phase = Phase::decode, .sequence = 4})->kv_cache, position * 4);
  EXPECT_EQ(memory(model, {.phase = Phase::decode, .sequence = 400})->kv_cache, position * 6);
}

}  // namespace
}  // namespace flopwatt::work
