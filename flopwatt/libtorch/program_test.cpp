#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/libtorch/testing.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"
#include "flopwatt/workload/process.hpp"

namespace flopwatt::libtorch {
namespace {

using ::testing::HasSubstr;
using workload::Event;
using workload::Failed;
using workload::Process;

constexpr std::chrono::seconds kLong{120};

/// The program as its parents use it.
class Program : public ::testing::Test {
 protected:
  void start(const std::string& line, const std::vector<std::string>& command = {FLOPWATT_TORCH_PROGRAM}) {
    auto started = Process::start(command);
    ASSERT_TRUE(started.has_value()) << started.error().message();
    process_.emplace(*std::move(started));
    ASSERT_TRUE(process_->write_line(line).has_value());
  }

  Event next() {
    const auto read = process_->read_line(kLong);
    EXPECT_TRUE(read.has_value());
    const auto* line = read ? std::get_if<Process::Line>(&*read) : nullptr;
    EXPECT_NE(line, nullptr) << process_->error_output();
    if (line == nullptr) return Failed{};
    const auto event = workload::read_event(line->text);
    EXPECT_TRUE(event.has_value()) << line->text;
    return event ? *event : Event{Failed{}};
  }

  template <class T>
  T expect_next() {
    const Event event = next();
    const auto* const wanted = std::get_if<T>(&event);
    EXPECT_NE(wanted, nullptr) << workload::write(event);
    return wanted == nullptr ? T{} : *wanted;
  }

  static workload::Job a_job() {
    workload::Job job;
    job.config = testing::kQwen2;
    job.batch = 2;
    job.sequence = 13;
    job.accumulation = 2;
    job.threads = 1;
    job.warmup_steps = 2;
    job.sample_seconds = 0.02;
    return job;
  }

  std::optional<Process> process_;
};

TEST_F(Program, StepsUntilItIsToldToStop) {
  const workload::Job job = a_job();
  start(workload::write(job));
  const auto ready = expect_next<workload::Ready>();
  EXPECT_THAT(ready.library, HasSubstr("LibTorch"));
  EXPECT_EQ(ready.tensor_batch, 2);
  EXPECT_EQ(ready.tensor_sequence, 13);
  EXPECT_EQ(ready.accumulation, 2);
  EXPECT_EQ(ready.threads, 1);

  const auto warm = expect_next<workload::Warm>();
  EXPECT_EQ(warm.steps, 2);
  ASSERT_TRUE(warm.counted.has_value()) << process_->error_output();
  const auto architecture = model::read_config(job.config, "config.json");
  const auto ledger = work::count(*architecture, workload::ledger_workload(job));
  ASSERT_TRUE(ledger.has_value());
  // Eager attention: what the operators ran is the ledger's forward and backward.
  EXPECT_EQ(units::Count{warm.counted->forward_flops}, ledger->totals().forward);
  EXPECT_EQ(units::Count{warm.counted->backward_flops}, ledger->totals().backward);

  double last_end = 0;
  for (int i = 0; i < 3; ++i) {
    const auto sample = expect_next<workload::Sample>();
    EXPECT_GE(sample.device_seconds, 0.02);
    EXPECT_GE(sample.end_seconds - sample.begin_seconds, sample.device_seconds);
    EXPECT_GE(sample.begin_seconds, last_end);
    EXPECT_EQ(sample.tokens, sample.steps * 2 * 13 * 2);
    EXPECT_GT(sample.peak_memory_bytes.value_or(0), 1 << 20);
    last_end = sample.end_seconds;
  }
  ASSERT_TRUE(process_->write_line("stop").has_value());
  Event event = next();
  while (std::holds_alternative<workload::Sample>(event)) event = next();
  EXPECT_TRUE(std::holds_alternative<workload::Done>(event));
  EXPECT_EQ(process_->wait(kLong), (workload::Exit{.code = 0}));
}

TEST_F(Program, EndsWhenItsParentIsGone) {
  start(workload::write(a_job()));
  (void)expect_next<workload::Ready>();
  process_->close_input();
  EXPECT_EQ(process_->wait(kLong), (workload::Exit{.code = 0}));
}

TEST_F(Program, AJobThatIsNoneIsOfAnotherProtocol) {
  start("{\"job\": \"dance\"}");
  const auto failed = expect_next<Failed>();
  EXPECT_EQ(failed.reason, Failed::Reason::protocol);
  EXPECT_THAT(failed.detail, HasSubstr("dance"));
  EXPECT_EQ(process_->wait(kLong), (workload::Exit{.code = 1}));
}

TEST_F(Program, MoreThanTheMemoryHoldsIsOutOfMemory) {
  workload::Job job = a_job();
  job.attention = workload::Attention::sdpa;
  job.batch = std::int64_t{1} << 32U;
  job.sequence = std::int64_t{1} << 16U;
  start(workload::write(job));
  EXPECT_EQ(expect_next<Failed>().reason, Failed::Reason::out_of_memory);
}

// The scores of one layer's attention are 4,096 sequences · 4 heads · 128² · 4 bytes = 1.07 GB, where the process may
// have 1,000,000 KiB; model and tokens fit.
TEST_F(Program, MemoryThatRunsOutWithinAStepIsOutOfMemory) {
  workload::Job job = a_job();
  job.batch = 4096;
  job.sequence = 128;
  start(workload::write(job), {"/bin/sh", "-c", "ulimit -d 1000000; exec " FLOPWATT_TORCH_PROGRAM});
  (void)expect_next<workload::Ready>();
  EXPECT_EQ(expect_next<Failed>().reason, Failed::Reason::out_of_memory);
}

TEST_F(Program, AFamilyThatIsNotBuiltIsUnsupported) {
  workload::Job job = a_job();
  job.config = R"({"model_type": "gpt_neox", "vocab_size": 101, "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "intermediate_size": 64, "max_position_embeddings": 64})";
  start(workload::write(job));
  const auto failed = expect_next<Failed>();
  EXPECT_EQ(failed.reason, Failed::Reason::unsupported);
  EXPECT_THAT(failed.detail, HasSubstr("gpt_neox"));
}

TEST_F(Program, MeasuresACeiling) {
  workload::Job job;
  job.kind = workload::Kind::ceiling;
  job.threads = 1;
  job.sample_seconds = 0.05;
  start(workload::write(job));
  (void)expect_next<workload::Ready>();
  const auto ceiling = expect_next<workload::Ceiling>();
  EXPECT_GT(ceiling.flops_per_second, 1e7);  // a product that no machine is too slow for
  EXPECT_GT(ceiling.bytes_per_second, 1e7);
  EXPECT_GE(ceiling.copy_bytes, 1 << 28);
  (void)expect_next<workload::Done>();
}

}  // namespace
}  // namespace flopwatt::libtorch
