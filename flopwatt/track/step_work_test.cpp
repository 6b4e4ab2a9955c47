#include "flopwatt/track/step_work.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/work/workload.hpp"

namespace flopwatt::track {
namespace {

using testing::HasSubstr;
using units::Count;

constexpr std::int64_t kBillion = 1'000'000'000;

// 7e9 parameters over 8 ranks: a rank holds 0.875e9, the model is 7e9; 6 · 7e9 · 4096 FLOPs.
TEST(StepWork, AShardIsNotTheModel) {
  const auto work = work_of_parameters({.local = 7 * kBillion / 8, .shards = 8}, 4096);
  ASSERT_TRUE(work);
  EXPECT_DOUBLE_EQ(work->model_flops.in(units::flop), 6 * 7e9 * 4096);
  EXPECT_FALSE(work->hardware_flops);
  EXPECT_THAT(work->origin, HasSubstr("estimate"));
}

TEST(StepWork, TheProgramsCountMustBeTheModels) {
  EXPECT_TRUE(check_parameters(7 * kBillion, 7 * kBillion));
  const auto shard = check_parameters(7 * kBillion, 7 * kBillion / 8);
  ASSERT_FALSE(shard);
  EXPECT_THAT(shard.error().what, HasSubstr("one shard of 8"));
  // Padded by half a percent it is still one.
  EXPECT_THAT(check_parameters(7 * kBillion, 879'375'000).error().what, HasSubstr("one shard of 8"));
  EXPECT_THAT(check_parameters(7 * kBillion, 5 * kBillion).error().what, HasSubstr("the model has 7e+09"));
  EXPECT_FALSE(check_parameters(7 * kBillion, 0));
}

TEST(StepWork, RefusesWhatCannotBe) {
  EXPECT_FALSE(work_of_parameters({.local = 0}, 1));
  EXPECT_FALSE(work_of_parameters({.local = -5}, 1));
  EXPECT_FALSE(work_of_parameters({.local = 5, .shards = 0}, 1));
  EXPECT_FALSE(work_of_parameters({.local = 5}, 0));
}

// The bytes of a ledger fall apart into those of every micro-batch and those of the update, and sum to the whole.
TEST(StepWork, ALedgersBytesAreKeptApart) {
  const auto catalogue = model::Catalogue::builtin();
  const auto architecture = catalogue.find("openai-community/gpt2");
  ASSERT_TRUE(architecture) << architecture.error().message();
  const auto ledger = work::count(*architecture, {.batch = 2, .sequence = 128});
  ASSERT_TRUE(ledger);
  const MicroBatchWork work = work_of(*ledger);
  EXPECT_DOUBLE_EQ((*work.bytes + work.optimizer_bytes).in(units::byte), ledger->totals().bytes.total.to_double());
  EXPECT_GT(work.optimizer_bytes, units::DataSize{});
  EXPECT_DOUBLE_EQ(work.slots.in(units::token), 256);
  // All products with weights, tied head included, and attention in full, forward once and backward twice: 12 layers,
  // width 768, 4·768 in the MLP, 50257 words, 256 positions in rows of 128.
  const double forward =
      2.0 * 256 * (12.0 * (4 * 768 * 768 + 8 * 768 * 768) + 50257.0 * 768) + 12.0 * 4 * 2 * 128 * 128 * 768;
  EXPECT_DOUBLE_EQ(work.model_flops.in(units::flop), 3 * forward);
}

}  // namespace
}  // namespace flopwatt::track
