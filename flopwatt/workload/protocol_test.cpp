#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

namespace flopwatt::workload {
namespace {

using testing::HasSubstr;

Job a_step() {
  Job job;
  job.config = "{\"model_type\": \"gpt2\",\n \"n_layer\": 2}";
  job.dtype = units::Precision::bfloat16;
  job.device = {Place::Type::cuda, 1};
  job.threads = 2;
  job.seed = 7;
  job.sample_seconds = 0.25;
  job.weights = "/models/\xC3\xA4 \"b\".safetensors";
  job.attention = Attention::sdpa;
  job.batch = 4;
  job.sequence = 512;
  job.accumulation = 3;
  job.padding = Padding::none;
  job.recompute = Recompute::full;
  job.learning_rate = 2e-5;
  job.weight_decay = 0;
  job.warmup_steps = 0;
  return job;
}

std::vector<Event> every_event() {
  return {Ready{"NVIDIA \"A100\"", "LibTorch 1.13.1", 2, 4, 11, 3, 124439808},
          Warm{5, 1.5, std::nullopt},
          Warm{5, 1.5, CountedStep{100, 200, 90, true, {"custom::attention", "aten::lstm"}}},
          Sample{12, 100.25, 101.5, 1.125, 12 * 44, 123456789},
          Sample{1, 100.25, 101.5, 1.125, 44, std::nullopt},
          Ceiling{1.5e12, 4096, 2.5e10, 1 << 28},
          Failed{Failed::Reason::out_of_memory, "tried to allocate 20 GiB\non two lines"},
          Failed{Failed::Reason::unsupported, "\"addmm_impl_cpu_\" not implemented for 'Half'"},
          Failed{Failed::Reason::error, ""},
          Done{}};
}

TEST(Job, IsOneLineAndReadsBack) {
  const Job job = a_step();
  const std::string line = write(job);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto again = read_job(line);
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(*again, job);
}

TEST(Job, ACeilingSaysNothingOfAModel) {
  Job job;
  job.kind = Kind::ceiling;
  job.dtype = units::Precision::tf32;
  const std::string line = write(job);
  EXPECT_EQ(line.find("batch"), std::string::npos);
  const auto again = read_job(line);
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(*again, job);
}

TEST(Job, TheUnpaddedPromptIsShortWhateverTheSequenceSays) {
  Job job = a_step();
  EXPECT_EQ(job.tensor_sequence(), 11);  // the study's prompt
  job.sequence = 8;
  EXPECT_EQ(job.tensor_sequence(), 8);
  job.padding = Padding::full;
  job.sequence = 512;
  EXPECT_EQ(job.tensor_sequence(), 512);
}

TEST(Job, TheLedgerSeesWhatTheTensorsHold) {
  const work::Workload workload = ledger_workload(a_step());
  EXPECT_EQ(workload.batch, 12);  // 4 sequences × 3 micro-batches
  EXPECT_EQ(workload.sequence, 11);
  EXPECT_EQ(workload.precision, units::Precision::bfloat16);
  EXPECT_EQ(workload.optimizer_precision, units::Precision::bfloat16);
  EXPECT_EQ(workload.kernel, work::Kernel::sdpa);
  EXPECT_EQ(workload.recompute, work::Recompute::full);
}

TEST(Job, EveryPrefixOfALineIsRefused) {
  const std::string line = write(a_step());
  for (std::size_t length = 0; length < line.size(); ++length) {
    const auto job = read_job(line.substr(0, length));
    ASSERT_FALSE(job.has_value()) << length;
    EXPECT_EQ(job.error().code, Errc::bad_data);
    EXPECT_THAT(job.error().where, HasSubstr("workload job"));
  }
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Job, WhatMakesNoSenseIsRefusedByName) {
  const std::string good = write(a_step());
  struct Case {
    std::string from, to, complaint;
  };
  const std::vector<Case> cases{
      {"\"batch\":4", "\"batch\":0", "batch"},
      {"\"batch\":4", "\"batch\":-4", "batch"},
      {"\"batch\":4", "\"batch\":4.5", "batch"},
      {"\"batch\":4", "\"batch\":\"4\"", "batch"},
      {"\"batch\":4", "\"batch\":99999999999999", "batch"},
      {"\"batch\":4,", "", "batch"},
      {"\"batch\":4", "\"batch\":4,\"batch\":4", "batch"},
      {"\"batch\":4", "\"batch\":4,\"bach\":4", "bach"},
      {"\"sequence\":512", "\"sequence\":null", "sequence"},
      {"\"sdpa\"", "\"flash\"", "attention"},
      {"bfloat16", "int8", "dtype"},
      {"bfloat16", "BF16", "dtype"},
      {"cuda:1", "cuda:", "device"},
      {"cuda:1", "cuda:-1", "device"},
      {"cuda:1", "cpu:0", "device"},
      {"cuda:1", "tpu", "device"},
      {"\"threads\":2", "\"threads\":0", "threads"},
      {"\"sample_seconds\":0.25", "\"sample_seconds\":-1", "sample_seconds"},
      {"\"sample_seconds\":0.25", "\"sample_seconds\":1e300", "sample_seconds"},
      {"\"step\"", "\"dance\"", "job"},
  };
  for (const Case& one : cases) {
    const auto job = read_job(replaced(good, one.from, one.to));
    ASSERT_FALSE(job.has_value()) << one.to;
    EXPECT_EQ(job.error().code, Errc::bad_data) << one.to;
    EXPECT_THAT(job.error().message(), HasSubstr(one.complaint));
  }
}

TEST(Place, IsReadAndWritten) {
  EXPECT_EQ(*parse_place("cpu"), (Place{Place::Type::cpu, 0}));
  EXPECT_EQ(*parse_place("cuda"), (Place{Place::Type::cuda, 0}));
  EXPECT_EQ(*parse_place("hip:3"), (Place{Place::Type::hip, 3}));
  EXPECT_EQ(to_string(Place{Place::Type::hip, 3}), "hip:3");
  EXPECT_EQ(to_string(Place{}), "cpu");
  for (const char* wrong : {"", "CPU", "cpu:0", "cuda:", "cuda:x", "cuda:1x", "cuda:99999", "cuda:1:2", "gpu"}) {
    const auto place = parse_place(wrong);
    ASSERT_FALSE(place.has_value()) << wrong;
    EXPECT_EQ(place.error().code, Errc::usage);
  }
}

TEST(Event, IsOneLineAndReadsBack) {
  for (const Event& event : every_event()) {
    const std::string line = write(event);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto again = read_event(line);
    ASSERT_TRUE(again.has_value()) << again.error().message();
    EXPECT_EQ(*again, event) << line;
  }
}

TEST(Event, EveryPrefixOfALineIsRefused) {
  for (const Event& event : every_event()) {
    const std::string line = write(event);
    for (std::size_t length = 0; length < line.size(); ++length) {
      const auto read = read_event(line.substr(0, length));
      ASSERT_FALSE(read.has_value()) << line.substr(0, length);
      EXPECT_EQ(read.error().code, Errc::bad_data);
    }
  }
}

TEST(Event, GarbageIsRefused) {
  for (const char* wrong : {
           "Warning: something a library prints",
           "[]",
           "null",
           "{}",
           R"({"event":"party"})",
           R"({"event":"done","extra":1})",
           R"({"event":"sample","steps":0,"begin_seconds":1,"end_seconds":2,"device_seconds":1,"tokens":1})",
           R"({"event":"sample","steps":1,"begin_seconds":2,"end_seconds":1,"device_seconds":1,"tokens":1})",
           R"({"event":"sample","steps":1,"begin_seconds":1,"end_seconds":NaN,"device_seconds":1,"tokens":1})",
           R"({"event":"sample","steps":1,"begin_seconds":1,"end_seconds":2,"device_seconds":-1,"tokens":1})",
           R"({"event":"failed","reason":"bad mood","detail":""})",
           R"({"event":"ceiling","flops_per_second":-1,"matrix_size":1,"bytes_per_second":1,"copy_bytes":1})",
       }) {
    const auto event = read_event(wrong);
    ASSERT_FALSE(event.has_value()) << wrong;
    EXPECT_EQ(event.error().code, Errc::bad_data) << wrong;
  }
}

}  // namespace
}  // namespace flopwatt::workload
