// A loop that knows its model and its device, and tells both to the tracker.
//
//   bare_loop [FILE.jsonl]      one line a window to FILE, a summary on stdout
//
// The "training" is a matrix product on the CPU; put the real step in its place, and a `synchronize` that waits for
// the device (cudaDeviceSynchronize, torch::cuda::synchronize).

#include <cstdio>
#include <utility>
#include <vector>

#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/track/tracker.hpp"
#include "flopwatt/work/ledger.hpp"

namespace {

using flopwatt::Result;
namespace track = flopwatt::track;
namespace units = flopwatt::units;

constexpr std::int64_t kMicroBatch = 2;
constexpr std::int64_t kSequence = 128;

/// Stands for forward and backward.
float work_a_little() {
  constexpr int kSide = 96;
  std::vector<float> a(kSide * kSide, 0.5F), b(kSide * kSide, 0.25F);
  float sum = 0;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      for (int k = 0; k < kSide; ++k) sum += a[i * kSide + k] * b[k * kSide + j];
    }
  }
  return sum;
}

Result<track::TrackerOptions> options(const char* log) {
  track::TrackerOptions options;
  FLOPWATT_TRY(const auto architecture, flopwatt::model::Catalogue::builtin().find("openai-community/gpt2"));
  FLOPWATT_TRY(const auto ledger, flopwatt::work::count(architecture, {.batch = kMicroBatch, .sequence = kSequence}));
  options.work = track::work_of(ledger);
  // Of a device in the catalogue: track::peak_of(device, precision).
  options.peak = track::DevicePeak{.device = "an example",
                                   .flops = 989.4 * units::teraflop_per_second,
                                   .bandwidth = 3.35e3 * units::gigabyte_per_second,
                                   .source = "stated by this example"};
  options.warmup_steps = 2;
  options.window_steps = 4;
  options.synchronous = true;  // nothing is launched and left to run
  if (log != nullptr) {
    FLOPWATT_TRY(auto sink, track::jsonl_sink(log));
    options.sinks.push_back(std::move(sink));
  }
  return options;
}

Result<void> train(const char* log) {
  FLOPWATT_TRY(auto chosen, options(log));
  FLOPWATT_TRY(track::Tracker tracker, track::Tracker::create(std::move(chosen)));
  float loss = 0;
  for (int i = 0; i < 10; ++i) {
    auto step = tracker.step();
    for (int micro = 0; micro < 2; ++micro) {
      loss += work_a_little();
      step.micro_batch({.slots = kMicroBatch * kSequence, .non_padding = kMicroBatch * kSequence - 16, .labels = {}});
    }
  }
  tracker.finish();

  const track::Window run = tracker.run();
  std::printf("%lld steps, %.3g s each, %.4g tokens/s (loss %g)\n", static_cast<long long>(run.steps),
              run.step_time().in(units::second), run.tokens_per_second->in(units::token_per_second),
              static_cast<double>(loss));
  if (run.mfu.value)
    std::printf("MFU %.3g in steps, %.3g over the run\n", *run.mfu.value, run.run_mfu.value.value_or(0));
  // This loop does not do the work that it claims: a fast machine would be above the peak, and then there is no MFU.
  if (run.mfu.impossible) std::printf("no MFU: it came out as %.3g\n", *run.mfu.impossible);
  if (tracker.trouble()) std::printf("the log is incomplete: %s\n", tracker.trouble()->message().c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Result<void> done = train(argc > 1 ? argv[1] : nullptr);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", done.error().message().c_str());
  return static_cast<int>(done.error().code);
}
