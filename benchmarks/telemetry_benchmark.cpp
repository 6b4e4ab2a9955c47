// What telemetry costs the program that it watches: a sampler at 10 Hz over eight devices of a scripted driver, as a
// fraction of one core (the goal is 0.005), one round of readings, and the energy of an hour at 10 Hz.
#include <benchmark/benchmark.h>

#include <chrono>
#include <ctime>
#include <thread>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/nvml.hpp"
#include "flopwatt/telemetry/sampler.hpp"
#include "flopwatt/telemetry/testing/scripted_driver.hpp"

namespace flopwatt::telemetry {
namespace {

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

std::unique_ptr<Source> eight_devices(benchmark::State& state) {
  const testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_NVML_LIBRARY};
  driver.script("devices=8");
  OpenedSource source = open_nvml({.library = driver.path()});
  if (!source) {
    state.SkipWithError(source.error().error().message().c_str());
    return nullptr;
  }
  return std::move(*source);
}

void sampler_at_10_hz(benchmark::State& state) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(eight_devices(state));
  if (sources[0] == nullptr) return;
  Sampler sampler{std::move(sources), {.period = 100 * units::millisecond}};
  sampler.start();
  const double begin = processor_seconds();
  const auto since = std::chrono::steady_clock::now();
  for (auto _ : state) std::this_thread::sleep_for(std::chrono::seconds{1});
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - since;
  state.counters["core_fraction"] = (processor_seconds() - begin) / elapsed.count();
  state.counters["readings"] = static_cast<double>(sampler.trace(7).size());
}
BENCHMARK(sampler_at_10_hz)->Iterations(5)->Unit(benchmark::kMillisecond)->UseRealTime();

void round_of_eight_devices(benchmark::State& state) {
  const auto source = eight_devices(state);
  if (source == nullptr) return;
  for (auto _ : state) {
    for (std::size_t i = 0; i < 8; ++i) benchmark::DoNotOptimize(source->read(i));
  }
}
BENCHMARK(round_of_eight_devices)->Unit(benchmark::kMicrosecond);

void energy_of_an_hour(benchmark::State& state) {
  Trace trace;
  for (int i = 0; i < 36'000; ++i) {
    Snapshot snapshot;
    snapshot.time = std::chrono::milliseconds{100 * i};
    snapshot.power = {(300 + i % 100) * units::watt, PowerKind::instant, Scope::device};
    if (state.range(0) != 0) snapshot.energy = 30.0 * i * units::joule;
    trace.add(snapshot);
  }
  for (auto _ : state) benchmark::DoNotOptimize(energy_of(trace));
}
BENCHMARK(energy_of_an_hour)->ArgName("counter")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace flopwatt::telemetry
