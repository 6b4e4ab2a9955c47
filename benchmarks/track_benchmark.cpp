// What the tracker costs a loop, per step, without telemetry: the target is under 200 ns.

#include <benchmark/benchmark.h>

#include <utility>

#include "flopwatt/track/tracker.hpp"

namespace {

using flopwatt::track::Tracker;
using flopwatt::track::TrackerOptions;
namespace track = flopwatt::track;
namespace units = flopwatt::units;

TrackerOptions options() {
  TrackerOptions o;
  o.work = {.model_flops = 1 * units::teraflop,
            .hardware_flops = 1 * units::teraflop,
            .bytes = 1 * units::gigabyte,
            .optimizer_bytes = 1 * units::gigabyte,
            .slots = 1000 * units::token,
            .origin = "benchmark"};
  // A peak that an empty loop stays below, so that no figure is withheld.
  o.peak = track::DevicePeak{.device = "D",
                             .flops = 1e12 * units::teraflop_per_second,
                             .bandwidth = 1e9 * units::gigabyte_per_second,
                             .source = "benchmark"};
  o.synchronous = true;
  return o;
}

// The floor: a step reads the clock twice.
void BM_TwoClockReads(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(flopwatt::telemetry::steady_now());
    benchmark::DoNotOptimize(flopwatt::telemetry::steady_now());
  }
}
BENCHMARK(BM_TwoClockReads);

void BM_Step(benchmark::State& state) {
  Tracker tracker = *Tracker::create(options());
  for (auto _ : state) {
    const auto step = tracker.step();
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_Step);

void BM_StepOfEightMicroBatches(benchmark::State& state) {
  Tracker tracker = *Tracker::create(options());
  for (auto _ : state) {
    auto step = tracker.step();
    for (int i = 0; i < 8; ++i) step.micro_batch({.slots = 1000, .non_padding = 900, .labels = 899});
    benchmark::ClobberMemory();
  }
}
BENCHMARK(BM_StepOfEightMicroBatches);

// Every step is a window of its own that a callback sees.
void BM_StepWithCallback(benchmark::State& state) {
  TrackerOptions o = options();
  double sum = 0;
  o.sinks.push_back(
      track::callback_sink([&](const track::Identity&, const track::Window& w) { sum += w.mfu.value.value_or(0); }));
  Tracker tracker = *Tracker::create(std::move(o));
  for (auto _ : state) {
    const auto step = tracker.step();
    benchmark::ClobberMemory();
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(BM_StepWithCallback);

}  // namespace
