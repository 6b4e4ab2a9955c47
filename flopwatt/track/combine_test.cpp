#include "flopwatt/track/combine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "flopwatt/track/sink.hpp"

namespace flopwatt::track {
namespace {

using testing::HasSubstr;

RankRun run_of(std::int64_t rank, double seconds) {
  return {.rank = rank,
          .ranks = 2,
          .devices = 4,
          .steps = 10,
          .in_steps = seconds * units::second,
          .wall = (seconds + 1) * units::second,
          .model_flops = 200 * units::teraflop,
          .slots = 1000,
          .non_padding = 900,
          .peak = 10 * units::teraflop_per_second,
          .energy = 100 * units::joule};
}

TEST(Combine, TheJobWaitsForItsSlowestRank) {
  const auto job = combine(std::vector{run_of(1, 10), run_of(0, 20)});
  ASSERT_TRUE(job);
  EXPECT_EQ(job->devices, 8);
  EXPECT_DOUBLE_EQ(job->slots_per_second.in(units::token_per_second), 100);  // 2000 / 20 s
  EXPECT_DOUBLE_EQ(job->tokens_per_second->in(units::token_per_second), 90);
  EXPECT_DOUBLE_EQ(*job->mfu.value, 0.25);         // 400 TFLOP / 20 s / 80 TFLOP/s
  EXPECT_DOUBLE_EQ(*job->fastest_rank_mfu, 0.5);   // 200 / 10 / 40
  EXPECT_DOUBLE_EQ(*job->slowest_rank_mfu, 0.25);  // 200 / 20 / 40
  EXPECT_DOUBLE_EQ(job->energy->in(units::joule), 200);
}

TEST(Combine, WhatOneRankDoesNotTellTheJobDoesNotEither) {
  auto quiet = run_of(1, 20);
  quiet.non_padding.reset();
  quiet.energy.reset();
  quiet.peak.reset();
  const auto job = combine(std::vector{run_of(0, 20), quiet});
  ASSERT_TRUE(job);
  EXPECT_FALSE(job->tokens_per_second);
  EXPECT_FALSE(job->energy);
  EXPECT_FALSE(job->mfu.value);
}

TEST(Combine, RefusesRanksThatAreNoJob) {
  EXPECT_FALSE(combine({}));
  EXPECT_THAT(combine(std::vector{run_of(0, 1)}).error().what, HasSubstr("1 of 2 ranks"));
  EXPECT_THAT(combine(std::vector{run_of(0, 1), run_of(0, 1)}).error().what, HasSubstr("twice"));
  auto fewer = run_of(1, 1);
  fewer.steps = 9;
  EXPECT_THAT(combine(std::vector{run_of(0, 1), fewer}).error().what, HasSubstr("9"));
  auto other = run_of(1, 1);
  other.ranks = 3;
  EXPECT_FALSE(combine(std::vector{run_of(0, 1), other}));
  EXPECT_THAT(combine(std::vector{run_of(0, 1), run_of(2, 1)}).error().what, HasSubstr("no rank 2"));  // of 0 and 1
}

Window window() {
  Window w;
  w.steps = 10;
  w.last_step = 9;
  w.micro_batches = 10;
  w.in_steps = 2 * units::second;
  w.wall = 3 * units::second;
  w.tokens = {.slots = 1000, .non_padding = 900, .labels = {}};
  w.model_flops = 5 * units::teraflop;
  return w;
}

TEST(ReadRun, ReadsWhatTheSinkWrites) {
  Identity who{.rank = 1, .ranks = 2, .devices = 4, .device = "D", .peak = 10 * units::teraflop_per_second};
  const std::string text = to_json_line(who, window(), "window") + "\n" + to_json_line(who, window(), "run") + "\n";
  const auto run = read_run(text + R"({"kind":"run","ra)", "rank1.jsonl");  // torn by a kill
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(run->rank, 1);
  EXPECT_EQ(run->devices, 4);
  EXPECT_EQ(run->non_padding, 900);
  EXPECT_DOUBLE_EQ(run->in_steps.in(units::second), 2);
  EXPECT_DOUBLE_EQ(run->peak->in(units::teraflop_per_second), 10);
  EXPECT_FALSE(run->energy);
}

TEST(ReadRun, RefusesWhatIsNoRun) {
  EXPECT_EQ(read_run("", "f").error().code, Errc::bad_data);
  EXPECT_EQ(read_run("{}\n", "f").error().code, Errc::bad_data);
  EXPECT_THAT(read_run(R"({"kind":"run","rank":-1,"ranks":1})", "f").error().where, HasSubstr("f:1"));
  const std::string good = to_json_line({.rank = 1, .ranks = 2}, window(), "run");
  ASSERT_TRUE(read_run(good, "f"));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string line = good;
    const std::size_t at = line.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? line : line.replace(at, from.size(), to);
  };
  EXPECT_THAT(read_run(with("\"rank\":1", "\"rank\":2"), "f").error().what, HasSubstr("rank"));  // of ranks 0 and 1
  // Figures whose sum over the ranks would be no number any more.
  EXPECT_THAT(read_run(with("\"devices\":1", "\"devices\":9007199254740992"), "f").error().what, HasSubstr("devices"));
  EXPECT_THAT(read_run(with("\"in_steps_seconds\":2", "\"in_steps_seconds\":1e308"), "f").error().what,
              HasSubstr("in_steps_seconds"));
}

}  // namespace
}  // namespace flopwatt::track
