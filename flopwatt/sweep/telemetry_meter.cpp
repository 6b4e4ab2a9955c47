#include "flopwatt/sweep/telemetry_meter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "flopwatt/sweep/convergence.hpp"
#include "flopwatt/telemetry/visible_devices.hpp"

namespace flopwatt::sweep {
namespace {

using telemetry::DeviceInfo;
using telemetry::SampledDevice;
using telemetry::Scope;

/// The devices of one source that meter the place; none where it meters something else.
Result<std::vector<std::size_t>> of_source(const telemetry::Source& source, const workload::Place& place) {
  const auto devices = source.devices();
  const auto index = static_cast<std::size_t>(place.index);
  std::vector<std::size_t> out;
  switch (place.type) {
    case workload::Place::Type::cuda: {
      if (source.name() != "nvml" && !source.recorded()) return out;
      FLOPWATT_TRY(const telemetry::VisibleDevices visible,
                   telemetry::visible_devices(devices, telemetry::CudaEnvironment::current()));
      if (index < visible.devices.size()) out.push_back(visible.devices[index]);
      return out;
    }
    case workload::Place::Type::hip: {
      if (source.recorded()) {  // of a machine whose environment is not this one's
        if (index < devices.size()) out.push_back(index);
        return out;
      }
      if (source.name() != "amd_smi" && source.name() != "rocm_smi") return out;
      const telemetry::VisibleDevices visible =
          telemetry::visible_hip_devices(devices, telemetry::HipEnvironment::current());
      if (index < visible.devices.size()) out.push_back(visible.devices[index]);
      return out;
    }
    case workload::Place::Type::cpu:
      break;
  }
  for (const std::size_t device : telemetry::outermost(devices)) {
    if (devices[device].scope == Scope::package || devices[device].scope == Scope::platform || source.recorded()) {
      out.push_back(device);
    }
  }
  return out;
}

class TelemetryMeter final : public Meter {
 public:
  TelemetryMeter(std::vector<std::unique_ptr<telemetry::Source>> sources, std::vector<SampledDevice> devices)
      : sampler_{std::move(sources)} {
    const auto& all = sampler_.devices();
    for (const SampledDevice& wanted : devices) {
      const auto found = std::find_if(all.begin(), all.end(), [&](const SampledDevice& one) {
        return one.source == wanted.source && one.device == wanted.device;
      });
      if (found != all.end()) devices_.push_back(static_cast<std::size_t>(found - all.begin()));
    }
    sampler_.start();
    // The kind of the readings is known once there is one.
    for (const std::size_t device : devices_) {
      static_cast<void>(sampler_.read_now());
      const DeviceInfo& info = sampler_.info(device);
      if (info_.source.empty()) {
        info_.source = (sampler_.recorded(device) ? "recorded: " : "") + info.source;
        info_.scope = telemetry::key(info.scope);
        const telemetry::Snapshot now = sampler_.latest(device);
        info_.kind = now.energy ? "counter" : telemetry::key(now.power.kind);
      }
      info_.device_id += (info_.device_id.empty() ? "" : "+") + info.id();
    }
  }

  [[nodiscard]] MeterInfo info() const override { return info_; }

  [[nodiscard]] MeterReading read(const Window& window) override {
    // One look after the end of the window, so that what it holds lies between two readings.
    static_cast<void>(sampler_.read_now());
    const telemetry::SteadyTime from = steady(window.begin_seconds);
    const telemetry::SteadyTime to = steady(window.end_seconds);
    MeterReading out;
    double energy = 0;
    double power = 0;
    double uncertainty = 0;
    for (const std::size_t device : devices_) {
      const telemetry::WindowEnergy one = sampler_.energy_over(device, from, to);
      out.method = telemetry::key(one.method);
      if (!one.energy || !one.mean_power || one.has(telemetry::EnergyFlag::incomplete)) {
        out.power_missing = telemetry::key(one.energy ? telemetry::Absence::no_samples : one.energy.reason());
        continue;
      }
      energy += one.energy->in(units::joule);
      power += one.mean_power->in(units::watt);
      uncertainty += one.uncertainty.in(units::joule);
    }
    if (devices_.empty()) out.power_missing = "not_present";
    if (out.power_missing.empty()) {
      out.power_watts = power;
      out.energy_joules = energy;
      out.energy_uncertainty_joules = uncertainty;
    } else {
      out.method.clear();
    }
    if (devices_.size() == 1) read_others(devices_.front(), from, to, out);
    return out;
  }

 private:
  static telemetry::SteadyTime steady(double seconds) {
    return std::chrono::duration_cast<telemetry::SteadyTime>(std::chrono::duration<double>{seconds});
  }

  /// Means over the snapshots of the window.
  void read_others(std::size_t device, telemetry::SteadyTime from, telemetry::SteadyTime to, MeterReading& out) const {
    const telemetry::Trace trace = sampler_.trace(device, from);
    Spread utilization;
    Spread temperature;
    for (std::size_t i = trace.lower_bound(from); i < trace.size() && trace[i].time <= to; ++i) {
      if (const auto& reading = trace[i].utilization) utilization.add(*reading);
      if (const auto& reading = trace[i].temperature_celsius) temperature.add(*reading);
    }
    out.utilization = utilization.mean();
    out.temperature_celsius = temperature.mean();
  }

  telemetry::Sampler sampler_;
  std::vector<std::size_t> devices_;  ///< of the sampler
  MeterInfo info_;
};

}  // namespace

Result<std::vector<SampledDevice>> metered_devices(const std::vector<std::unique_ptr<telemetry::Source>>& sources,
                                                   const workload::Place& place, const std::string& source) {
  std::string there;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string name{sources[i]->name()};
    there += (there.empty() ? "" : ", ") + name;
    if (!source.empty() && name != source) continue;
    FLOPWATT_TRY(const std::vector<std::size_t> devices, of_source(*sources[i], place));
    std::vector<SampledDevice> out;
    for (const std::size_t device : devices) {
      if (const auto& wrong = sources[i]->devices()[device].unreadable) return fail(*wrong);
      out.push_back({.source = i, .device = device});
    }
    if (!out.empty()) return out;
  }
  return fail(Errc::unavailable,
              fmt::format("nothing here meters {}{}", workload::to_string(place),
                          source.empty() ? "" : " by the source '" + source + "'"),
              "", there.empty() ? "this machine has no power source" : "there are: " + there);
}

std::unique_ptr<Meter> telemetry_meter(std::vector<std::unique_ptr<telemetry::Source>> sources,
                                       std::vector<SampledDevice> devices) {
  return std::make_unique<TelemetryMeter>(std::move(sources), std::move(devices));
}

}  // namespace flopwatt::sweep
