// What a fit costs: one line, and its bootstrap at the size of one device of the public study (504 rows).
#include <benchmark/benchmark.h>

#include <vector>

#include "flopwatt/stats/bootstrap.hpp"
#include "flopwatt/stats/ols.hpp"
#include "flopwatt/stats/random.hpp"

namespace flopwatt::stats {
namespace {

struct Sample {
  std::vector<double> x;
  std::vector<double> y;
};

Sample line(std::size_t n) {
  Random random(1);
  Sample sample;
  for (std::size_t i = 0; i < n; ++i) {
    sample.x.push_back(40 * random.uniform());
    sample.y.push_back(150 + 4 * sample.x.back() + 60 * (random.uniform() - 0.5));
  }
  return sample;
}

void simple_ols(benchmark::State& state) {
  const Sample sample = line(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(fit_simple_ols(sample.x, sample.y));
}
BENCHMARK(simple_ols)->Arg(504)->Unit(benchmark::kMicrosecond);

void multiple_ols(benchmark::State& state) {
  const Sample sample = line(504 * 6);
  const std::vector<double> y = line(504).y;
  for (auto _ : state) benchmark::DoNotOptimize(fit_ols(sample.x, 6, y));
}
BENCHMARK(multiple_ols)->Unit(benchmark::kMicrosecond);

void bootstrap_line(benchmark::State& state) {
  const Sample sample = line(504);
  for (auto _ : state) benchmark::DoNotOptimize(bootstrap_simple_ols(sample.x, sample.y, kDefaultResamples, 1));
}
BENCHMARK(bootstrap_line)->Unit(benchmark::kMillisecond);

void bootstrap_cells(benchmark::State& state) {
  const Sample sample = line(504);
  std::vector<std::size_t> cell;
  for (std::size_t i = 0; i < 504; ++i) cell.push_back(i % 21);
  for (auto _ : state) {
    benchmark::DoNotOptimize(bootstrap_grouped_ols(sample.x, sample.y, cell, 21, kDefaultResamples, 1));
  }
}
BENCHMARK(bootstrap_cells)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flopwatt::stats
