// Shards: what the devices of a plan do adds up to the whole, and a plan that does not divide is refused.
#include <gtest/gtest.h>

#include <ostream>

#include "flopwatt/work/nearest_plan.hpp"
#include "flopwatt/work/testing/architectures.hpp"
#include "flopwatt/work/testing/totals.hpp"

namespace flopwatt::work {
namespace {

using units::Count;

struct Split {
  const char* what;
  Parallel parallel;
};
std::ostream& operator<<(std::ostream& out, const Split& split) { return out << split.what; }

class Shards : public ::testing::TestWithParam<Split> {};

// Sum of f over the stages, times the devices of a stage.
template <class F>
Count over_devices(const Parallel& parallel, F f) {
  Count sum;
  Parallel p = parallel;
  for (p.stage = 0; p.stage < p.pipeline; ++p.stage) sum += f(p);
  return sum * p.tensor * p.data * p.context;
}

void expect_sum(const model::Architecture& model, Workload w, const Parallel& parallel) {
  const Totals whole = testing::totals_of(model, w);
  const auto sum = [&](auto part) {
    return over_devices(parallel, [&](const Parallel& p) {
      w.parallel = p;
      return part(testing::totals_of(model, w));
    });
  };
  EXPECT_EQ(sum([](const Totals& t) { return t.step; }), whole.step);
  EXPECT_EQ(sum([](const Totals& t) { return t.forward; }), whole.forward);
  EXPECT_EQ(sum([](const Totals& t) { return t.attention_forward; }), whole.attention_forward);
  EXPECT_EQ(sum([](const Totals& t) { return t.lm_head_forward; }), whole.lm_head_forward);
  // Work that is repeated on several devices is hardware work on each of them.
  EXPECT_GE(sum([](const Totals& t) { return t.hardware_step; }), whole.hardware_step);
}

TEST_P(Shards, SumToTheWhole) {
  const Parallel& parallel = GetParam().parallel;
  const bool experts = parallel.expert > 1;
  const bool uneven = !parallel.stage_layers.empty();
  std::vector<model::Architecture> models;
  if (!experts)
    models.push_back(testing::dense({.layers = 12,
                                     .hidden = 64,
                                     .heads = 16,
                                     .kv_heads = 8,
                                     .head_dim = 8,
                                     .width = 192,
                                     .vocabulary = 1024,
                                     .qkv_bias = true,
                                     .tied = true}));
  if (uneven || parallel.pipeline == 1) models.push_back(testing::deepseek_v3());
  if (!uneven) models.push_back(testing::mixtral_8x7b());
  for (const model::Architecture& model : models) {
    if (uneven && model.stacks[0].layers.size() != 61) continue;
    for (const auto mask : {MaskConvention::full, MaskConvention::causal, MaskConvention::causal_half}) {
      expect_sum(model, {.batch = 16, .sequence = 64, .mask = mask}, parallel);
    }
    Workload parameters{.batch = 16, .sequence = 64, .body = BodyCount::parameters};
    expect_sum(model, parameters, parallel);
    expect_sum(model, {.phase = Phase::prefill, .batch = 16, .sequence = 64}, parallel);
    expect_sum(model, {.phase = Phase::decode, .batch = 16, .sequence = 64}, parallel);
    expect_sum(model, {.phase = Phase::generate, .batch = 16, .sequence = 64, .new_tokens = 9}, parallel);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Splits, Shards,
    ::testing::Values(Split{"tp2", {.tensor = 2}}, Split{"tp8", {.tensor = 8}},
                      Split{"tp8 with sequence parallelism", {.tensor = 8, .sequence = true}},
                      Split{"pp4", {.pipeline = 4}}, Split{"dp16", {.data = 16}}, Split{"cp4", {.context = 4}},
                      Split{"uneven stages", {.pipeline = 4, .stage_layers = {15, 15, 15, 16}}},
                      Split{"ep8 within data parallelism", {.data = 8, .expert = 8}},
                      Split{"ep8 across tensor parallelism", {.tensor = 8, .expert = 8}},
                      Split{"tp2 ep4 dp4", {.tensor = 2, .data = 4, .expert = 4}},
                      Split{"all of them", {.tensor = 2, .pipeline = 2, .data = 4, .context = 2, .expert = 4}}));

TEST(Parallel, ADeviceHoldsItsShareOfTheWeights) {
  const model::Architecture model = testing::dense(testing::kLlama2_70B);
  const Count total = model::census(model).total;
  const auto weights = [&](const Parallel& p) {
    Workload w{.batch = 8, .sequence = 8, .parallel = p};
    return memory(model, w)->weights;
  };
  // Norms stand whole on every device: (2·80 + 1)·8192 parameters.
  const Count norms = 161 * 8192;
  EXPECT_EQ(weights({.tensor = 8}) * 8, (total + norms * 7) * 2);
  Count stages;
  for (std::int64_t stage = 0; stage < 4; ++stage) stages += weights({.pipeline = 4, .stage = stage});
  EXPECT_EQ(stages, total * 2);
  EXPECT_EQ(weights({.data = 8, .zero = 2}), total * 2);
  EXPECT_EQ(weights({.data = 8, .zero = 3}) * 8, total * 2);
}

TEST(Parallel, ZeroSpreadsStateByState) {
  const model::Architecture model = testing::dense(testing::kLlama2_70B);
  const Count total = model::census(model).total;
  for (const int stage : {0, 1, 2, 3}) {
    const Memory m = *memory(model, {.batch = 8, .sequence = 8, .parallel = {.data = 8, .zero = stage}});
    EXPECT_EQ(m.optimizer, stage >= 1 ? total : total * 8);
    EXPECT_EQ(m.gradients * 8, stage >= 2 ? total * 2 : total * 16);
    EXPECT_EQ(m.weights * 8, stage >= 3 ? total * 2 : total * 16);
  }
}

TEST(Parallel, ATiedHeadStandsOnTheFirstAndTheLastStage) {
  const model::Architecture model = testing::dense(testing::kQwen25_1B5);
  Count stages;
  for (std::int64_t stage = 0; stage < 4; ++stage) {
    stages += memory(model, {.sequence = 8, .parallel = {.pipeline = 4, .stage = stage}})->weights;
  }
  EXPECT_EQ(stages, (model::census(model).total + 233'373'696) * 2);
}

TEST(Parallel, ExpertsAreSpreadOverTheirDevices) {
  const model::Architecture model = testing::mixtral_8x7b();
  const model::Census census = model::census(model);
  const Count experts = census[model::Component::experts];
  const auto weights = [&](const Parallel& p) {
    return memory(model, {.batch = 8, .sequence = 8, .parallel = p})->weights;
  };
  EXPECT_EQ(weights({.data = 8, .expert = 8}), (census.total - experts + experts / Count{8}) * 2);
  // Across tensor parallelism an expert stands whole on its device; norms and routers stand on each.
  const Count whole = census[model::Component::norm] + census[model::Component::router];
  EXPECT_EQ(weights({.tensor = 8, .expert = 8}),
            (whole + (census.total - experts - whole) / Count{8} + experts / Count{8}) * 2);
}

TEST(Parallel, MoreDevicesThanKeyValueHeadsRepeatThem) {
  // 16 devices, 8 key-value heads of 128: K and V of one head on each device, so twice in all.
  const model::Architecture model = testing::dense(testing::kLlama2_70B);
  const Workload whole{.phase = Phase::prefill, .batch = 1, .sequence = 64};
  Workload w = whole;
  w.parallel.tensor = 16;
  const Totals device = testing::totals_of(model, w);
  EXPECT_EQ(device.forward * 16, testing::totals_of(model, whole).forward);
  const Count keys_values = Count{2} * 64 * 8192 * 2 * 1024 * 80;
  const Count hardware_whole = testing::totals_of(model, whole).hardware_step;
  EXPECT_EQ(device.hardware_step * 16, hardware_whole + keys_values);
  EXPECT_EQ(device.bytes[ByteKind::kv_cache] * 8, testing::totals_of(model, whole).bytes[ByteKind::kv_cache]);
}

TEST(Parallel, WhatDoesNotDivideIsInfeasible) {
  const auto refused = [](const model::Architecture& model, std::int64_t batch, std::int64_t tokens,
                          const Parallel& p) {
    const auto result = count(model, {.batch = batch, .sequence = tokens, .parallel = p});
    EXPECT_FALSE(result.has_value());
    return result ? Error{} : result.error();
  };
  const model::Architecture llama = testing::dense(testing::kLlama2_70B);
  for (const auto& [parallel, option] : {std::pair<Parallel, const char*>{{.tensor = 7}, "--tp"},
                                         {{.pipeline = 3}, "--pp"},
                                         {{.data = 3}, "--dp"},
                                         {{.context = 3}, "--cp"},
                                         {{.expert = 2}, "--ep"},
                                         {{.pipeline = 2, .stage_layers = {40, 41}}, "--stage-layers"}}) {
    const Error error = refused(llama, 8, 64, parallel);
    EXPECT_EQ(error.code, Errc::infeasible) << option;
    EXPECT_EQ(error.where, option);
  }
  EXPECT_EQ(refused(testing::mixtral_8x7b(), 8, 64, {.data = 3 * 8, .expert = 3}).where, "--dp");
  EXPECT_EQ(refused(testing::mixtral_8x7b(), 24, 64, {.data = 3, .expert = 3}).where, "--ep");
  EXPECT_EQ(refused(llama, 8, 64, {.tensor = 0}).code, Errc::usage);
  EXPECT_EQ(refused(llama, 8, 64, {.zero = 4}).where, "--zero");
  EXPECT_EQ(refused(llama, 8, 64, {.stage = 1}).where, "--stage");
}

// Llama-2-70B: 80 layers, 64 query heads on 8 key-value heads.  Mixtral: 8 experts, 32 layers and heads.
TEST(Parallel, TheNearestPlanThatDivides) {
  const model::Architecture llama = testing::dense(testing::kLlama2_70B);
  const auto nearest = [](const model::Architecture& model, const Parallel& p) {
    return nearest_plan(model, {.batch = 8, .sequence = 64, .parallel = p});
  };
  EXPECT_EQ(nearest(llama, {.tensor = 7})->tensor, 8);
  EXPECT_EQ(nearest(llama, {.tensor = 3})->tensor, 2);  // 2 and 4 are as near: the smaller
  EXPECT_EQ(nearest(llama, {.tensor = 1000})->tensor, 64);
  EXPECT_EQ(nearest(llama, {.pipeline = 11, .stage = 10})->pipeline, 10);
  EXPECT_EQ(nearest(llama, {.pipeline = 11, .stage = 10})->stage, 9);
  EXPECT_EQ(nearest(llama, {.data = 3})->data, 2);
  EXPECT_EQ(nearest(llama, {.context = 63})->context, 64);
  EXPECT_EQ(nearest(llama, {.expert = 2})->expert, 1);
  EXPECT_TRUE(nearest(llama, {.pipeline = 2, .stage_layers = {40, 41}})->stage_layers.empty());
  const auto both = nearest(llama, {.tensor = 7, .pipeline = 3});
  EXPECT_EQ(both->tensor, 8);
  EXPECT_EQ(both->pipeline, 2);
  EXPECT_EQ(nearest(testing::mixtral_8x7b(), {.data = 8, .expert = 7})->expert, 8);
  EXPECT_EQ(nearest(llama, {.tensor = 1 << 24})->tensor, 1);
  EXPECT_FALSE(nearest(llama, {.zero = 9}).has_value());  // refused for another reason
  EXPECT_EQ(nearest(llama, {.tensor = 8})->tensor, 8);
}

TEST(Parallel, StagesHoldWhatStandsAtTheEnds) {
  const model::Architecture model = testing::dense(testing::kLlama2_70B);
  const auto of = [&](std::int64_t stage) {
    return *count(model, {.sequence = 8, .parallel = {.pipeline = 4, .stage = stage}});
  };
  EXPECT_EQ(testing::flops_of(of(0), "lm_head"), 0);
  EXPECT_GT(testing::flops_of(of(3), "lm_head"), 0);
  EXPECT_EQ(testing::row_of(of(0), "embedding").label, "embedding");
  const Ledger last = of(3);
  for (const Row& row : last.rows()) EXPECT_NE(row.label, "embedding");
}

}  // namespace
}  // namespace flopwatt::work
