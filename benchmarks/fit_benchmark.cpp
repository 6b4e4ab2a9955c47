// What fitting the public study's four devices costs: the promise is a second for the closed-form models with 2,000
// bootstrap resamples, five with everything, on one core.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "flopwatt/fit/fit.hpp"
#include "flopwatt/power/predict.hpp"

namespace flopwatt {
namespace {

struct File {
  std::string name, text;
};

/// The study's files, or none where they are not at hand.
const std::vector<File>& files() {
  static const std::vector<File> all = [] {
    std::vector<File> read;
    for (const char* name : {"a100.csv", "l40.csv", "mi210.csv", "quadro_rtx_5000.csv"}) {
      const auto path = std::filesystem::path{FLOPWATT_SHARED} / "gpu_power_benchmark" / name;
      std::ifstream in{path, std::ios::binary};
      if (!in) return std::vector<File>{};
      std::stringstream text;
      text << in.rdbuf();
      read.push_back({name, text.str()});
    }
    return read;
  }();
  return all;
}

std::vector<dataset::Dataset> read_all() {
  std::vector<dataset::Dataset> all;
  for (const File& file : files()) {
    auto data = dataset::read_samples(file.text, file.name);
    for (dataset::Dataset& one : *data) all.push_back(std::move(one));
  }
  return all;
}

bool skip_without_files(benchmark::State& state) {
  if (!files().empty()) return false;
  state.SkipWithError("needs the study's files: configure with -DFLOPWATT_SHARED=DIR");
  return true;
}

void read_four_files(benchmark::State& state) {
  if (skip_without_files(state)) return;
  for (auto _ : state) benchmark::DoNotOptimize(read_all());
}
BENCHMARK(read_four_files)->Unit(benchmark::kMillisecond);

/// Reading, the study's three forms and 2,000 resamples.
void fit_closed_forms(benchmark::State& state) {
  if (skip_without_files(state)) return;
  fit::FitOptions options;
  options.forms = {power::Form::linear, power::Form::dtype, power::Form::cell};
  options.cross_validate = false;
  options.audit = false;
  for (auto _ : state) benchmark::DoNotOptimize(fit::fit(read_all(), options));
}
BENCHMARK(fit_closed_forms)->Unit(benchmark::kMillisecond);

/// The audit, all forms, cross-validation over model, batch and dtype, and 2,000 resamples.
void fit_everything(benchmark::State& state) {
  if (skip_without_files(state)) return;
  for (auto _ : state) benchmark::DoNotOptimize(fit::fit(read_all()));
}
BENCHMARK(fit_everything)->Unit(benchmark::kMillisecond);

/// What a search pays for the watts of one candidate.
void saturating_watts(benchmark::State& state) {
  const auto calibration = power::shipped_calibration("A100");
  if (!calibration) {
    state.SkipWithError(calibration.error().message().c_str());
    return;
  }
  const power::Saturating& model = *calibration->saturating;
  units::FlopRate rate = 50 * units::teraflop_per_second;
  const power::Traffic traffic{500 * units::gigabyte_per_second, 100 * units::gigabyte_per_second};
  for (auto _ : state) {
    benchmark::DoNotOptimize(rate);
    benchmark::DoNotOptimize(model.watts(units::Precision::bfloat16, rate, traffic));
  }
}
BENCHMARK(saturating_watts);

/// The same with interval and flags.
void full_prediction(benchmark::State& state) {
  const auto calibration = power::shipped_calibration("A100");
  if (!calibration) {
    state.SkipWithError(calibration.error().message().c_str());
    return;
  }
  power::Query query;
  query.flops = 50 * units::teraflop_per_second;
  query.traffic = power::Traffic{500 * units::gigabyte_per_second, 100 * units::gigabyte_per_second};
  query.batch = 64;
  query.sequence = 11;
  for (auto _ : state) benchmark::DoNotOptimize(power::predict(*calibration, query));
}
BENCHMARK(full_prediction);

}  // namespace
}  // namespace flopwatt
