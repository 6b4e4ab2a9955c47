#include "flopwatt/sweep/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace flopwatt::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view kSmall =
    "models = ['gpt2']\ndtypes = ['float32']\nbatch = [1]\nsequence = [64]\n[peak]\nsource = 'measured'\n";

TEST(Plan, DefaultsAreTheStudysProtocol) {
  const auto plan = read_plan(kSmall, "plan.toml");
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->protocol.warmup_steps, 5);
  EXPECT_EQ(plan->protocol.cooldown, 5 * units::second);
  EXPECT_EQ(plan->protocol.sample_time, 1 * units::second);
  EXPECT_DOUBLE_EQ(plan->protocol.half_width, 0.05);
  EXPECT_EQ(plan->protocol.min_samples, 50);
  EXPECT_EQ(plan->protocol.max_samples, 500);
  EXPECT_EQ(plan->protocol.repeats, 4);
  EXPECT_DOUBLE_EQ(plan->learning_rate, 1e-4);
  EXPECT_DOUBLE_EQ(plan->weight_decay, 0.01);
  EXPECT_EQ(plan->padding, workload::Padding::full);
  EXPECT_EQ(plan->power.source, PowerPlan::Source::automatic);
  EXPECT_THAT(plan->attention, ElementsAre(workload::Attention::sdpa));
}

TEST(Plan, ReadsEveryKey) {
  const auto plan = read_plan(R"(
models = ["gpt2", "models/tiny.json"]
dtypes = ["float32", "tf32", "fp16", "bf16"]
attention = ["eager", "sdpa"]
batch = [1, 2]
sequence = [32, 64, 128]
recompute = ["none", "full"]
accumulation = [1, 4]
pad = "none"
device = "cuda:1"
seed = 7
learning_rate = 0.001
weight_decay = 0
workload = "./steps"
[weights]
gpt2 = "gpt2.safetensors"
[protocol]
warmup_steps = 0
cooldown_seconds = 0.5
sample_seconds = 0.1
half_width_percent = 2
min_samples = 3
max_samples = 9
repeats = 2
idle_seconds = 0
time_limit_seconds = 60
threads = 2
[power]
source = "synthetic"
base_watts = 20
joules_per_flop = 1e-10
joules_per_byte = 2e-10
noise_percent = 1
[peak]
source = "stated"
bytes_per_second = "20 GB/s"
[peak.flops_per_second]
float32 = "100 GFLOP/s"
tf32 = 1e11
float16 = 1e11
bfloat16 = 2e11
)",
                              "plan.toml");
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_THAT(plan->sequences, ElementsAre(32, 64, 128));
  EXPECT_THAT(plan->dtypes, ElementsAre(units::Precision::float32, units::Precision::tf32, units::Precision::float16,
                                        units::Precision::bfloat16));
  EXPECT_EQ(plan->weights.at("gpt2"), "gpt2.safetensors");
  EXPECT_EQ(plan->device, (workload::Place{workload::Place::Type::cuda, 1}));
  EXPECT_EQ(plan->protocol.time_limit, 60 * units::second);
  EXPECT_DOUBLE_EQ(plan->protocol.half_width, 0.02);
  EXPECT_EQ(plan->power.base, 20 * units::watt);
  EXPECT_DOUBLE_EQ(plan->power.noise, 0.01);
  EXPECT_EQ(plan->peak.peaks.at(units::Precision::float32), 1e11 * units::flop_per_second);
  EXPECT_EQ(*plan->peak.bandwidth, 20 * units::gigabyte_per_second);
}

struct Ugly {
  std::string text;    ///< put in place of, or in front of, the small plan
  std::string key;     ///< that the message names
  bool whole = false;  ///< the text is the whole plan
};
void PrintTo(const Ugly& ugly, std::ostream* out) { *out << ugly.text; }

class UglyPlan : public testing::TestWithParam<Ugly> {};

TEST_P(UglyPlan, IsRefusedWithFileAndKey) {
  std::string text = GetParam().text;
  if (!GetParam().whole) text += '\n' + std::string{kSmall};
  const auto plan = read_plan(text, "ugly.toml");
  ASSERT_FALSE(plan) << text;
  EXPECT_EQ(plan.error().code, Errc::bad_data);
  EXPECT_THAT(plan.error().message(), StartsWith("ugly.toml"));
  EXPECT_THAT(plan.error().message(), HasSubstr(GetParam().key));
}

std::string with(std::string_view from, std::string_view to) {
  std::string text{kSmall};
  text.replace(text.find(from), from.size(), to);
  return text;
}
std::string after(std::string_view more) { return std::string{kSmall} + std::string{more}; }

INSTANTIATE_TEST_SUITE_P(
    Values, UglyPlan,
    testing::Values(
        Ugly{"", "", true}, Ugly{"models = [", "", true}, Ugly{"models = ['gpt2']", "dtypes", true},
        Ugly{"modles = ['gpt2']", "modles"}, Ugly{"seed = -1", "seed"}, Ugly{"seed = 1.5", "seed"},
        Ugly{"seed = nan", ""}, Ugly{"learning_rate = -1", "learning_rate"},
        Ugly{"learning_rate = '1'", "learning_rate"}, Ugly{"attention = ['flash']", "attention"},
        Ugly{"attention = 'sdpa'", "attention"}, Ugly{"recompute = ['selective']", "recompute"},
        Ugly{"accumulation = [0]", "accumulation"}, Ugly{"pad = 'half'", "pad"}, Ugly{"device = 'tpu'", "device"},
        Ugly{"device = 'cuda:'", "device"}, Ugly{"device = 'cuda:-1'", "device"}, Ugly{"device = 'cpu:0'", "device"},
        Ugly{"device = ''", "device"}, Ugly{with("['gpt2']", "[]"), "models", true},
        Ugly{with("['gpt2']", "['']"), "models", true}, Ugly{with("['gpt2']", "['gpt2', 'gpt2']"), "models", true},
        Ugly{with("['gpt2']", "'gpt2'"), "models", true}, Ugly{with("'float32'", "'float64'"), "dtypes", true},
        Ugly{with("'float32'", "'int8'"), "dtypes", true},
        Ugly{with("'float32'", "'bf16', 'bfloat16'"), "dtypes", true}, Ugly{with("[1]", "[0]"), "batch", true},
        Ugly{with("[1]", "[-1]"), "batch", true}, Ugly{with("[1]", "[1.5]"), "batch", true},
        Ugly{with("[1]", "[true]"), "batch", true}, Ugly{with("[1]", "[1, 1]"), "batch", true},
        Ugly{with("[64]", "[10000000000]"), "sequence", true}, Ugly{with("[64]", "64"), "sequence", true},
        Ugly{with("'measured'", "'guess'"), "peak.source", true}, Ugly{with("'measured'", "'catalogue'"), "peak", true},
        Ugly{after("device = 'A100'\n"), "peak.device", true},
        Ugly{with("'measured'", "'stated'"), "flops_per_second", true},
        Ugly{with("'measured'", "'stated'\nflops_per_second = { bfloat16 = 1 }"), "float32", true},
        Ugly{with("'measured'", "'stated'\nflops_per_second = { float32 = 0 }"), "float32", true},
        Ugly{with("'measured'", "'stated'\nflops_per_second = { float32 = '100 G' }"), "float32", true},
        Ugly{with("'measured'", "'stated'\nflops_per_second = { float32 = 1e11, fp32 = 1e11 }"), "fp32", true},
        Ugly{after("[protocol]\nmin_samples = 1\n"), "min_samples", true},
        Ugly{after("[protocol]\nmin_samples = 10\nmax_samples = 9\n"), "max_samples", true},
        Ugly{after("[protocol]\nhalf_width_percent = 0\n"), "half_width_percent", true},
        Ugly{after("[protocol]\ncooldown_seconds = -1\n"), "cooldown_seconds", true},
        Ugly{after("[protocol]\nsample_seconds = 0\n"), "sample_seconds", true},
        Ugly{after("[protocol]\nrepeats = 0\n"), "repeats", true},
        Ugly{after("[protocol]\ntime_limit_seconds = 0\n"), "time_limit_seconds", true},
        Ugly{after("[protocol]\nrepetitions = 4\n"), "repetitions", true},
        Ugly{after("[power]\nsource = ''\n"), "power.source", true},
        Ugly{after("[power]\nsource = 'synthetic'\n"), "base_watts", true},
        Ugly{after("[power]\nsource = 'synthetic'\nbase_watts = 0\n"), "base_watts", true},
        Ugly{after("[power]\nbase_watts = 20\n"), "base_watts", true},
        Ugly{after("[power]\nsource = 'recorded'\n"), "file", true},
        Ugly{after("[power]\nsource = 'nvml'\nfile = 'a.csv'\n"), "file", true},
        Ugly{after("[weights]\nother = 'a'\n"), "other", true}));

TEST(Plan, RefusesACrossProductBeyondReason) {
  std::string numbers;
  for (int i = 1; i <= 1001; ++i) numbers += std::to_string(i) + ',';
  std::string text = "models = ['gpt2']\ndtypes = ['float32']\nbatch = [" + numbers + "]\nsequence = [" + numbers +
                     "]\n[peak]\nsource = 'measured'\n";
  const auto plan = read_plan(text, "plan.toml");
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message(), HasSubstr("configurations"));
}

}  // namespace
}  // namespace flopwatt::sweep
