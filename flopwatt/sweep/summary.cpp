#include "flopwatt/sweep/summary.hpp"

#include <algorithm>
#include <utility>

#include "flopwatt/sweep/convergence.hpp"

namespace flopwatt::sweep {
namespace {

std::optional<double> ratio(double total, double of) {
  if (!(of > 0)) return std::nullopt;
  return total / of;
}

/// Totals while samples come in.  Seconds are the device's, but for the energy: a meter reads from begin to end.
struct Sums {
  Spread mfu, utilization;
  double seconds = 0, tokens = 0, steps = 0, mfu_seconds = 0, hfu_seconds = 0;
  double mbu_seconds = 0, seconds_with_mbu = 0;
  double energy = 0, energy_tokens = 0, energy_seconds = 0;

  void add(const SampleRecord& sample) {
    mfu.add(sample.mfu);
    seconds += sample.device_seconds;
    tokens += static_cast<double>(sample.tokens);
    steps += static_cast<double>(sample.steps);
    mfu_seconds += sample.mfu * sample.device_seconds;
    hfu_seconds += sample.hfu * sample.device_seconds;
    if (sample.mbu) {
      mbu_seconds += *sample.mbu * sample.device_seconds;
      seconds_with_mbu += sample.device_seconds;
    }
    if (sample.utilization) utilization.add(*sample.utilization);
    if (sample.energy_joules) {
      energy += *sample.energy_joules;
      energy_tokens += static_cast<double>(sample.tokens);
      energy_seconds += sample.wall_seconds;
    }
  }
};

void add_run(Summary& summary, Sums& sums, const RunRecord& run, const std::vector<SampleRecord>& samples) {
  summary.tensor_sequence = run.tensor_sequence;
  summary.peak_source = run.peak_source;
  summary.peak_flops_per_second = run.peak_flops_per_second;
  summary.bandwidth_bytes_per_second = run.bandwidth_bytes_per_second;
  summary.power_source = run.power_source;
  summary.power_kind = run.power_kind;
  summary.power_scope = run.power_scope;
  for (const SampleRecord& sample : samples) {
    sums.add(sample);
    ++summary.samples;
    summary.above_peak = summary.above_peak || sample.mfu > 1 || sample.hfu > 1;
    if (!sample.power_watts) summary.power_missing = sample.power_missing;
    if (sample.peak_memory_bytes) {
      summary.peak_memory_bytes = std::max(summary.peak_memory_bytes.value_or(0), *sample.peak_memory_bytes);
    }
  }
}

void finish(Summary& summary, const Sums& sums) {
  summary.mfu = ratio(sums.mfu_seconds, sums.seconds);
  summary.hfu = ratio(sums.hfu_seconds, sums.seconds);
  summary.mbu = ratio(sums.mbu_seconds, sums.seconds_with_mbu);
  summary.tokens_per_second = ratio(sums.tokens, sums.seconds);
  summary.step_seconds = ratio(sums.seconds, sums.steps);
  summary.half_width = sums.mfu.half_width();
  summary.power_watts = ratio(sums.energy, sums.energy_seconds);
  summary.utilization = sums.utilization.mean();
  summary.joules_per_token = ratio(sums.energy, sums.energy_tokens);
}

}  // namespace

Result<std::vector<Summary>> summarize(Store& store) {
  FLOPWATT_TRY(const auto configurations, store.configurations());
  FLOPWATT_TRY(const auto runs, store.runs());
  std::vector<Summary> out;
  for (const Store::StoredConfiguration& one : configurations) {
    std::map<std::string, std::pair<Summary, Sums>> by_device;
    for (const RunRecord& run : runs) {
      if (run.configuration != one.id) continue;
      auto& [summary, sums] = by_device[run.device_name];
      summary.device_name = run.device_name;
      if (run.state == RunState::finished) {
        ++summary.finished;
        if (run.reason == reason::kCapped) ++summary.capped;
        FLOPWATT_TRY(const auto samples, store.samples(run.id));
        add_run(summary, sums, run, samples);
        continue;
      }
      ++(run.state == RunState::failed ? summary.failed : summary.interrupted);
      ++summary.reasons[run.state == RunState::running ? "running" : run.reason];
      summary.detail = run.detail;
    }
    if (by_device.empty()) by_device[""];
    // A run that ended before the workload named its device is no second device.
    const auto unnamed = by_device.find("");
    if (by_device.size() > 1 && unnamed != by_device.end() && unnamed->second.first.finished == 0) {
      const Summary before = std::move(unnamed->second.first);
      by_device.erase(unnamed);
      Summary& into = by_device.begin()->second.first;
      into.failed += before.failed;
      into.interrupted += before.interrupted;
      for (const auto& [reason, count] : before.reasons) into.reasons[reason] += count;
      if (into.detail.empty()) into.detail = before.detail;
    }
    for (auto& [device, pair] : by_device) {
      auto& [summary, sums] = pair;
      summary.id = one.id;
      summary.configuration = one.configuration;
      finish(summary, sums);
      out.push_back(std::move(summary));
    }
  }
  return out;
}

}  // namespace flopwatt::sweep
