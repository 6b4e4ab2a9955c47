#include "flopwatt/sweep/telemetry_meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "flopwatt/sweep/one_run.hpp"

namespace flopwatt::sweep {
namespace {

using telemetry::DeviceInfo;
using telemetry::Scope;
using testing::HasSubstr;

/// Devices that draw a steady power, by counter and by sensor, until they are told to fail.
class SteadySource final : public telemetry::Source {
 public:
  SteadySource(std::string name, std::vector<DeviceInfo> devices, double watts)
      : name_{std::move(name)}, devices_{std::move(devices)}, watts_{watts} {
    for (DeviceInfo& device : devices_) device.source = name_;
  }
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::span<const DeviceInfo> devices() const override { return devices_; }
  [[nodiscard]] telemetry::Snapshot read(std::size_t) override {
    telemetry::Snapshot out;
    out.time = telemetry::steady_now();
    out.wall = telemetry::wall_now();
    if (watts_ < 0) {
      out.power.value = telemetry::Absence::no_permission;
      out.energy = telemetry::Absence::no_permission;
      return out;
    }
    out.power.value = watts_ * units::watt;
    out.power.kind = telemetry::PowerKind::instant;
    out.energy = watts_ * units::watt * telemetry::to_duration(out.time);
    out.utilization = 0.75;
    return out;
  }

 private:
  std::string name_;
  std::vector<DeviceInfo> devices_;
  double watts_;
};

std::vector<std::unique_ptr<telemetry::Source>> sources_of(std::unique_ptr<telemetry::Source> one) {
  std::vector<std::unique_ptr<telemetry::Source>> out;
  out.push_back(std::move(one));
  return out;
}

/// Two packages, each with a part of it that must not be added.
std::vector<DeviceInfo> two_packages() {
  std::vector<DeviceInfo> out(4);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].index = i;
    out[i].scope = i % 2 == 0 ? Scope::package : Scope::core;
    if (i % 2 != 0) out[i].part_of = i - 1;
  }
  return out;
}

MeterReading over_a_moment(Meter& meter) {
  const double begin = monotonic_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds{350});
  return meter.read({.begin_seconds = begin, .end_seconds = monotonic_seconds()});
}

TEST(TelemetryMeter, AddsThePackagesOfAProcessorAndNotTheirParts) {
  auto sources = sources_of(std::make_unique<SteadySource>("rapl", two_packages(), 50));
  const auto devices = metered_devices(sources, {}, "");
  ASSERT_TRUE(devices) << devices.error().message();
  ASSERT_EQ(devices->size(), 2U);
  const auto meter = telemetry_meter(std::move(sources), *devices);
  EXPECT_EQ(meter->info().source, "rapl");
  EXPECT_EQ(meter->info().scope, "package");
  EXPECT_EQ(meter->info().kind, "counter");
  const MeterReading reading = over_a_moment(*meter);
  ASSERT_TRUE(reading.power_watts) << reading.power_missing;
  EXPECT_NEAR(*reading.power_watts, 100, 1);    // 2 × 50 W
  EXPECT_NEAR(*reading.energy_joules, 35, 15);  // 100 W for 0.35 s and what a busy machine adds to a sleep
  EXPECT_FALSE(reading.utilization);            // of two devices there is no one utilisation
}

/// Index 0 of a HIP program is the first that its environment lets it see; of a recording, the first there is.
TEST(TelemetryMeter, AHipDeviceIsTheOneThatTheProgramSees) {
  ::setenv("HIP_VISIBLE_DEVICES", "2,1", 1);
  const workload::Place first{workload::Place::Type::hip, 0}, third{workload::Place::Type::hip, 2};
  const auto sources = sources_of(std::make_unique<SteadySource>("amd_smi", std::vector<DeviceInfo>(4), 50));
  const auto seen = metered_devices(sources, first, "");
  const auto hidden = metered_devices(sources, third, "");
  ::unsetenv("HIP_VISIBLE_DEVICES");
  ASSERT_TRUE(seen) << seen.error().message();
  ASSERT_EQ(seen->size(), 1U);
  EXPECT_EQ(seen->front().device, 2U);
  EXPECT_FALSE(hidden);
  const auto all = metered_devices(sources, third, "");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->front().device, 2U);
}

TEST(TelemetryMeter, UtilisationIsTheMeanOverTheWindow) {
  std::vector<DeviceInfo> one(1);
  one[0].scope = Scope::package;
  auto sources = sources_of(std::make_unique<SteadySource>("rapl", one, 50));
  const auto devices = metered_devices(sources, {}, "rapl");
  ASSERT_TRUE(devices);
  const auto meter = telemetry_meter(std::move(sources), *devices);
  const MeterReading reading = over_a_moment(*meter);
  ASSERT_TRUE(reading.utilization);
  EXPECT_DOUBLE_EQ(*reading.utilization, 0.75);
}

TEST(TelemetryMeter, WhatCannotBeReadIsMissingWithItsReason) {
  std::vector<DeviceInfo> one(1);
  one[0].scope = Scope::package;
  auto sources = sources_of(std::make_unique<SteadySource>("rapl", one, -1));
  const auto devices = metered_devices(sources, {}, "");
  ASSERT_TRUE(devices);
  const auto meter = telemetry_meter(std::move(sources), *devices);
  const MeterReading reading = over_a_moment(*meter);
  EXPECT_FALSE(reading.power_watts);
  EXPECT_FALSE(reading.energy_joules);
  EXPECT_EQ(reading.method, "");
  EXPECT_NE(reading.power_missing, "");
}

TEST(TelemetryMeter, NothingThatMetersThePlaceIsUnavailableWithWhatThereIs) {
  auto sources = sources_of(std::make_unique<SteadySource>("rapl", two_packages(), 50));
  for (const char* source : {"", "nvml"}) {
    const auto devices = metered_devices(sources, {workload::Place::Type::cuda, 0}, source);
    ASSERT_FALSE(devices);
    EXPECT_EQ(devices.error().code, Errc::unavailable);
    EXPECT_THAT(devices.error().message(), HasSubstr("cuda:0"));
    EXPECT_THAT(devices.error().message(), HasSubstr("rapl"));
  }
}

TEST(TelemetryMeter, AGraphicsCardIsTheOneThatTheLibrarySeesAtItsIndex) {
  std::vector<DeviceInfo> cards(3);
  for (std::size_t i = 0; i < cards.size(); ++i) cards[i].index = i;
  const auto sources = sources_of(std::make_unique<SteadySource>("amd_smi", cards, 50));
  const auto devices = metered_devices(sources, {workload::Place::Type::hip, 2}, "");
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().device, 2U);
  EXPECT_FALSE(metered_devices(sources, {workload::Place::Type::hip, 3}, ""));
}

}  // namespace
}  // namespace flopwatt::sweep
