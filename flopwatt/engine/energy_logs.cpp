#include "flopwatt/engine/energy_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/io/file.hpp"
#include "flopwatt/io/hash.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::engine {
namespace {

using std::chrono::nanoseconds;
using telemetry::Snapshot;
using telemetry::Stamp;
using telemetry::StampKind;
using telemetry::SteadyTime;
using telemetry::TimeBase;
using telemetry::Trace;

bool overlap(const Trace& a, const Trace& b) {
  return a.front().time <= b.back().time && b.front().time <= a.back().time;
}

Trace joined(const Trace& a, const Trace& b) {
  const bool a_first = a.front().time <= b.front().time;
  Trace result{a.device(), a.size() + b.size()};
  for (const Trace* part : {a_first ? &a : &b, a_first ? &b : &a}) {
    for (std::size_t i = 0; i < part->size(); ++i) result.add((*part)[i]);
  }
  return result;
}

/// The power of the module around a device as a trace of its own; empty if the log does not tell it.
std::optional<Trace> module_of(const Trace& trace) {
  bool any = false;
  for (std::size_t i = 0; i < trace.size() && !any; ++i) any = trace[i].module_power.value.has_value();
  if (!any) return std::nullopt;
  telemetry::DeviceInfo info = trace.device();
  info.scope = telemetry::Scope::module;
  info.uuid = info.id() + "/module";
  info.counter = {};
  info.part_of.reset();
  Trace module{info, trace.size()};
  for (std::size_t i = 0; i < trace.size(); ++i) {
    Snapshot sample = trace[i];
    sample.power = sample.module_power;
    sample.energy = telemetry::Absence::not_asked;
    sample.module_power = {};
    module.add(sample);
  }
  return module;
}

bool same_identity(const telemetry::DeviceInfo& a, const telemetry::DeviceInfo& b, bool merge) {
  if (a.scope != b.scope) return false;
  if (!a.uuid.empty() || !b.uuid.empty()) return a.uuid == b.uuid;
  return merge && a.id() == b.id();
}

void take(std::vector<LoggedDevice>& devices, LoggedDevice&& next, const EnergyRequest& request,
          answers::Energy& answer) {
  bool twice = false;
  for (LoggedDevice& known : devices) {
    if (known.logs.back() == next.logs.back()) continue;
    if (!same_identity(known.trace.device(), next.trace.device(), request.merge)) {
      if (known.trace.device().id() == next.trace.device().id()) {
        answer.notes.push_back(
            "Several logs name a device by its index or PCI id only: they are kept apart; --merge joins them.");
      }
      continue;
    }
    const bool dated = is_dated(known.time_base) && is_dated(next.time_base);
    if (dated && !overlap(known.trace, next.trace)) {
      known.trace = joined(known.trace, next.trace);
      known.logs.push_back(next.logs.front());
      return;
    }
    twice = dated;
    answer.notes.push_back(
        dated ? fmt::format("{} is in several logs at the same time: it is listed twice and counted once.",
                            next.trace.device().id())
              : fmt::format("{} is in several logs without dates: they are kept apart; --start dates a log.",
                            next.trace.device().id()));
  }
  next.counted = !twice && !next.trace.device().part_of;
  devices.push_back(std::move(next));
}

void describe(const telemetry::Log& log, const std::string& file, answers::Energy& answer) {
  answers::EnergyLog described{.file = file, .format = log.format, .time_base = log.time_base};
  described.devices = log.traces.size();
  for (const Trace& trace : log.traces) described.samples += trace.size();
  described.skipped = log.skipped;
  described.torn_tail = log.torn_tail;
  answer.logs.push_back(described);
  for (const std::string& note : log.notes) answer.notes.push_back(fmt::format("{}: {}", file, note));
  if (log.skipped.count > 0) {
    answer.notes.push_back(
        fmt::format("{}: {} left out: {}{}.", file,
                    base::counted(log.skipped.count, "line is no sample and was", "lines are no samples and were"),
                    fmt::join(log.skipped.first, ", "), log.skipped.count > log.skipped.first.size() ? ", …" : ""));
  }
  if (log.torn_tail) answer.notes.push_back(fmt::format("{}: its last line was cut and was left out.", file));
}

}  // namespace

Result<std::vector<LoggedDevice>> read_logs(const EnergyRequest& request, answers::Energy& answer) {
  std::vector<LoggedDevice> devices;
  std::map<std::string, std::string> read_before;  // file by hash of its content
  for (const std::string& file : request.files) {
    FLOPWATT_TRY(const std::string bytes, io::read_file(file));
    if (const auto [same, fresh] = read_before.try_emplace(io::sha256_hex(bytes), file); !fresh) {
      return fail(Errc::bad_data, same->second == file ? "is given twice" : "has the content of " + same->second, file,
                  "give it once: its energy would count twice");
    }
    FLOPWATT_TRY(const telemetry::Log log, telemetry::read_log(bytes, file, request.reading));
    const std::size_t index = answer.logs.size();
    describe(log, file, answer);
    for (const Trace& trace : log.traces) {
      const std::optional<Trace> module = module_of(trace);
      take(devices, {trace, {index}, log.time_base}, request, answer);
      if (module) take(devices, {*module, {index}, log.time_base}, request, answer);
    }
  }
  std::sort(answer.notes.begin(), answer.notes.end());
  answer.notes.erase(std::unique(answer.notes.begin(), answer.notes.end()), answer.notes.end());
  return devices;
}

Result<SteadyTime> moment_of(const std::optional<std::string>& word, std::string_view option,
                             const LoggedDevice& device, SteadyTime otherwise, const telemetry::LogOptions& reading) {
  if (!word) return otherwise;
  const SteadyTime first = device.trace.front().time;
  if (const auto since_start = units::parse_duration(*word)) {
    return first + nanoseconds{static_cast<std::int64_t>(since_start->in(units::second) * 1e9)};
  }
  const std::optional<Stamp> stamp = telemetry::parse_stamp(*word);
  if (!stamp || stamp->kind == StampKind::relative) {
    return fail(Errc::usage, fmt::format("\"{}\" is no moment", base::excerpt(*word)), std::string{option},
                "write 2026-05-06T10:00:00Z, 10:00:00, or 90 s after the log's beginning");
  }
  const nanoseconds offset = reading.utc_offset.value_or(std::chrono::seconds{0});
  const bool dated = is_dated(device.time_base);
  if (stamp->kind == StampKind::time_of_day) {
    if (device.time_base == TimeBase::time_of_day) return stamp->time;
    if (dated) {
      const nanoseconds midnight = std::chrono::floor<std::chrono::days>(first + offset);
      return midnight + stamp->time - offset;
    }
  } else if (dated) {
    return stamp->kind == StampKind::utc ? stamp->time : stamp->time - offset;
  }
  return fail(Errc::usage, fmt::format("a log whose times are '{}' has no such moment", key(device.time_base)),
              std::string{option}, "count from its beginning, as in 90 s, or date it with --start");
}

}  // namespace flopwatt::engine
