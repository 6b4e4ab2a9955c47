// What OperatorCounter costs an operator and a training step, beside the same work without it.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <optional>

#include "flopwatt/libtorch/operator_counter.hpp"
#include "flopwatt/libtorch/testing.hpp"
#include "flopwatt/libtorch/training.hpp"

namespace flopwatt::libtorch {
namespace {

std::optional<OperatorCounter> counter_if(bool counting) {
  if (!counting) return std::nullopt;
  auto counter = OperatorCounter::start();
  if (!counter) std::abort();
  return *std::move(counter);
}

void elementwise(benchmark::State& state, bool counting) {
  at::Tensor x = at::ones({2, 2});
  const auto counter = counter_if(counting);
  for (auto _ : state) x.neg_();
}
BENCHMARK_CAPTURE(elementwise, plain, false);
BENCHMARK_CAPTURE(elementwise, counted, true);

void product(benchmark::State& state, bool counting) {
  const at::Tensor x = at::ones({2, 2});
  at::Tensor y = at::ones({2, 2});
  const auto counter = counter_if(counting);
  for (auto _ : state) at::mm_out(y, x, x);
}
BENCHMARK_CAPTURE(product, plain, false);
BENCHMARK_CAPTURE(product, counted, true);

/// The smallest model there is: nearly all of its step is what an operator costs besides its work.
void tiny_step(benchmark::State& state, bool counting) {
  workload::Job job;
  job.config = testing::kQwen2;
  job.batch = 2;
  job.sequence = 13;
  job.threads = 1;
  auto training = Training::make(job);
  if (!training) std::abort();
  const auto counter = counter_if(counting);
  for (auto _ : state) {
    if (!training->step()) std::abort();
  }
}
BENCHMARK_CAPTURE(tiny_step, plain, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tiny_step, counted, true)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flopwatt::libtorch
