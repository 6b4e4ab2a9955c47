#include "flopwatt/telemetry/logs/log_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/telemetry/energy.hpp"

namespace flopwatt::telemetry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t kLinesNamed = 10;

std::string zone_text(std::chrono::seconds offset) {
  const auto whole = std::chrono::duration_cast<minutes>(offset).count();
  return fmt::format("UTC{}{:02}:{:02}", whole < 0 ? '-' : '+', std::abs(whole) / 60, std::abs(whole) % 60);
}

/// How far the first sample after an hour set back may lie behind that hour: an interval and a quarter, at least a
/// minute, and never so much that half an hour back is taken for an hour.
nanoseconds reach(nanoseconds interval) {
  return std::clamp<nanoseconds>(interval + interval / 4, seconds{60}, minutes{20});
}

}  // namespace

LogBuilder::LogBuilder(LogFormat format, std::string_view where, const LogOptions& options) : options_{options} {
  log_.format = format;
  log_.where = where;
}

std::size_t LogBuilder::device(std::string_view identity, const DeviceInfo& info) {
  // Logs go round the devices: the next one is nearly always the one after the last.
  for (std::size_t n = 0; n < devices_.size(); ++n) {
    const std::size_t i = (latest_device_ + 1 + n) % devices_.size();
    if (devices_[i].identity == identity) return latest_device_ = i;
  }
  devices_.push_back({std::string{identity}, info, {}});
  return latest_device_ = devices_.size() - 1;
}

bool LogBuilder::add(std::size_t device, const std::optional<Stamp>& stamp, Snapshot snapshot) {
  Device& target = devices_[device];
  if (!stamp) {
    if (kind_) return false;
    counted_ = true;
    const double interval = options_.interval ? options_.interval->in(units::second) : 1;
    snapshot.time = nanoseconds{std::llround(static_cast<double>(target.samples.size()) * interval * 1e9)};
  } else {
    if (counted_ || (kind_ && *kind_ != stamp->kind)) return false;
    kind_ = stamp->kind;
    const auto time = on_clock(target, *stamp);
    if (!time) return false;
    snapshot.time = *time;
  }
  snapshot.wall = snapshot.time;
  target.samples.push_back(snapshot);
  ++samples_;
  return true;
}

std::optional<nanoseconds> LogBuilder::on_clock(Device& device, const Stamp& stamp) {
  // A log of a century of midnights is no log, and its times would leave 64 bits.
  if (shift_ > hours{24} * 36'525) return std::nullopt;
  if (samples_ > 0 && stamp.time < last_) {
    const nanoseconds back = last_ - stamp.time;
    if (stamp.kind == StampKind::time_of_day && back > hours{12}) {
      shift_ += hours{24};
      note("The times of day pass midnight: a day was added there.");
    } else if (stamp.kind == StampKind::local && back >= hours{1} - reach(device.step) && back <= hours{1}) {
      // A logger that writes local time at the end of summer time: an hour back, and one interval on.
      shift_ += hours{1};
      note("The local clock is set back by an hour in the log: what follows was moved on by an hour.");
    } else if (stamp.kind == StampKind::local && back > minutes{5} && back <= hours{1}) {
      note(
          "The local clock goes back by minutes in the log, and whether that is the end of summer time cannot be told: "
          "its energy may lack an hour; log times with their zone.");
    } else if (stamp.kind == StampKind::relative && back > seconds{60}) {
      return std::nullopt;
    }
  }
  if (device.last && stamp.time > *device.last) device.step = stamp.time - *device.last;
  device.last = stamp.time;
  last_ = stamp.time;
  return stamp.time + shift_;
}

void LogBuilder::skip_line(std::size_t number) {
  ++log_.skipped.count;
  if (log_.skipped.first.size() < kLinesNamed) log_.skipped.first.push_back(number);
}

void LogBuilder::note(std::string sentence) {
  if (std::find(log_.notes.begin(), log_.notes.end(), sentence) == log_.notes.end()) {
    log_.notes.push_back(std::move(sentence));
  }
}

Result<void> LogBuilder::place_in_time() {
  nanoseconds first = nanoseconds::max();
  for (const Device& device : devices_) {
    for (const Snapshot& sample : device.samples) first = std::min(first, sample.time);
  }
  const nanoseconds offset = options_.utc_offset.value_or(seconds{0});
  nanoseconds shift{};
  if (counted_ && !options_.interval) {
    return fail(Errc::bad_data, "the log has no times", log_.where,
                "state the distance of its samples with --interval, or log the time too");
  }
  if (!counted_ && *kind_ == StampKind::utc) {
    log_.time_base = TimeBase::absolute;
  } else if (!counted_ && *kind_ == StampKind::local) {
    log_.time_base = TimeBase::assumed_zone;
    shift = -offset;
    note(fmt::format("Its times name no zone and are taken as {}{}.",
                     zone_text(options_.utc_offset.value_or(seconds{})),
                     options_.utc_offset ? " (--timezone)" : "; state --timezone where that matters"));
  } else if (options_.start) {
    log_.time_base = TimeBase::anchored;
    const bool of_day = !counted_ && *kind_ == StampKind::time_of_day;
    if (options_.start->day_only && !of_day) {
      return fail(Errc::usage, "a day alone does not place a log without times of day", "--start",
                  "give the moment of its first sample");
    }
    const nanoseconds start =
        options_.start->time - (options_.start->kind == StampKind::local ? offset : nanoseconds{});
    shift = options_.start->day_only ? start : start - first;
  } else {
    log_.time_base = counted_                           ? TimeBase::counted
                     : *kind_ == StampKind::time_of_day ? TimeBase::time_of_day
                                                        : TimeBase::relative;
    if (log_.time_base == TimeBase::relative) shift = -first;
  }
  for (Device& device : devices_) {
    for (Snapshot& sample : device.samples) {
      sample.time += shift;
      sample.wall = is_dated(log_.time_base) ? sample.time : WallTime{};
    }
  }
  return {};
}

void LogBuilder::check_power(Device& device) {
  // A thousandfold is a unit that was taken for another, and it shows: no device draws it.
  const units::Power most = plausible_power(device.info.scope);
  std::size_t beyond = 0;
  for (Snapshot& sample : device.samples) {
    if (device.info.dies > 1) sample.power.scope = device.info.scope;  // known only when the second die has come
    if (!sample.power.value || (*sample.power.value <= most && *sample.power.value >= units::Power{})) continue;
    sample.power.value = Absence::garbage;
    ++beyond;
  }
  if (beyond == 0) return;
  note(fmt::format("{}: {} below 0 or above {:.0f} W {} left out: no such device draws that; are they milliwatts?",
                   device.info.id(), base::counted(beyond, "reading"), most.in(units::watt),
                   base::noun(beyond, "was", "were")));
}

void LogBuilder::sort(Device& device) {
  const auto earlier = [](const Snapshot& a, const Snapshot& b) { return a.time < b.time; };
  if (std::is_sorted(device.samples.begin(), device.samples.end(), earlier)) return;
  for (std::size_t i = 1; i < device.samples.size(); ++i) {
    if (earlier(device.samples[i], device.samples[i - 1])) ++disordered_;
  }
  // Equal times keep their order.  Not stable_sort: clang's view of the library deprecates its buffer.
  std::vector<std::size_t> order(device.samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair{device.samples[a].time, a} < std::pair{device.samples[b].time, b};
  });
  std::vector<Snapshot> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(device.samples[i]);
  device.samples = std::move(sorted);
}

Result<Log> LogBuilder::finish() && {
  if (samples_ == 0) {
    return fail(Errc::bad_data, fmt::format("holds no sample that could be read as {}", key(log_.format)), log_.where,
                log_.skipped.count > 0 ? fmt::format("see line {}", log_.skipped.first.front()) : std::string{});
  }
  if (log_.skipped.count > samples_) {
    return fail(Errc::bad_data,
                fmt::format("{} of {}, more than the {} that are",
                            base::counted(log_.skipped.count, "line is no sample", "lines are no samples"),
                            key(log_.format), samples_),
                fmt::format("{}:{}", log_.where, log_.skipped.first.front()),
                "check --log-format, the delimiter and the columns");
  }
  FLOPWATT_TRY_VOID(place_in_time());
  for (Device& device : devices_) {
    check_power(device);
    sort(device);
    if (device.samples.empty()) continue;
    Trace trace{std::move(device.info), device.samples.size()};
    for (const Snapshot& sample : device.samples) trace.add(sample);
    log_.traces.push_back(std::move(trace));
  }
  if (disordered_ > 0) {
    note(base::counted(disordered_, "sample came before an earlier one and was",
                       "samples came before earlier ones and were") +
         " put in the order of time.");
  }
  return std::move(log_);
}

}  // namespace flopwatt::telemetry
