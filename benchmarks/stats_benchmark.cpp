// What a fit costs: one line, its bootstrap at the size of one device of the public study (504 rows), and a bounded
// robust fit of a saturating model with seven parameters, which cross-validation repeats for every fold.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "flopwatt/stats/bootstrap.hpp"
#include "flopwatt/stats/conformal.hpp"
#include "flopwatt/stats/nls.hpp"
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

/// Floor, three slopes over F by precision, one over B, a ceiling and its softness; on relative error.
double saturating(std::span<const double> p, std::size_t precision, double f, double b) {
  const double open = p[0] + p[1 + precision] * f + p[4] * b;
  return std::min(open, p[5]) - p[6] * std::log1p(std::exp(-std::abs(open - p[5]) / p[6]));
}

void nonlinear_fit(benchmark::State& state) {
  const std::vector<double> planted{80, 250, 150, 140, 120, 300, 12};
  constexpr std::size_t kRows = 504;
  Random random(3);
  std::vector<double> f;
  std::vector<double> b;
  std::vector<double> y;
  for (std::size_t i = 0; i < kRows; ++i) {
    f.push_back(random.uniform());
    b.push_back(random.uniform());
    y.push_back(saturating(planted, i % 3, f[i], b[i]) * (1 + 0.1 * (random.uniform() - 0.5)));
  }
  NlsProblem problem;
  problem.residuals = kRows;
  problem.loss = Loss::soft_l1;
  problem.loss_scale = 0.05;
  problem.residual_function = [&](std::span<const double> p, std::span<double> out) {
    for (std::size_t i = 0; i < kRows; ++i) out[i] = saturating(p, i % 3, f[i], b[i]) / y[i] - 1;
  };
  problem.bounds = {{0, 500}, {0, 2000}, {0, 2000}, {0, 2000}, {0, 2000}, {100, 1000}, {1, 100}};
  problem.start = {50, 100, 100, 100, 100, 320, 20};
  int evaluations = 0;
  for (auto _ : state) {
    const auto fit = fit_nls(problem);
    if (!fit || !fit->converged()) state.SkipWithError("not converged");
    if (fit) evaluations = fit->evaluations;
  }
  state.counters["residual_calls"] = evaluations;
}
BENCHMARK(nonlinear_fit)->Unit(benchmark::kMillisecond);

void conformal(benchmark::State& state) {
  const Sample sample = line(504);
  std::vector<std::size_t> group;
  for (std::size_t i = 0; i < 504; ++i) group.push_back(i / 4);
  for (auto _ : state) benchmark::DoNotOptimize(symmetric_interval(sample.y, group, 0.9));
}
BENCHMARK(conformal)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace flopwatt::stats
