#include "flopwatt/track/combine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"

namespace flopwatt::track {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 53;
constexpr std::int64_t kMostRanks = std::int64_t{1} << 30;  // of which as many devices each can still be summed
constexpr double kLargest = 1e60;  // beyond every job; products and sums of such figures stay finite

Result<RankRun> read_line(const io::JsonObject& line) {
  RankRun run;
  FLOPWATT_TRY(run.ranks, line.require_int("ranks", 1, kMostRanks));
  FLOPWATT_TRY(run.rank, line.require_int("rank", 0, run.ranks - 1));
  FLOPWATT_TRY(run.devices, line.require_int("devices", 1, kMostRanks));
  FLOPWATT_TRY(run.steps, line.require_int("steps", 1, kMost));
  FLOPWATT_TRY(run.slots, line.require_int("slots", 1, kMost));
  FLOPWATT_TRY(run.non_padding, line.optional_int("non_padding_tokens", 0, run.slots));
  FLOPWATT_TRY(const double in_steps, line.require_number("in_steps_seconds", 1e-12, kLargest));
  FLOPWATT_TRY(const double wall, line.require_number("wall_seconds", 1e-12, kLargest));
  FLOPWATT_TRY(const double flops, line.require_number("model_flops", 0, kLargest));
  FLOPWATT_TRY(const std::optional<double> peak, line.optional_number("peak_flops_per_second", 1, kLargest));
  FLOPWATT_TRY(const std::optional<double> energy, line.optional_number("energy_joules", 0, kLargest));
  run.in_steps = in_steps * units::second;
  run.wall = wall * units::second;
  run.model_flops = flops * units::flop;
  if (peak) run.peak = *peak * units::flop_per_second;
  if (energy) run.energy = *energy * units::joule;
  return run;
}

Result<void> check_ranks(std::span<const RankRun> runs) {
  if (runs.empty()) return fail(Errc::usage, "there are no runs to join");
  std::vector<std::int64_t> ranks;
  for (const RankRun& run : runs) {
    if (run.ranks != runs.front().ranks) return fail(Errc::usage, "the runs are of jobs of different size");
    if (run.steps != runs.front().steps) {
      return fail(Errc::usage, fmt::format("rank {} made {} steps, rank {} made {}", runs.front().rank,
                                           runs.front().steps, run.rank, run.steps));
    }
    ranks.push_back(run.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  if (ranks.front() < 0 || ranks.back() >= runs.front().ranks) {
    return fail(Errc::usage, fmt::format("a job of {} ranks has no rank {}", runs.front().ranks,
                                         ranks.front() < 0 ? ranks.front() : ranks.back()));
  }
  if (const auto twice = std::adjacent_find(ranks.begin(), ranks.end()); twice != ranks.end()) {
    return fail(Errc::usage, fmt::format("rank {} is there twice", *twice));
  }
  if (static_cast<std::int64_t>(ranks.size()) != runs.front().ranks) {
    return fail(Errc::usage, fmt::format("{} of {} ranks are there", ranks.size(), runs.front().ranks), {},
                "give the file of every rank");
  }
  return {};
}

}  // namespace

Result<RankRun> read_run(std::string_view jsonl, const std::string& where) {
  // From the end: the last finished "run" line counts.
  std::int64_t number = std::count(jsonl.begin(), jsonl.end(), '\n') + 1;
  for (; !jsonl.empty(); --number) {
    const std::size_t newline = jsonl.rfind('\n');
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    const std::string_view line = jsonl.substr(begin);
    jsonl = jsonl.substr(0, newline == std::string_view::npos ? 0 : newline);
    if (line.find("\"kind\":\"run\"") == std::string_view::npos) continue;
    const std::string place = fmt::format("{}:{}", where, number);
    const Result<io::Json> json = io::parse_json(line, place);
    if (!json) continue;  // torn by a kill
    FLOPWATT_TRY(const io::JsonObject object, io::JsonObject::root(*json, place));
    return read_line(object);
  }
  return fail(Errc::bad_data, "holds no line of a run's end", where, "give a file that a finished tracker wrote");
}

Result<GlobalRun> combine(std::span<const RankRun> runs) {
  FLOPWATT_TRY_VOID(check_ranks(runs));
  GlobalRun job{.ranks = runs.front().ranks, .devices = 0, .steps = runs.front().steps};
  units::FlopCount flops;
  units::FlopRate peaks;
  double slots = 0;
  double tokens = 0;
  units::Energy energy;
  bool all_peaks = true;
  bool all_tokens = true;
  bool all_energy = true;
  std::vector<double> rank_mfu;
  for (const RankRun& run : runs) {
    const auto devices = static_cast<double>(run.devices);
    job.devices += run.devices;
    job.in_steps = std::max(job.in_steps, run.in_steps);
    job.wall = std::max(job.wall, run.wall);
    flops += run.model_flops;
    slots += static_cast<double>(run.slots);
    tokens += static_cast<double>(run.non_padding.value_or(0));
    all_tokens = all_tokens && run.non_padding;
    all_peaks = all_peaks && run.peak;
    all_energy = all_energy && run.energy;
    if (run.peak) {
      peaks += devices * *run.peak;
      rank_mfu.push_back(run.model_flops / run.in_steps / (devices * *run.peak));
    }
    if (run.energy) energy += *run.energy;
  }
  job.slots_per_second = slots * units::token / job.in_steps;
  if (all_tokens) job.tokens_per_second = tokens * units::token / job.in_steps;
  if (all_energy) job.energy = energy;
  if (all_peaks) {
    const double mfu = flops / job.in_steps / peaks;
    (mfu < 1 ? job.mfu.value : job.mfu.impossible) = mfu;
    const auto [slowest, fastest] = std::minmax_element(rank_mfu.begin(), rank_mfu.end());
    job.slowest_rank_mfu = *slowest;
    job.fastest_rank_mfu = *fastest;
  }
  return job;
}

}  // namespace flopwatt::track
