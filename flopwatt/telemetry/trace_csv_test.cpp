#include "flopwatt/telemetry/trace_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/telemetry/energy.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using units::joule;
using units::watt;

Snapshot full_snapshot() {
  Snapshot snapshot;
  snapshot.time = SteadyTime{123'456'789'012'345};
  snapshot.wall = WallTime{1'778'025'600'123'456'789};
  snapshot.time_error = SteadyTime{1'500};
  snapshot.power = {412.125 * watt, PowerKind::average_1s, Scope::device};
  snapshot.energy = 1234567.891 * joule;
  snapshot.module_power = {620 * watt, PowerKind::average_1s, Scope::module};
  snapshot.limit = 700 * watt;
  snapshot.utilization = 0.87;
  snapshot.tensor_active = Absence::not_supported;
  snapshot.memory_used = 34359738368.0 * units::byte;
  snapshot.memory_total = 85899345920.0 * units::byte;
  snapshot.compute_clock = 1980 * units::megahertz;
  snapshot.memory_clock = Absence::device_lost;
  snapshot.temperature_celsius = 55.5;
  snapshot.processes = 2U;
  return snapshot;
}

DeviceInfo full_device() {
  DeviceInfo device{.source = "nvml", .vendor = "nvidia", .name = "A \"quoted\", name", .uuid = "GPU-1"};
  device.pci_id = "00000000:3b:00.0";
  device.counter = {.range = 262144 * joule, .resolution = 0.001 * joule, .update_period = 0.1 * units::second};
  device.sensor.averaging_window = 1 * units::second;
  device.sensor.duty = 0.25;
  return device;
}

TEST(TraceCsv, WhatIsWrittenReadsBack) {
  Trace trace{full_device()};
  ASSERT_TRUE(trace.add(full_snapshot()));
  Snapshot empty;
  empty.time = SteadyTime{123'456'789'112'345};
  ASSERT_TRUE(trace.add(empty));
  DeviceInfo part{.source = "nvml", .uuid = "MIG-1", .scope = Scope::partition};
  part.part_of = 0;
  Trace instance{part};
  ASSERT_TRUE(instance.add(empty));
  const std::string text = write_trace_csv(std::vector{trace, instance});

  const auto back = read_trace_csv(text, "t.csv");
  ASSERT_TRUE(back) << back.error().message();
  ASSERT_EQ(back->size(), 2U);
  const Trace& read = (*back)[0];
  EXPECT_EQ(read.device().name, "A \"quoted\", name");
  EXPECT_EQ(read.device().id(), "GPU-1");
  EXPECT_EQ(read.device().source, "nvml");
  EXPECT_DOUBLE_EQ(read.device().counter.range->in(joule), 262144);
  EXPECT_DOUBLE_EQ(read.device().counter.update_period->in(units::second), 0.1);
  EXPECT_DOUBLE_EQ(*read.device().sensor.duty, 0.25);
  ASSERT_EQ(read.size(), 2U);
  const Snapshot want = full_snapshot();
  const Snapshot& got = read[0];
  EXPECT_EQ(got.time, want.time);
  EXPECT_EQ(got.wall, want.wall);
  EXPECT_EQ(got.time_error, want.time_error);
  EXPECT_EQ(*got.power.value, *want.power.value);
  EXPECT_EQ(got.power.kind, PowerKind::average_1s);
  EXPECT_EQ(*got.energy, *want.energy);
  EXPECT_EQ(*got.module_power.value, 620 * watt);
  EXPECT_EQ(*got.limit, 700 * watt);
  EXPECT_EQ(*got.utilization, 0.87);
  EXPECT_TRUE(got.tensor_active.absent_for(Absence::not_supported));
  EXPECT_EQ(*got.memory_used, *want.memory_used);
  EXPECT_EQ(*got.compute_clock, *want.compute_clock);
  EXPECT_TRUE(got.memory_clock.absent_for(Absence::device_lost));
  EXPECT_EQ(*got.temperature_celsius, 55.5);
  EXPECT_EQ(*got.processes, 2U);
  EXPECT_TRUE(read[1].power.value.absent_for(Absence::not_asked));
  EXPECT_EQ((*back)[1].device().part_of, 0U);
  EXPECT_EQ(write_trace_csv(*back), text);
}

TEST(TraceCsv, IsWrittenRowByRowWhileItHappens) {
  TraceCsvWriter writer;
  std::string file = writer.take();
  EXPECT_THAT(file, StartsWith("time_seconds,"));
  writer.add(full_device(), full_snapshot());
  file += writer.take();
  writer.add(full_device(), full_snapshot());
  file += writer.take();
  EXPECT_EQ(writer.take(), "");
  const auto back = read_trace_csv(file, "t.csv");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at(0).size(), 2U);
}

TEST(TraceCsv, ARecordingThatWasKilledIsReadToItsLastWholeRow) {
  Trace trace{full_device()};
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(trace.add(full_snapshot()));
  std::string text = write_trace_csv(std::vector{trace});
  text.resize(text.size() - 7);
  const auto back = read_trace_csv(text, "t.csv");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->at(0).size(), 2U);
}

TEST(TraceCsv, FewColumnsAreEnough) {
  const auto traces = read_trace_csv("time_seconds,device,power_watts\n0,a,100\n0,b,50\n10,a,200\n10.5,b,\n", "t.csv");
  ASSERT_TRUE(traces) << traces.error().message();
  ASSERT_EQ(traces->size(), 2U);
  EXPECT_DOUBLE_EQ(energy_of((*traces)[0]).energy->in(joule), 1500);
  EXPECT_EQ((*traces)[1].device().id(), "b");
  EXPECT_EQ((*traces)[1][1].time, SteadyTime{10'500'000'000});
}

TEST(TraceCsv, RefusesWhatCannotBe) {
  const auto refused = [](const std::string& text) {
    const auto traces = read_trace_csv(text, "t.csv");
    EXPECT_FALSE(traces) << text;
    return traces ? std::string{} : traces.error().message();
  };
  EXPECT_THAT(refused(""), HasSubstr("t.csv"));
  EXPECT_THAT(refused("time_seconds,power_watts\n0,1\n"), HasSubstr("device"));
  EXPECT_THAT(refused("device,power_watts\n0,1\n"), HasSubstr("time_seconds"));
  EXPECT_THAT(refused("time_seconds,device,power_watts\n0,a,1\n1,a,-5\n"), HasSubstr("t.csv:3"));
  EXPECT_THAT(refused("time_seconds,device,power_watts\n0,a,inf\n"), HasSubstr("t.csv:2"));
  EXPECT_THAT(refused("time_seconds,device,power_watts\n0,a,12 W\n"), HasSubstr("t.csv:2"));
  EXPECT_THAT(refused("time_seconds,device,utilization\n0,a,87\n"), HasSubstr("cannot be"));
  EXPECT_THAT(refused("time_seconds,device,scope\n0,a,galaxy\n"), HasSubstr("galaxy"));
  EXPECT_THAT(refused("time_seconds,device\n5,a\n4,a\n"), HasSubstr("backwards"));
  EXPECT_THAT(refused("time_seconds,device,uuid\n5,a,GPU-1\n5,b,GPU-1\n"), HasSubstr("as another device is"));
  for (const char* time : {"", "x", "1e3", "-", ".5", "99999999999", "12:30", "1.5s"}) {
    EXPECT_THAT(refused("time_seconds,device\n" + std::string{time} + ",a\n"), HasSubstr("is no time")) << time;
  }
}

}  // namespace
}  // namespace flopwatt::telemetry
