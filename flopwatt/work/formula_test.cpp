#include "flopwatt/work/formula.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"
#include "flopwatt/work/traffic.hpp"

namespace flopwatt::work {
namespace {

using units::Count;

constexpr std::array kFormulas{Formula::palm, Formula::sixn, Formula::megatron, Formula::megatron_2021};

// The shape that the old formulas think of: heads as wide as the layer, MLP of 4h without a gate, tied head.
const model::Architecture& gpt() {
  static const model::Architecture architecture = testing::dense({.layers = 24,
                                                                  .hidden = 1024,
                                                                  .heads = 16,
                                                                  .kv_heads = 16,
                                                                  .head_dim = 64,
                                                                  .width = 4096,
                                                                  .vocabulary = 50304,
                                                                  .gated = false,
                                                                  .tied = true});
  return architecture;
}

TEST(Formula, PalmAndSixN) {
  const model::Architecture qwen = testing::dense(testing::kQwen25_1B5);
  EXPECT_EQ(sixn_flops_per_token(qwen), Count{6} * 1'543'714'304);
  // 12·28·12·128·T
  EXPECT_EQ(palm_flops_per_token(qwen, 4096), Count{6} * 1'543'714'304 + Count{12} * 28 * 12 * 128 * 4096);
  // A mixture of experts counts its active parameters.
  const model::Architecture mixtral = testing::mixtral_8x7b();
  EXPECT_EQ(sixn_flops_per_token(mixtral), Count{6} * model::census(mixtral).active);
}

TEST(Formula, CausesAddUpToTheDifference) {
  for (const model::Architecture& model :
       {gpt(), testing::dense(testing::kLlama2_70B), testing::mixtral_8x7b(), testing::deepseek_v3()}) {
    for (const Formula formula : kFormulas) {
      const Workload w{.batch = 2, .sequence = 512};
      const Comparison c = *compare(model, w, formula);
      EXPECT_EQ(c.difference.sum(), c.formula_step - c.exact_step) << name(formula);
      EXPECT_EQ(c.exact_step, testing::totals_of(model, w).step);
    }
  }
}

TEST(Formula, TheOldMegatronFormulaIsExactForTheShapeItIsMadeFor) {
  const Comparison c = *compare(gpt(), {.batch = 3, .sequence = 2048}, Formula::megatron_2021);
  EXPECT_EQ(c.formula_step, c.exact_step);
}

TEST(Formula, TheNewOneIsExactForDenseModelsWithHalfTheMask) {
  for (const model::Architecture& model : {gpt(), testing::dense(testing::kLlama2_70B)}) {
    const Workload w{.batch = 3, .sequence = 2048, .mask = MaskConvention::causal_half};
    EXPECT_EQ(compare(model, w, Formula::megatron)->formula_step, compare(model, w, Formula::megatron)->exact_step);
  }
  // Of experts it leaves out the router, of latent attention it counts a pair of FLOPs for each norm channel.
  const Workload w{.batch = 1, .sequence = 2048, .mask = MaskConvention::causal_half};
  const Comparison c = *compare(testing::deepseek_v3(), w, Formula::megatron);
  EXPECT_EQ(c.difference.experts, -Count{6} * 2048 * 7168 * 256 * 58);
  EXPECT_EQ(c.difference.gqa, Count{6} * 2048 * (1536 + 512) * 61);
  EXPECT_EQ(c.difference.sum(), c.difference.experts + c.difference.gqa);
}

TEST(Formula, CausesOfSixN) {
  const model::Architecture llama = testing::dense(testing::kLlama2_70B);
  const Comparison c = *compare(llama, {.batch = 1, .sequence = 4096}, Formula::sixn);
  const Count six = Count{6} * 4096;
  EXPECT_EQ(c.difference.embedding, six * 32000 * 8192);
  EXPECT_EQ(c.difference.head, 0);
  EXPECT_EQ(c.difference.gqa, 0);
  EXPECT_EQ(c.difference.mlp, 0);
  EXPECT_EQ(c.difference.experts, 0);
  EXPECT_EQ(c.difference.norms, six * 161 * 8192);
  EXPECT_EQ(c.difference.attention, -Count{12} * 80 * 8192 * 4096 * 4096);
  // PaLM's formula puts that back.
  EXPECT_EQ(compare(llama, {.batch = 1, .sequence = 4096}, Formula::palm)->difference.attention, 0);
}

TEST(Formula, GroupedHeadsCountedAsFullOnes) {
  // Llama-2-70B through the old formula: 24·h² of projections a layer where 8 of 64 heads keep keys and values.
  const Comparison c = *compare(testing::dense(testing::kLlama2_70B), {.sequence = 1024}, Formula::megatron_2021);
  EXPECT_EQ(c.difference.gqa, Count{6} * 1024 * 80 * 2 * 8192 * (8192 - 1024));
}

TEST(Formula, ATiedHeadIsHeldAsEmbedding) {
  const Comparison c = *compare(gpt(), {.sequence = 256}, Formula::sixn);
  EXPECT_EQ(c.difference.embedding, Count{6} * 256 * 50304 * 1024);
  EXPECT_EQ(c.difference.head, -c.difference.embedding);
}

TEST(Formula, DifferencesVanishInTheirLimits) {
  // 6N: the wider the model beside its sequence and vocabulary, the less attention, embedding and norms matter.
  double last = 1;
  for (const std::int64_t hidden : {256, 1024, 4096, 16384, 65536}) {
    const model::Architecture model = testing::dense({.layers = 8,
                                                      .hidden = hidden,
                                                      .heads = hidden / 64,
                                                      .kv_heads = hidden / 64,
                                                      .head_dim = 64,
                                                      .width = 4 * hidden,
                                                      .vocabulary = 512});
    const Comparison c = *compare(model, {.sequence = 128}, Formula::sixn);
    const double relative = std::abs((c.formula_step - c.exact_step).to_double()) / c.exact_step.to_double();
    EXPECT_LT(relative, last);
    last = relative;
  }
  EXPECT_LT(last, 1e-3);
  // PaLM's formula at length T against the exact one: what is left (embedding, norms) does not grow with T.
  const Count at_1k = compare(gpt(), {.sequence = 1024}, Formula::palm)->difference.sum() / Count{1024};
  const Count at_64k = compare(gpt(), {.sequence = 65536}, Formula::palm)->difference.sum() / Count{65536};
  EXPECT_EQ(at_1k, at_64k);
}

TEST(Formula, AnswersForTrainingOnly) {
  EXPECT_EQ(compare(gpt(), {.phase = Phase::decode, .sequence = 4}, Formula::palm).error().where, "--formula");
  EXPECT_EQ(compare(gpt(), {.sequence = 0}, Formula::palm).error().where, "--seq");
}

TEST(MixedPeak, IsWeightedByFlops) {
  // fp8 linear layers, the rest in bf16: total/Σ(F_i/P_i)
  const model::Architecture model = testing::dense(testing::kLlama2_7B);
  Workload w{.sequence = 4096};
  w.linear_precision = units::Precision::fp8;
  const Ledger ledger = *count(model, w);
  const auto flops = flops_by_precision(ledger);
  const Count linear = Count{6} * 6'476'005'376 * 4096;
  const Count total = ledger.totals().step;
  EXPECT_EQ(flops[static_cast<std::size_t>(units::Precision::fp8)], linear);
  EXPECT_EQ(flops[static_cast<std::size_t>(units::Precision::bfloat16)], total - linear);
  std::array<std::optional<units::FlopRate>, units::kPrecisions.size()> peaks;
  EXPECT_EQ(mixed_peak(ledger, peaks).error().code, Errc::usage);
  peaks[static_cast<std::size_t>(units::Precision::bfloat16)] = 989.4 * units::teraflop_per_second;
  EXPECT_NE(mixed_peak(ledger, peaks).error().what.find("fp8"), std::string::npos);
  peaks[static_cast<std::size_t>(units::Precision::fp8)] = 1978.9 * units::teraflop_per_second;
  const double f = linear.to_double();
  const double rest = (total - linear).to_double();
  EXPECT_DOUBLE_EQ(mixed_peak(ledger, peaks)->in(units::teraflop_per_second), (f + rest) / (f / 1978.9 + rest / 989.4));
}

TEST(MixedPeak, OfOnePrecisionIsItsOwn) {
  const Ledger ledger = *count(testing::dense({}), {.sequence = 4, .precision = units::Precision::float32});
  std::array<std::optional<units::FlopRate>, units::kPrecisions.size()> peaks;
  peaks[0] = 19.5 * units::teraflop_per_second;
  EXPECT_DOUBLE_EQ(mixed_peak(ledger, peaks)->in(units::teraflop_per_second), 19.5);
}

TEST(WeightTraffic, CountsEveryParameterOnce) {
  const model::Architecture llama = testing::dense(testing::kLlama2_7B);
  const Count total = model::census(llama).total * 2;
  const auto of = [&](const Workload& w) { return *weight_traffic(llama, w); };
  EXPECT_EQ(of({.sequence = 128}).total, total);
  EXPECT_EQ(of({.phase = Phase::prefill, .sequence = 128}).total, total);
  EXPECT_FALSE(of({.sequence = 128}).decode_step_mean.has_value());
  const WeightTraffic decode = of({.phase = Phase::decode, .batch = 3, .sequence = 128});
  EXPECT_EQ(decode.total, total + kv_cache_bytes_per_token(llama, units::Precision::bfloat16) * 128 * 3);
  const WeightTraffic whole = of({.phase = Phase::generate, .sequence = 8, .new_tokens = 5, .kv_cache = false});
  EXPECT_EQ(whole.total, total * 5);
  EXPECT_EQ(whole.cache, 0);
}

TEST(WeightTraffic, LeavesOutExpertsThatNoTokenReaches) {
  const model::Architecture mixtral = testing::mixtral_8x7b();
  const model::Census census = model::census(mixtral);
  const Count active = census.active * 2;  // two experts a token
  EXPECT_EQ(weight_traffic(mixtral, {.phase = Phase::decode, .sequence = 1})->weights, active);
  EXPECT_EQ(weight_traffic(mixtral, {.phase = Phase::decode, .batch = 64, .sequence = 1})->weights, census.total * 2);
}

}  // namespace
}  // namespace flopwatt::work
