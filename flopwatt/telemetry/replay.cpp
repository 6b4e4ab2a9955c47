#include "flopwatt/telemetry/replay.hpp"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "flopwatt/io/file.hpp"
#include "flopwatt/telemetry/trace_csv.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::string_view kRecorded = "recorded";
constexpr double kFastest = 1e6;

template <class Quantity>
Reading<Quantity> between(const Reading<Quantity>& before, const Reading<Quantity>& after, double part) {
  if (!before || !after) return before;
  return *before + part * (*after - *before);
}

class ReplaySource final : public Source {
 public:
  ReplaySource(std::vector<Trace> traces, ReplayOptions options)
      : traces_{std::move(traces)}, options_{std::move(options)} {
    if (!options_.clock) options_.clock = steady_now;
    bool first = true;
    for (Trace& trace : traces_) {
      trace.device().index = devices_.size();
      devices_.push_back(trace.device());
      devices_.back().notes.emplace_back("recorded: no measurement of this machine");
      if (trace.empty()) continue;
      begin_ = first ? trace.front().time : std::min(begin_, trace.front().time);
      end_ = first ? trace.back().time : std::max(end_, trace.back().time);
      first = false;
    }
    started_ = options_.clock();
  }

  std::string_view name() const override { return kRecorded; }
  std::span<const DeviceInfo> devices() const override { return devices_; }
  bool recorded() const override { return true; }

  Snapshot read(std::size_t device) override {
    const Trace& trace = traces_[device];
    const SteadyTime now = options_.clock();
    const auto elapsed = static_cast<std::int64_t>(static_cast<double>((now - started_).count()) * options_.speed);
    const std::int64_t length = (end_ - begin_).count();
    const std::int64_t rounds = options_.repeat && length > 0 ? elapsed / length : 0;
    const SteadyTime time = begin_ + SteadyTime{elapsed - rounds * length};
    Snapshot snapshot = at(trace, time);
    if (snapshot.energy && rounds > 0) snapshot.energy = *snapshot.energy + static_cast<double>(rounds) * gain(trace);
    snapshot.time = now;
    snapshot.time_error = {};
    snapshot.wall = wall_now();
    return snapshot;
  }

 private:
  static Snapshot at(const Trace& trace, SteadyTime time) {
    Snapshot nothing;
    nothing.power.value = Absence::no_samples;
    nothing.energy = Absence::no_samples;
    const std::size_t after = trace.lower_bound(time);
    if (trace.empty() || (after == 0 && trace.front().time > time)) return nothing;
    if (after == trace.size()) {
      nothing.power.value = Absence::stale;
      nothing.energy = Absence::stale;
      return nothing;
    }
    const Snapshot& right = trace[after];
    if (right.time == time || after == 0) return right;
    const Snapshot& left = trace[after - 1];
    const double part = to_duration(time - left.time) / to_duration(right.time - left.time);
    Snapshot snapshot = left;
    snapshot.power.value = between(left.power.value, right.power.value, part);
    snapshot.module_power.value = between(left.module_power.value, right.module_power.value, part);
    // A counter that wrapped or was reset on the way has nothing between.
    if (left.energy && right.energy && *right.energy >= *left.energy) {
      snapshot.energy = between(left.energy, right.energy, part);
    }
    return snapshot;
  }

  /// What the counter gained from the first to the last snapshot that has it.
  static units::Energy gain(const Trace& trace) {
    Reading<units::Energy> first;
    Reading<units::Energy> last;
    for (std::size_t i = 0; i < trace.size(); ++i) {
      if (!trace[i].energy) continue;
      if (!first) first = trace[i].energy;
      last = trace[i].energy;
    }
    return first && last && *last > *first ? *last - *first : units::Energy{};
  }

  std::vector<Trace> traces_;
  ReplayOptions options_;
  std::vector<DeviceInfo> devices_;
  SteadyTime begin_{};
  SteadyTime end_{};
  SteadyTime started_{};
};

}  // namespace

OpenedSource replay(std::vector<Trace> traces, const ReplayOptions& options) {
  if (traces.empty()) {
    return tl::unexpected{SourceAbsence{std::string{kRecorded}, Absence::no_samples, "the recording has no rows", {}}};
  }
  if (!(options.speed > 0) || options.speed > kFastest) {
    return tl::unexpected{SourceAbsence{
        std::string{kRecorded}, Absence::garbage, "the speed of a replay is above 0 and at most a million", {}}};
  }
  return std::make_unique<ReplaySource>(std::move(traces), options);
}

OpenedSource open_recorded(const std::string& path, const ReplayOptions& options) {
  const auto refuse = [](const base::Error& error, Absence reason) {
    return tl::unexpected{SourceAbsence{std::string{kRecorded}, reason, error.where + ": " + error.what, error.remedy}};
  };
  const auto text = io::read_file(path);
  if (!text) return refuse(text.error(), Absence::not_present);
  auto traces = read_trace_csv(*text, path);
  if (!traces) return refuse(traces.error(), Absence::garbage);
  return replay(std::move(*traces), options);
}

}  // namespace flopwatt::telemetry
