#include "flopwatt/engine/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace flopwatt::engine {
namespace {

using ::testing::HasSubstr;

std::string recording() {
  const std::string path = ::testing::TempDir() + "monitor_recording.csv";
  std::ofstream file{path};
  file << "timestamp, uuid, power.draw.instant [W]\n";
  for (int i = 0; i < 60; ++i) {
    file << "2026/05/06 10:00:" << (i < 10 ? "0" : "") << i << ".000, GPU-1, 100.00 W\n";
  }
  return path;
}

// A hundredfold replay of 100 W: what was seen of it, at 100 W, is the energy.
TEST(Monitor, AddsUpWhatARecordingDraws) {
  const auto monitor = Monitor::open({.replay = recording(), .interval = 0.02 * units::second});
  ASSERT_TRUE(monitor) << monitor.error().message();
  answers::MonitorFrame frame = (*monitor)->look();
  ASSERT_EQ(frame.devices.size(), 1U);
  EXPECT_TRUE(frame.devices[0].recorded);
  EXPECT_EQ(frame.devices[0].info.uuid, "GPU-1");
  EXPECT_DOUBLE_EQ(frame.devices[0].snapshot.power.value->in(units::watt), 100);
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{60});
    frame = (*monitor)->look();
  }
  const answers::MonitorDevice& device = frame.devices[0];
  EXPECT_GT(device.covered, 0.25 * units::second);
  EXPECT_NEAR((device.energy / device.covered).in(units::watt), 100, 1e-6);
  EXPECT_DOUBLE_EQ(device.peak_power->in(units::watt), 100);
}

// 100 W for the 59 s of the log are 5900 J, however fast it is played; then it is over.
TEST(Monitor, ARecordingIsToldInItsOwnTime) {
  const auto monitor = Monitor::open({.replay = recording(), .replay_speed = 200, .interval = 0.02 * units::second});
  ASSERT_TRUE(monitor) << monitor.error().message();
  answers::MonitorFrame frame = (*monitor)->look();
  EXPECT_FALSE(frame.over);
  for (int i = 0; i < 200 && !frame.over; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    frame = (*monitor)->look();
  }
  ASSERT_TRUE(frame.over);
  EXPECT_NEAR(frame.devices[0].energy.in(units::joule), 5900, 1e-6);
  EXPECT_NEAR(frame.devices[0].covered.in(units::second), 59, 1e-9);
  EXPECT_NEAR(frame.since_start.in(units::second), 59, 1e-9);
  ASSERT_TRUE(frame.devices[0].snapshot.power.value);
  EXPECT_DOUBLE_EQ(frame.devices[0].snapshot.power.value->in(units::watt), 100);
  EXPECT_TRUE((*monitor)->look().over);
}

TEST(Monitor, WhatCannotBeReadIsSaid) {
  const auto unknown = Monitor::open({.sources = {"nvidia"}});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Errc::usage);
  EXPECT_THAT(unknown.error().message(), HasSubstr("shelly1"));

  const auto missing = Monitor::open({.replay = "/nowhere/x.csv"});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Errc::bad_data);

  // Port 9 of this machine: nobody discards there.
  const auto gone = Monitor::open({.sources = {"http://127.0.0.1:9/#/power"}});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, Errc::unavailable);
  EXPECT_THAT(gone.error().message(), HasSubstr("no connection"));
}

}  // namespace
}  // namespace flopwatt::engine
