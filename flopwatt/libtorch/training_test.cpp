#include "flopwatt/libtorch/training.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "flopwatt/libtorch/operator_counter.hpp"
#include "flopwatt/libtorch/testing.hpp"
#include "flopwatt/model/checkpoint_names.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/work/ledger.hpp"

namespace flopwatt::libtorch {
namespace {

using ::testing::HasSubstr;
using units::Count;
using units::Precision;

workload::Job a_job(const std::string& config) {
  workload::Job job;
  job.config = config;
  job.batch = 2;
  job.sequence = 13;
  job.seed = 3;
  job.threads = 1;
  return job;
}

std::string described(const Parameter& parameter) {
  std::string text = parameter.name;
  for (const std::int64_t size : parameter.dims) text += ' ' + std::to_string(size);
  return text;
}

class EveryModel : public ::testing::TestWithParam<std::string> {};
std::string short_name(const ::testing::TestParamInfo<std::string>& parameter) {
  constexpr std::array<const char*, 4> kNames{"gpt2", "qwen2", "llama", "qwen3"};
  return kNames[parameter.index];
}
INSTANTIATE_TEST_SUITE_P(Training, EveryModel,
                         ::testing::Values(testing::kGpt2, testing::kQwen2, testing::kLlama, testing::kQwen3),
                         short_name);

TEST_P(EveryModel, HoldsTheTensorsThatTheCensusLists) {
  const auto training = Training::make(a_job(GetParam()));
  ASSERT_TRUE(training.has_value()) << training.error().detail;
  const auto architecture = model::read_config(GetParam(), "config.json");
  ASSERT_TRUE(architecture.has_value());
  const auto census = model::checkpoint_tensors(*architecture);
  ASSERT_TRUE(census.has_value());
  std::vector<std::string> expected;
  for (const model::NamedTensor& named : *census) {
    if (named.tensor->tied) continue;
    expected.push_back(
        described({named.name, {named.tensor->dims.begin(), named.tensor->dims.begin() + named.tensor->rank}}));
  }
  std::vector<std::string> built;
  for (const Parameter& parameter : training->parameters()) built.push_back(described(parameter));
  EXPECT_THAT(built, ::testing::UnorderedElementsAreArray(expected));
  EXPECT_EQ(Count{training->parameter_count()}, model::census(*architecture).total);
}

// An untrained model's guess is close to uniform, ln(vocabulary); steps on the same tokens make it better.
TEST_P(EveryModel, Learns) {
  workload::Job job = a_job(GetParam());
  job.learning_rate = 1e-2;
  auto training = Training::make(job);
  ASSERT_TRUE(training.has_value()) << training.error().detail;
  ASSERT_TRUE(training->step().has_value());
  const double first = training->loss();
  EXPECT_NEAR(first, std::log(105.0), 0.2);  // the vocabularies are 101 … 109: ln differs by 0.08
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(training->step().has_value());
  EXPECT_LT(training->loss(), 0.7 * first);
}

struct Mode {
  workload::Attention attention = workload::Attention::eager;
  workload::Recompute recompute = workload::Recompute::none;
  Precision dtype = Precision::float32;
  std::int64_t accumulation = 1;
  workload::Padding padding = workload::Padding::full;
};

/// Runs one step under the counter and compares it with the ledger of the same job, pass by pass.
void expect_equal_to_ledger(const std::string& config, const Mode& mode) {
  workload::Job job = a_job(config);
  job.attention = mode.attention;
  job.recompute = mode.recompute;
  job.dtype = mode.dtype;
  job.accumulation = mode.accumulation;
  job.padding = mode.padding;
  SCOPED_TRACE(workload::write(job));
  auto training = Training::make(job);
  ASSERT_TRUE(training.has_value()) << training.error().detail;
  auto counter = OperatorCounter::start();
  ASSERT_TRUE(counter.has_value()) << counter.error().message();
  const auto step = training->step();
  ASSERT_TRUE(step.has_value()) << step.error().detail;
  const auto counts = counter->stop();
  ASSERT_TRUE(counts.has_value()) << counts.error().message();
  EXPECT_THAT(counts->not_counted, ::testing::IsEmpty());

  const auto architecture = model::read_config(config, "config.json");
  ASSERT_TRUE(architecture.has_value());
  work::Workload workload = workload::ledger_workload(job);
  EXPECT_EQ(workload.sequence, training->tensor_sequence());
  EXPECT_EQ(workload.batch, training->tensor_batch() * job.accumulation);
  // sdpa that the library takes apart is what eager attention is: every pair, four products backward.  Its fused
  // kernels are counted as the ledger counts them.
  if (!counts->fused_attention) workload.kernel = work::Kernel::eager;
  const auto ledger = work::count(*architecture, workload);
  ASSERT_TRUE(ledger.has_value()) << ledger.error().message();
  Count forward;
  Count backward;
  Count recompute;
  for (const work::Row& row : ledger->rows()) {
    if (row.pass == work::Pass::forward) forward += row.hardware_flops;
    if (row.pass == work::Pass::backward) backward += row.hardware_flops;
    if (row.pass == work::Pass::recompute) recompute += row.hardware_flops;
  }
  EXPECT_EQ(units::to_string(counts->forward), units::to_string(forward));
  EXPECT_EQ(units::to_string(counts->backward), units::to_string(backward));
  EXPECT_EQ(units::to_string(counts->recompute), units::to_string(recompute));
  EXPECT_EQ(counts->total(), ledger->totals().hardware_step);
  EXPECT_EQ(recompute > Count{0}, mode.recompute == workload::Recompute::full);
}

TEST_P(EveryModel, EagerStepsAreCountedAsTheLedgerSays) {
  expect_equal_to_ledger(GetParam(), {});
  expect_equal_to_ledger(GetParam(), {.dtype = Precision::bfloat16});
  expect_equal_to_ledger(GetParam(), {.accumulation = 3});
  expect_equal_to_ledger(GetParam(), {.padding = workload::Padding::none});
}

TEST_P(EveryModel, StepsWithTheLibrarysAttentionAreCountedAsTheLedgerSays) {
  expect_equal_to_ledger(GetParam(), {.attention = workload::Attention::sdpa});
  expect_equal_to_ledger(GetParam(), {.attention = workload::Attention::sdpa, .dtype = Precision::bfloat16});
}

// Where the two differ, and by how much: an sdpa that the library takes apart visits all S² pairs and runs 2 products
// forward and 4 backward; the fused kernel of `--kernel sdpa` visits S(S+1)/2 and runs 2 and 5.  A product is 2·width
// FLOPs a pair.  S = 13: 6·169 − 7·91 = 377 products more, for each of 2 sequences · 3 layers · 4 heads of width 8.
TEST(Training, AnAttentionTakenApartDiffersFromTheFusedOneByItsPairsAndProducts) {
  workload::Job job = a_job(testing::kQwen2);
  job.attention = workload::Attention::sdpa;
  auto training = Training::make(job);
  ASSERT_TRUE(training.has_value());
  auto counter = OperatorCounter::start();
  ASSERT_TRUE(counter.has_value());
  ASSERT_TRUE(training->step().has_value());
  const auto counts = counter->stop();
  ASSERT_TRUE(counts.has_value());
  const auto architecture = model::read_config(job.config, "config.json");
  const auto ledger = work::count(*architecture, workload::ledger_workload(job));
  ASSERT_TRUE(ledger.has_value());
  const Count taken_apart = counts->fused_attention ? Count{0} : Count{2 * 3 * 4} * (2 * 8) * 377;
  EXPECT_EQ(counts->total() - ledger->totals().hardware_step, taken_apart);
}

TEST_P(EveryModel, RecomputedBlocksAreCountedApart) {
  expect_equal_to_ledger(GetParam(), {.recompute = workload::Recompute::full});
  expect_equal_to_ledger(GetParam(), {.attention = workload::Attention::sdpa,
                                      .recompute = workload::Recompute::full,
                                      .dtype = Precision::bfloat16,
                                      .accumulation = 2});
}

double loss_after(const workload::Job& job, int steps) {
  auto training = Training::make(job);
  EXPECT_TRUE(training.has_value());
  for (int i = 0; training && i < steps; ++i) EXPECT_TRUE(training->step().has_value());
  return training ? training->loss() : 0.0;
}

// Dropout draws the same numbers when a block runs again, so the gradients, and every later loss, are the same.
TEST_P(EveryModel, RecomputingChangesNoGradient) {
  workload::Job job = a_job(GetParam());
  job.learning_rate = 1e-2;
  const double plain = loss_after(job, 4);
  job.recompute = workload::Recompute::full;
  EXPECT_DOUBLE_EQ(loss_after(job, 4), plain);
}

TEST(Training, AccumulationOfEqualBatchesTakesTheStepOfOne) {
  // Without dropout, three equal micro-batches have the mean gradient of one.
  workload::Job job = a_job(testing::kQwen2);
  job.learning_rate = 1e-2;
  const double one = loss_after(job, 5);
  job.accumulation = 3;
  EXPECT_NEAR(loss_after(job, 5), one, 2e-3 * one);
}

TEST(Training, AttentionOfTheLibraryAndOursAgree) {
  workload::Job job = a_job(testing::kLlama);
  const double eager = loss_after(job, 1);
  job.attention = workload::Attention::sdpa;
  EXPECT_NEAR(loss_after(job, 1), eager, 1e-5 * eager);
}

TEST(Training, TheTensorsHoldWhatTheJobSays) {
  workload::Job job = a_job(testing::kQwen2);
  job.accumulation = 2;
  const auto padded = Training::make(job);
  ASSERT_TRUE(padded.has_value());
  EXPECT_EQ(padded->tensor_sequence(), 13);
  EXPECT_EQ(padded->tokens_per_step(), 2 * 13 * 2);
  job.padding = workload::Padding::none;
  const auto prompt = Training::make(job);
  ASSERT_TRUE(prompt.has_value());
  EXPECT_EQ(prompt->tensor_sequence(), 11);
  EXPECT_EQ(prompt->tokens_per_step(), 2 * 11 * 2);
}

TEST(Training, ADeviceOrDtypeThatIsNotThereIsUnsupported) {
  workload::Job job = a_job(testing::kGpt2);
  job.device = {workload::Place::Type::cuda, 1000};
  auto training = Training::make(job);
  ASSERT_FALSE(training.has_value());
  EXPECT_EQ(training.error().reason, workload::Failed::Reason::unsupported);
  job.device = {};
  job.dtype = Precision::tf32;
  training = Training::make(job);
  ASSERT_FALSE(training.has_value());
  EXPECT_EQ(training.error().reason, workload::Failed::Reason::unsupported);
  EXPECT_THAT(training.error().detail, HasSubstr("tf32"));
}

TEST(Training, MoreMemoryThanThereIsIsOutOfMemory) {
  workload::Job job = a_job(testing::kQwen2);
  job.attention = workload::Attention::sdpa;  // no mask of sequence × sequence
  job.batch = std::int64_t{1} << 32U;
  job.sequence = std::int64_t{1} << 16U;  // the token numbers alone: 2^32 · 2^16 · 8 bytes, beyond any address space
  auto training = Training::make(job);
  ASSERT_FALSE(training.has_value());
  EXPECT_EQ(training.error().reason, workload::Failed::Reason::out_of_memory) << training.error().detail;
}

TEST(Training, AConfigThatIsNoneIsAnError) {
  const auto training = Training::make(a_job("{\"model_type\": \"gpt2\""));
  ASSERT_FALSE(training.has_value());
  EXPECT_EQ(training.error().reason, workload::Failed::Reason::error);
}

}  // namespace
}  // namespace flopwatt::libtorch
