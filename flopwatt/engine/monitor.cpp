#include "flopwatt/engine/monitor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>

#include "flopwatt/io/file.hpp"
#include "flopwatt/telemetry/guarded.hpp"
#include "flopwatt/telemetry/http_meter.hpp"
#include "flopwatt/telemetry/logs/log.hpp"
#include "flopwatt/telemetry/open_all.hpp"
#include "flopwatt/telemetry/replay.hpp"
#include "flopwatt/telemetry/sampler.hpp"

namespace flopwatt::engine {
namespace {

using answers::MonitorDevice;
using answers::MonitorFrame;
using telemetry::OpenedSource;
using telemetry::OpenedSources;
using telemetry::Sampler;
using telemetry::SteadyTime;
using units::Duration;
using units::second;

constexpr std::string_view kSourceNames = "nvml, amd, rocm, rapl, hwmon, or the address of a meter";

/// Meters are small machines: no more than one look a second.
const Duration kMeterPeriod = 1 * second;
const Duration kDriverPeriod = 0.1 * second;

/// Where a recording is being played: its own time, which runs `speed` times as fast as the clock, from the first look
/// to its end.
class Playback {
 public:
  Playback(std::vector<telemetry::Trace> traces, double speed) : traces_{std::move(traces)}, speed_{speed} {
    begin_ = SteadyTime::max();
    end_ = SteadyTime::min();
    for (const telemetry::Trace& trace : traces_) {
      begin_ = std::min(begin_, trace.front().time);
      end_ = std::max(end_, trace.back().time);
    }
  }

  void begin() {
    std::int64_t none = 0;
    started_.compare_exchange_strong(none, telemetry::steady_now().count());
  }
  /// As telemetry::steady_now() would tell it.
  [[nodiscard]] SteadyTime clock() const {
    const std::int64_t started = started_.load();
    if (started == 0) return opened_;
    const double run = static_cast<double>(telemetry::steady_now().count() - started) * speed_;
    const auto length = static_cast<double>((end_ - begin_).count());
    return opened_ + (run < length ? SteadyTime{static_cast<std::int64_t>(run)} : end_ - begin_);
  }
  [[nodiscard]] SteadyTime since_begin(SteadyTime time) const { return time - opened_; }
  [[nodiscard]] telemetry::WallTime wall(SteadyTime time) const { return opened_wall_ + since_begin(time); }
  [[nodiscard]] bool is_over(SteadyTime time) const { return since_begin(time) >= end_ - begin_; }

  /// What the device drew until then.
  void tell(std::size_t index, MonitorDevice& device) const {
    const telemetry::Trace& trace = traces_[index];
    const SteadyTime from = std::max(begin_, trace.front().time);
    const SteadyTime to = std::min(begin_ + since_begin(device.snapshot.time), trace.back().time);
    device.snapshot.wall = wall(device.snapshot.time);
    if (to <= from) return;
    const telemetry::WindowEnergy window = telemetry::energy_over(trace, from, to);
    if (window.peak_power) device.peak_power = *window.peak_power;
    if (!window.energy) return;
    device.energy = *window.energy;
    device.covered = window.covered;
    device.method = window.method;
  }

 private:
  std::vector<telemetry::Trace> traces_;
  double speed_;
  SteadyTime begin_, end_;  ///< of the recording
  SteadyTime opened_ = telemetry::steady_now();
  telemetry::WallTime opened_wall_ = telemetry::wall_now();
  std::atomic<std::int64_t> started_ = 0;
};

struct Opened {
  OpenedSources drivers;
  std::vector<std::unique_ptr<telemetry::Source>> meters;
  std::shared_ptr<Playback> playback;  ///< of a recording
};

Result<void> open_named(const std::string& word, const MonitorRequest& request, Opened& opened) {
  const telemetry::OpenOptions options;
  const auto take = [&](OpenedSource source, std::vector<std::unique_ptr<telemetry::Source>>& target) {
    if (source) {
      target.push_back(std::move(*source));
    } else {
      opened.drivers.absent.push_back(std::move(source).error());
    }
  };
  auto& drivers = opened.drivers.sources;
  if (word == "nvml") {
    const telemetry::NvmlOptions nvml{.instant = request.instant};
    take(telemetry::open_guarded("nvml", options.patience, [nvml] { return telemetry::open_nvml(nvml); }), drivers);
  } else if (word == "amd") {
    take(telemetry::open_guarded("amd_smi", options.patience, [] { return telemetry::open_amd_smi({}); }), drivers);
  } else if (word == "rocm") {
    take(telemetry::open_guarded("rocm_smi", options.patience, [] { return telemetry::open_rocm_smi({}); }), drivers);
  } else if (word == "rapl") {
    take(telemetry::open_powercap({}), drivers);
  } else if (word == "hwmon") {
    take(telemetry::open_hwmon({}), drivers);
  } else if (telemetry::is_meter(word)) {
    Result<telemetry::HttpMeterOptions> meter = telemetry::parse_meter(word);
    if (!meter) {
      meter.error().where = "--source";
      return fail(meter.error());
    }
    telemetry::credentials_from_environment(*meter);
    meter->watts_per_unit = request.watts_per_unit;
    meter->verify_certificate = !request.insecure;
    take(telemetry::open_http_meter(*meter), opened.meters);
  } else {
    return fail(Errc::usage, fmt::format("\"{}\" is none of {}", base::excerpt(word), kSourceNames), "--source",
                fmt::format("presets of meters: {}", fmt::join(telemetry::meter_presets(), ", ")));
  }
  return {};
}

Result<void> open_recording(const MonitorRequest& request, Opened& opened) {
  FLOPWATT_TRY(const std::string bytes, io::read_file(request.replay));
  FLOPWATT_TRY(telemetry::Log log,
               telemetry::read_log(bytes, request.replay, {.interval = 1 * second, .instant = request.instant}));
  if (!(request.replay_speed > 0)) {
    return fail(Errc::usage, "the speed of a replay is above 0", "--speed");
  }
  opened.playback = std::make_shared<Playback>(log.traces, request.replay_speed);
  OpenedSource source =
      telemetry::replay(std::move(log.traces), {.clock = [playback = opened.playback] { return playback->clock(); }});
  if (!source) return fail(Errc::bad_data, source.error().error().what, request.replay);
  opened.drivers.sources.push_back(std::move(*source));
  return {};
}

Result<Opened> open_sources(const MonitorRequest& request) {
  Opened opened;
  if (!request.replay.empty()) {
    FLOPWATT_TRY_VOID(open_recording(request, opened));
    return opened;
  }
  if (request.sources.empty()) {
    telemetry::OpenOptions options;
    options.nvml.instant = request.instant;
    opened.drivers = telemetry::open_all(options);
    return opened;
  }
  for (const std::string& word : request.sources) FLOPWATT_TRY_VOID(open_named(word, request, opened));
  return opened;
}

answers::MonitorSources describe(const Opened& opened) {
  answers::MonitorSources sources;
  for (const auto* group : {&opened.drivers.sources, &opened.meters}) {
    for (const auto& source : *group) {
      for (const telemetry::DeviceInfo& device : source->devices()) sources.devices.push_back(device);
    }
  }
  sources.absent = opened.drivers.absent;
  return sources;
}

}  // namespace

struct Monitor::State {
  struct Group {
    std::unique_ptr<Sampler> sampler;
    std::vector<MonitorDevice> devices;
    std::vector<std::optional<SteadyTime>> last;
  };
  answers::MonitorSources sources;
  std::vector<Group> groups;
  std::shared_ptr<Playback> playback;
  SteadyTime start = telemetry::steady_now();

  void add(std::vector<std::unique_ptr<telemetry::Source>> opened, Duration period) {
    if (opened.empty()) return;
    telemetry::SamplerOptions options;
    options.period = period;
    Group group{std::make_unique<Sampler>(std::move(opened), options), {}, {}};
    const Sampler& sampler = *group.sampler;
    for (std::size_t i = 0; i < sampler.devices().size(); ++i) {
      MonitorDevice device{.info = sampler.info(i), .recorded = sampler.recorded(i)};
      if (device.info.part_of) {
        for (std::size_t j = 0; j < sampler.devices().size(); ++j) {
          if (sampler.devices()[j].source == sampler.devices()[i].source &&
              sampler.devices()[j].device == *device.info.part_of) {
            device.part_of = sampler.info(j).id();
          }
        }
      }
      group.devices.push_back(std::move(device));
    }
    group.last.resize(group.devices.size());
    group.sampler->start();
    groups.push_back(std::move(group));
  }
};

Monitor::Monitor(std::unique_ptr<State> state) : state_{std::move(state)} {}
Monitor::~Monitor() = default;

const answers::MonitorSources& Monitor::sources() const { return state_->sources; }

Result<answers::MonitorSources> Monitor::list(const MonitorRequest& request) {
  FLOPWATT_TRY(const Opened opened, open_sources(request));
  return describe(opened);
}

Result<std::unique_ptr<Monitor>> Monitor::open(const MonitorRequest& request) {
  FLOPWATT_TRY(Opened opened, open_sources(request));
  auto state = std::make_unique<State>();
  state->sources = describe(opened);
  if (state->sources.devices.empty()) {
    std::vector<std::string> reasons;
    for (const telemetry::SourceAbsence& absence : state->sources.absent) {
      reasons.push_back(fmt::format("{}: {}", absence.source, absence.error().what));
    }
    return fail(Errc::unavailable, fmt::format("nothing to read here ({})", fmt::join(reasons, "; ")), {},
                "name a meter with --source, or play a log with --replay");
  }
  state->playback = opened.playback;
  state->add(std::move(opened.drivers.sources), std::min(kDriverPeriod, request.interval));
  state->add(std::move(opened.meters), std::max(kMeterPeriod, request.interval));
  return std::unique_ptr<Monitor>{new Monitor{std::move(state)}};
}

MonitorFrame Monitor::look() {
  MonitorFrame frame;
  for (State::Group& group : state_->groups) {
    const std::vector<telemetry::Snapshot> snapshots = group.sampler->read_now();
    for (std::size_t i = 0; i < group.devices.size(); ++i) {
      MonitorDevice& device = group.devices[i];
      device.snapshot = snapshots[i];
      if (state_->playback) {
        state_->playback->tell(i, device);
        frame.devices.push_back(device);
        continue;
      }
      if (group.last[i] && snapshots[i].time > *group.last[i]) {
        const telemetry::WindowEnergy stretch = group.sampler->energy_over(i, *group.last[i], snapshots[i].time);
        if (stretch.peak_power && (!device.peak_power || *stretch.peak_power > *device.peak_power)) {
          device.peak_power = *stretch.peak_power;
        }
      }
      group.last[i] = snapshots[i].time;
      const telemetry::EnergyTotal total = group.sampler->total(i);
      if (total.energy) {
        device.energy = *total.energy;
        device.covered = total.covered;
        device.method = total.method;
      }
      frame.devices.push_back(device);
    }
  }
  frame.wall = telemetry::wall_now();
  frame.since_start = telemetry::to_duration(telemetry::steady_now() - state_->start);
  if (Playback* playback = state_->playback.get()) {
    SteadyTime seen{};
    for (const MonitorDevice& device : frame.devices) seen = std::max(seen, device.snapshot.time);
    frame.wall = playback->wall(seen);
    frame.since_start = telemetry::to_duration(playback->since_begin(seen));
    frame.over = playback->is_over(seen);
    playback->begin();
  }
  return frame;
}

}  // namespace flopwatt::engine
