#include "flopwatt/engine/step_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace flopwatt::engine {
namespace {

using ::testing::HasSubstr;

std::string error_of(std::string_view text) {
  const Result<StepLog> log = read_step_log(text, "steps");
  EXPECT_FALSE(log);
  return log ? "" : log.error().message();
}

TEST(StepLog, JsonLines) {
  const Result<StepLog> log = read_step_log(
      "{\"kind\": \"run\", \"steps\": 2}\n"
      "{\"end\": \"2026-05-06T10:00:01Z\", \"step_time_seconds\": 0.5, \"tokens\": 4096, \"loss\": 2.5}\n"
      "{\"timestamp\": 1778061602.5, \"step_time_ms\": 500, \"tokens\": null, \"model_flops\": 1e15}\n"
      "{\"timestamp\": 17780616",
      "steps");
  ASSERT_TRUE(log) << log.error().message();
  ASSERT_EQ(log->steps.size(), 2U);
  EXPECT_EQ(log->records_of_other_kinds, 1U);
  EXPECT_TRUE(log->torn_tail);
  EXPECT_EQ(log->steps[0].end->time, std::chrono::seconds{1778061601});
  EXPECT_EQ(log->steps[0].tokens, 4096);
  EXPECT_EQ(log->steps[1].seconds, 0.5);
  EXPECT_FALSE(log->steps[1].tokens);
  EXPECT_EQ(log->steps[1].flops, 1e15);
}

TEST(StepLog, Csv) {
  const Result<StepLog> log = read_step_log("step,step_time,num_tokens\n0,0.25,8\n1,0.5,8\n", "steps");
  ASSERT_TRUE(log) << log.error().message();
  ASSERT_EQ(log->steps.size(), 2U);
  EXPECT_EQ(log->steps[1].seconds, 0.5);
  EXPECT_EQ(log->steps[1].line, 3U);
}

TEST(StepLog, NothingIsGuessed) {
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("{\"loss\": 1}\n"), HasSubstr("steps:1"));
  EXPECT_THAT(error_of("{\"tokens\": -1}\n"), HasSubstr("tokens"));
  EXPECT_THAT(error_of("{\"tokens\": \"many\"}\n"), HasSubstr("many"));
  EXPECT_THAT(error_of("{\"tokens\": 1\n{\"tokens\": 1}\n"), HasSubstr("steps:1"));
  EXPECT_THAT(error_of("step_time\n"), HasSubstr("no step"));
  EXPECT_THAT(error_of("step_time\nnan s\n"), HasSubstr("steps:2"));
  EXPECT_THAT(error_of("loss\n1\n"), HasSubstr("neither a time"));
}

}  // namespace
}  // namespace flopwatt::engine
