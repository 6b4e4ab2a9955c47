#include "flopwatt/sweep/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "flopwatt/model/read_config.hpp"
#include "flopwatt/sweep/measure.hpp"
#include "flopwatt/sweep/one_run.hpp"
#include "flopwatt/work/ledger.hpp"

namespace flopwatt::sweep {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr const char* kGpt2 =
    R"({"model_type":"gpt2","n_embd":32,"n_layer":2,"n_head":4,"n_positions":64,"vocab_size":100})";
constexpr const char* kLlama =
    R"({"model_type":"llama","hidden_size":32,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,)"
    R"("intermediate_size":64,"vocab_size":100,"max_position_embeddings":64,"tie_word_embeddings":false})";

/// A sweep with the scripted workload of tests/sweep, which computes nothing and fails as it is told.
class RunTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flopwatt-run-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    script("{}");
    plan_.where = "plan.toml";
    plan_.models = {"gpt2.json", "llama.json"};
    plan_.dtypes = {units::Precision::float32};
    plan_.attention = {workload::Attention::sdpa};
    plan_.batches = {1, 2};
    plan_.sequences = {16};
    plan_.accumulations = {1};
    plan_.recomputes = {workload::Recompute::none};
    plan_.protocol = {.cooldown = units::Duration{},
                      .sample_time = 0.01 * units::second,
                      .min_samples = 4,
                      .max_samples = 6,
                      .repeats = 2,
                      .idle_time = units::Duration{},
                      .time_limit = 20 * units::second};
    plan_.power.source = PowerPlan::Source::synthetic;
    plan_.power.base = 10 * units::watt;
    plan_.power.per_flop = 1e-9 * (units::joule / units::flop);
    plan_.peak.source = PeakPlan::Source::stated;
    plan_.peak.peaks = {{units::Precision::float32, 1e11 * units::flop_per_second}};
    plan_.peak.bandwidth = 1e10 * units::byte_per_second;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static void script(const std::string& json) { ::setenv("FLOPWATT_SCRIPT", json.c_str(), 1); }

  struct Outcome {
    SweepCounts counts;
    std::vector<RunRecord> runs;
    std::map<std::int64_t, std::vector<SampleRecord>> samples;
    std::vector<Configuration> configurations;
    std::vector<model::Architecture> architectures;
    std::vector<CeilingRecord> ceilings;
    std::vector<IdleRecord> idle;

    [[nodiscard]] const RunRecord& run_of(std::int64_t batch, const std::string& model = "llama") const {
      for (const RunRecord& run : runs) {
        for (const Configuration& c : configurations) {
          if (c.id() == run.configuration && c.batch == batch && c.model == model) return run;
        }
      }
      ADD_FAILURE() << "no run of batch " << batch;
      return runs.front();
    }
  };

  /// Plays the plan on the store of this test; `stop` and `watch` may be empty.
  Outcome play(std::function<bool()> stop = {}, std::function<void(const Progress&)> watch = {},
               bool retry_failed = false) {
    Outcome out;
    std::vector<Model> models;
    for (const std::string& word : plan_.models) {
      models.push_back(word == "gpt2.json" ? Model{word, "gpt2", kGpt2, ""} : Model{word, "llama", kLlama, ""});
    }
    for (const Model& model : models) out.architectures.push_back(*model::read_config(model.config, model.word));
    out.configurations = *expand(plan_, models);
    auto store = Store::open((folder_ / "store.db").string(), Store::Mode::resume);
    EXPECT_TRUE(store) << store.error().message();
    EXPECT_TRUE(store->mark_killed());
    EXPECT_TRUE(store->add_plan("plan", plan_.protocol.canonical()));
    for (const Configuration& c : out.configurations) EXPECT_TRUE(store->add(c));
    const auto left = remaining(out.configurations, plan_, *store->runs(), retry_failed);
    const auto catalogue = device::Catalogue::shipped();
    const auto meter = synthetic_meter(plan_.power, 1);
    const Machine machine{.workload = {"python3", "-I", "-S", FLOPWATT_SOURCE_DIR "/tests/sweep/workload.py"},
                          .host = "here",
                          .catalogue = &*catalogue,
                          .meter = meter.get(),
                          .stop = stop ? stop : [] { return false; },
                          .progress = watch};
    out.counts = run(plan_, models, out.architectures, out.configurations, left, *store, machine);
    EXPECT_FALSE(out.counts.ended_by) << out.counts.ended_by->message();
    out.runs = *store->runs();
    for (const RunRecord& record : out.runs) out.samples[record.id] = *store->samples(record.id);
    out.ceilings = *store->ceilings();
    out.idle = *store->idle();
    return out;
  }

  fs::path folder_;
  Plan plan_;
};

TEST_F(RunTest, MeasuresEveryRepeatOfEveryConfiguration) {
  const Outcome out = play();
  EXPECT_EQ(out.counts.finished, 2 * 2 * 2);  // models × batches × repeats
  EXPECT_EQ(out.counts.failed, 0);
  ASSERT_EQ(out.runs.size(), 8U);
  for (const RunRecord& run : out.runs) {
    EXPECT_EQ(run.state, RunState::finished);
    EXPECT_EQ(run.reason, reason::kConverged);  // ± 1 % of noise, four samples: far within 5 %
    EXPECT_EQ(run.power_source, "synthetic");
    EXPECT_THAT(run.detail, HasSubstr("MFU alone"));
    EXPECT_EQ(out.samples.at(run.id).size(), 4U);
  }
  EXPECT_TRUE(play().counts.finished == 0);  // nothing remains
}

/// What a row says must follow from what it counted: MFU = tokens/s · FLOPs a token / peak, bytes alike, watts and
/// joules by the synthetic formula.
TEST_F(RunTest, EveryRowFollowsFromTokensTimeAndTheLedger) {
  const Outcome out = play();
  for (const RunRecord& run : out.runs) {
    const auto configuration = std::find_if(out.configurations.begin(), out.configurations.end(),
                                            [&](const Configuration& c) { return c.id() == run.configuration; });
    work::Workload workload;
    workload.batch = configuration->batch;
    workload.sequence = 16;
    workload.precision = units::Precision::float32;
    const std::size_t model = configuration->model == "gpt2" ? 0 : 1;
    const work::Totals step = work::count(out.architectures[model], workload)->totals();
    EXPECT_EQ(run.step_flops, step.step);
    EXPECT_EQ(run.step_tokens, units::Count{configuration->batch * 16});
    for (const SampleRecord& sample : out.samples.at(run.id)) {
      const double tokens_per_second = static_cast<double>(sample.tokens) / sample.device_seconds;
      const double flops_per_token = step.step.to_double() / step.tokens.to_double();
      EXPECT_NEAR(sample.mfu, tokens_per_second * flops_per_token / 1e11, 1e-12);
      const double bytes_per_token = step.bytes.total.to_double() / step.tokens.to_double();
      EXPECT_NEAR(*sample.mbu, tokens_per_second * bytes_per_token / 1e10, 1e-9);
      EXPECT_NEAR(*sample.power_watts, 10 + 1e-9 * tokens_per_second * flops_per_token, 1e-9);
      EXPECT_NEAR(*sample.energy_joules, *sample.power_watts * sample.wall_seconds, 1e-9);
    }
  }
}

TEST_F(RunTest, UnpaddedPromptsAreCountedAsLongAsTheyAre) {
  plan_.padding = workload::Padding::none;
  plan_.protocol.repeats = 1;
  const Outcome out = play();
  for (const RunRecord& run : out.runs) {
    EXPECT_EQ(run.tensor_sequence, 11);  // the study's prompt
    EXPECT_EQ(run.step_tokens % units::Count{11}, units::Count{0});
  }
}

/// Four micro-batches of 2 × 16 tokens are a step of 128, however the loop is cut.
TEST_F(RunTest, TokensOfAStepAreThoseOfAllItsMicroBatches) {
  plan_.models = {"gpt2.json"};
  plan_.batches = {2};
  plan_.accumulations = {4};
  plan_.protocol.repeats = 1;
  const Outcome out = play();
  ASSERT_EQ(out.runs.size(), 1U);
  EXPECT_EQ(out.runs[0].step_tokens, units::Count{128});
  work::Workload micro;
  micro.batch = 2;
  micro.sequence = 16;
  micro.precision = units::Precision::float32;
  EXPECT_EQ(out.runs[0].step_flops, units::Count{4} * work::count(out.architectures[0], micro)->totals().step);
  for (const SampleRecord& sample : out.samples.at(out.runs[0].id)) EXPECT_EQ(sample.tokens, 128 * sample.steps);
}

TEST_F(RunTest, AccumulationMovesTheOptimizerOnceAndTheRestEachTime) {
  plan_.models = {"gpt2.json"};
  plan_.batches = {2};
  const auto architecture = *model::read_config(kGpt2, "gpt2");
  workload::Job job;
  job.dtype = units::Precision::float32;
  job.batch = 2;
  job.sequence = 16;
  const auto bytes = [&](std::int64_t accumulation) {
    job.accumulation = accumulation;
    return step_work(architecture, job, {.tensor_batch = 2, .tensor_sequence = 16, .accumulation = accumulation}, {})
        ->bytes.in(units::byte);
  };
  // bytes(n) = n · micro + optimizer: equal steps, and an optimizer that is more than nothing.
  EXPECT_DOUBLE_EQ(bytes(3) - bytes(2), bytes(2) - bytes(1));
  EXPECT_LT(bytes(2), 2 * bytes(1));
}

struct Fault {
  std::string what;
  int at = 1;
  std::string_view reason;
  std::string detail;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.what << " at " << fault.at; }

class FaultTest : public RunTest, public testing::WithParamInterface<Fault> {};

TEST_P(FaultTest, IsARowWithAReasonAndTheSweepGoesOn) {
  const Fault& fault = GetParam();
  plan_.models = {"llama.json"};
  script(R"({"rules":[{"when":{"batch":2},"do":")" + fault.what + R"(","at":)" + std::to_string(fault.at) + "}]}");
  plan_.protocol.repeats = 1;
  if (fault.reason == reason::kTimedOut) plan_.protocol.time_limit = 2.5 * units::second;
  const Outcome out = play();
  EXPECT_EQ(out.counts.failed, 1);
  EXPECT_EQ(out.counts.finished, 1);
  const RunRecord& run = out.run_of(2);
  EXPECT_EQ(run.state, RunState::failed);
  EXPECT_EQ(run.reason, fault.reason);
  EXPECT_THAT(run.detail, HasSubstr(fault.detail));
  EXPECT_LE(out.samples.at(run.id).size(), static_cast<std::size_t>(std::max(0, fault.at - 1)));
  EXPECT_EQ(play().counts.failed, 0);  // not tried again unasked
  script("{}");
  plan_.protocol.time_limit = 20 * units::second;
  EXPECT_EQ(play({}, {}, true).counts.finished, 1);  // asked
}

INSTANTIATE_TEST_SUITE_P(
    Workload, FaultTest,
    testing::Values(
        Fault{"out_of_memory", 0, reason::kOutOfMemory, "20 GiB"},
        Fault{"out_of_memory", 3, reason::kOutOfMemory, "20 GiB"},
        Fault{"unsupported", 0, reason::kUnsupported, "float16"},
        Fault{"lost", 2, reason::kWorkloadError, "device is lost"}, Fault{"crash", 0, reason::kCrashed, "signal 11"},
        Fault{"crash", 3, reason::kCrashed, "signal 11"}, Fault{"killed", 2, reason::kCrashed, "takes all memory"},
        Fault{"exit", 2, reason::kCrashed, "an instance of bad luck"},
        Fault{"silent", 0, reason::kCrashed, "without a word"}, Fault{"silent", 2, reason::kCrashed, "without a word"},
        Fault{"garbage", 2, reason::kProtocol, "something that a library prints"},
        Fault{"truncated", 2, reason::kProtocol, "begin_sec"}, Fault{"endless", 2, reason::kProtocol, "longer than"},
        Fault{"done", 2, reason::kProtocol, "before it was told"}, Fault{"hang", 0, reason::kTimedOut, "2.5 s"},
        Fault{"hang", 2, reason::kTimedOut, "2.5 s"}, Fault{"deaf", 2, reason::kTimedOut, "2.5 s"},
        Fault{"slow", 2, reason::kTimedOut, "2.5 s"}, Fault{"wrong_tokens", 1, reason::kWrongTensors, "tokens"},
        Fault{"wrong_parameters", 1, reason::kWrongTensors, "parameters"},
        Fault{"no_time", 1, reason::kWrongTensors, "above zero"}));

TEST_F(RunTest, AStopIsRecordedAndTheNextCallGoesOnWithTheSameRun) {
  plan_.protocol.repeats = 1;
  plan_.protocol.min_samples = plan_.protocol.max_samples = 6;
  bool stop = false;
  const auto watch = [&](const Progress& progress) { stop = stop || (progress.run == 2 && progress.samples == 3); };
  const Outcome first = play([&] { return stop; }, watch);
  EXPECT_TRUE(first.counts.interrupted);
  ASSERT_EQ(first.runs.size(), 2U);
  EXPECT_EQ(first.runs[1].state, RunState::interrupted);
  EXPECT_EQ(first.runs[1].reason, reason::kSignal);
  const auto taken = first.samples.at(first.runs[1].id);
  EXPECT_EQ(taken.size(), 3U);

  const Outcome second = play();
  EXPECT_EQ(second.counts.finished, 3);
  ASSERT_EQ(second.runs.size(), 4U);  // no second row for the run that went on
  EXPECT_EQ(second.runs[1].uid, first.runs[1].uid);
  const auto samples = second.samples.at(second.runs[1].id);
  ASSERT_EQ(samples.size(), 6U);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].number, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(samples[i].life, i < 3 ? 1 : 2);
    if (i < 3) {
      EXPECT_EQ(samples[i], taken[i]);
    }
  }
}

TEST_F(RunTest, ARunOfAnotherDeviceDoesNotGoOn) {
  plan_.models = {"gpt2.json"};
  plan_.protocol.repeats = 1;
  bool stop = false;
  play([&] { return stop; }, [&](const Progress& progress) { stop = progress.samples == 2; });
  script(R"({"device_name":"Another CPU"})");
  const Outcome out = play();
  std::int64_t left_behind = 0;
  for (const RunRecord& run : out.runs) {
    if (run.state == RunState::interrupted) {
      ++left_behind;
      EXPECT_EQ(run.device_name, "Scripted CPU");
    } else {
      EXPECT_EQ(run.device_name, "Another CPU");
      EXPECT_EQ(out.samples.at(run.id).size(), 4U);
    }
  }
  EXPECT_EQ(left_behind, 1);
}

TEST_F(RunTest, AStopWhileTheChildHangsIsFast) {
  script(R"({"rules":[{"when":{},"do":"deaf","at":1}]})");
  bool stop = false;
  const double begin = monotonic_seconds();
  const Outcome out =
      play([&] { return stop; }, [&](const Progress& p) { stop = p.phase == Progress::Phase::sampling; });
  EXPECT_TRUE(out.counts.interrupted);
  EXPECT_LT(monotonic_seconds() - begin, 10);
}

TEST_F(RunTest, NoisyRunsStopAtTheCap) {
  script(R"({"noise":0.9})");
  plan_.protocol.repeats = 1;
  const Outcome out = play();
  std::int64_t capped = 0;
  for (const RunRecord& run : out.runs) capped += run.reason == reason::kCapped ? 1 : 0;
  EXPECT_EQ(capped, 4);
  EXPECT_EQ(out.samples.at(out.runs.front().id).size(), 6U);
}

TEST_F(RunTest, TheCeilingIsMeasuredOnceAndNamed) {
  plan_.peak = {.source = PeakPlan::Source::measured};
  plan_.protocol.repeats = 1;
  const Outcome out = play();
  ASSERT_EQ(out.ceilings.size(), 1U);
  EXPECT_EQ(out.ceilings[0].flops_per_second, 1e11);
  for (const RunRecord& run : out.runs) {
    EXPECT_EQ(run.peak_flops_per_second, 1e11);
    EXPECT_EQ(run.bandwidth_bytes_per_second, 2e10);
    EXPECT_THAT(run.peak_source, HasSubstr("measured"));
  }
}

TEST_F(RunTest, WithoutAPeakARunFailsAndSaysSo) {
  plan_.peak = {.source = PeakPlan::Source::catalogue, .device = ""};  // nobody catalogues the scripted device
  plan_.protocol.repeats = 1;
  const Outcome out = play();
  EXPECT_EQ(out.counts.failed, 4);
  EXPECT_EQ(out.runs.front().reason, reason::kNoPeak);
  EXPECT_THAT(out.runs.front().detail, HasSubstr("Scripted CPU"));
  EXPECT_THAT(out.runs.front().detail, HasSubstr("measured"));  // what to do
}

TEST_F(RunTest, TheIdleBaselineComesFirstAndOnce) {
  plan_.protocol.idle_time = 0.05 * units::second;
  plan_.protocol.repeats = 1;
  const Outcome out = play();
  ASSERT_GE(out.idle.size(), 2U);
  EXPECT_LE(out.idle.back().begin_unix_seconds, out.runs.front().begin_unix_seconds);
  for (const IdleRecord& idle : out.idle) EXPECT_DOUBLE_EQ(*idle.power_watts, 10);  // the base alone
  EXPECT_EQ(play().idle.size(), out.idle.size());
}

TEST(Run, AProgramThatIsNotThereEndsTheSweep) {
  const auto talked = converse(
      {"/nowhere/flopwatt-torch"}, {}, 1 * units::second, [] { return false; },
      [](const workload::Event&) { return std::optional<Ending>{}; });
  ASSERT_FALSE(talked);
  EXPECT_EQ(talked.error().code, Errc::unavailable);
}

/// 10 runs of 4 to 6 samples of 2 s after a cool-down of 3 s, and 7 s of idling: 10·(8 + 3) + 7 and 10·(12 + 3) + 7.
TEST(Estimate, ByHand) {
  Plan plan;
  plan.protocol = {.cooldown = 3 * units::second,
                   .sample_time = 2 * units::second,
                   .min_samples = 4,
                   .max_samples = 6,
                   .idle_time = 7 * units::second};
  const TimeEstimate time = estimate(plan, 10, true);
  EXPECT_EQ(time.least, 117 * units::second);
  EXPECT_EQ(time.most, 157 * units::second);
}

}  // namespace
}  // namespace flopwatt::sweep
