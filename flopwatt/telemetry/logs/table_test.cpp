#include "flopwatt/telemetry/logs/table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "flopwatt/telemetry/energy.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::HasSubstr;
using units::joule;
using units::watt;

Log read(std::string_view text, const LogOptions& options = {}) {
  Result<Log> log = read_log(text, "log", options);
  EXPECT_TRUE(log) << log.error().message();
  return log ? *std::move(log) : Log{};
}

std::string error_of(std::string_view text, const LogOptions& options = {}) {
  const Result<Log> log = read_log(text, "log", options);
  EXPECT_FALSE(log);
  return log ? "" : log.error().message();
}

double joules(const Trace& trace) {
  const WindowEnergy energy = energy_of(trace);
  EXPECT_TRUE(energy.energy);
  return energy.energy ? energy.energy->in(joule) : -1;
}

TEST(NvidiaDmon, WithDateAndTime) {
  const Log log = read(
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem\n"
      "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %\n"
      " 20260506   10:00:00      0    100     33      -     30     27\n"
      " 20260506   10:00:00      1      -     33      -     30     27\n"
      " 20260506   10:00:02      0    300     33      -     30     27\n"
      "#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem\n"
      " 20260506   10:00:02      1      -     33      -     30     27\n");
  EXPECT_EQ(log.format, LogFormat::nvidia_smi_dmon);
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_DOUBLE_EQ(joules(log.traces[0]), 400);  // (100 + 300) / 2 W · 2 s
  EXPECT_DOUBLE_EQ(*log.traces[0][0].utilization, 0.3);
  EXPECT_TRUE(log.traces[1][0].power.value.absent_for(Absence::not_supported));
  EXPECT_EQ(log.skipped.count, 0U);
}

TEST(NvidiaDmon, WithoutTimesNeedsAnInterval) {
  constexpr std::string_view kText =
      "# gpu    pwr  gtemp\n# Idx      W      C\n    0     86     33\n    0    100     39\n    0    100     41\n";
  EXPECT_THAT(error_of(kText), HasSubstr("--interval"));
  EXPECT_DOUBLE_EQ(joules(read(kText, {.interval = 2 * units::second}).traces[0]), 2 * (93 + 100));
}

TEST(DcgmiDmon, ShortNamesAndUnits) {
  // 952 494 mJ in 60 s are 952.494 J and 15.87 W; taken for µJ or J they would be off a thousandfold.
  const Log log = read(
      "#Entity   POWER         TOTEC             SMCLK\n"
      "ID        W             mJ                MHz\n"
      "2026-05-06T10:00:00.000 GPU 0     15.9      1000000           1410\n"
      "2026-05-06T10:01:00.000 GPU 0     15.9      1952494           N/A\n");
  EXPECT_EQ(log.format, LogFormat::dcgmi_dmon);
  ASSERT_EQ(log.traces.size(), 1U);
  const WindowEnergy energy = energy_of(log.traces[0]);
  EXPECT_EQ(energy.method, EnergyMethod::counter);
  EXPECT_NEAR(energy.energy->in(joule), 952.494, 1e-9);
  EXPECT_NEAR(energy.mean_power->in(watt), 15.8749, 1e-9);
  EXPECT_EQ(log.traces[0][0].power.kind, PowerKind::average_1s);
}

TEST(DcgmiDmon, InstancesAreNotAddedToTheirBoard) {
  const Log log = read("#Entity   POWER\nID        W\nGPU 0     100\nGPU-I 0   N/A\nGPU-CI 0  N/A\nGPU 0     100\n",
                       {.interval = 1 * units::second});
  EXPECT_EQ(log.traces.size(), 1U);
  EXPECT_DOUBLE_EQ(joules(log.traces[0]), 100);
}

TEST(XpuSmi, TimesOfDayPassMidnightAndEnergyIsACounter) {
  const Log log = read(
      "Timestamp, DeviceId, GPU Utilization (%), GPU Power (W), GPU Energy Consumed (J)\n"
      "23:59:59.500,    0,  N/A, 280.50, 95554.50\n"
      "23:59:59.500,    1,  N/A, 100.00, N/A\n"
      "00:00:01.500,    0,  50.00, 279.50, 96114.50\n"
      "00:00:01.500,    1,  50.00, 200.00, N/A\n");
  EXPECT_EQ(log.format, LogFormat::xpu_smi_csv);
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_EQ(log.time_base, TimeBase::time_of_day);
  EXPECT_DOUBLE_EQ(joules(log.traces[0]), 560);  // the counter; 280 W · 2 s
  EXPECT_DOUBLE_EQ(joules(log.traces[1]), 300);  // 150 W · 2 s
  EXPECT_FALSE(log.traces[0][0].utilization);
  EXPECT_DOUBLE_EQ(*log.traces[0][1].utilization, 0.5);
}

TEST(XpuSmi, TilesArePartsOfTheirDevice) {
  const Log log = read(
      "Timestamp, DeviceId, TileId, GPU Power (W)\n"
      "10:00:00.000, 0, 0, 100\n10:00:00.000, 0, 1, 110\n10:00:01.000, 0, 0, 100\n10:00:01.000, 0, 1, 110\n");
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_EQ(log.traces[1].device().scope, Scope::partition);
  EXPECT_NE(log.traces[0].device().id(), log.traces[1].device().id());
}

TEST(AmdSmiCsv, WatchedMetrics) {
  const Log log = read(
      "timestamp,gpu,gfx_activity,umc_activity,socket_power,gfx_voltage,throttle_status,xcp_activity,hotspot\n"
      "1778061600,0,95,80,350,850,N/A,\"[1, 2]\",72\n"
      "1778061600,1,88,75,N/A,850,N/A,\"[1, 2]\",68\n"
      "1778061602,0,95,80,450,850,N/A,\"[1, 2]\",72\n"
      "1778061602,1,88,75,N/A,850,N/A,\"[1, 2]\",68\n");
  EXPECT_EQ(log.format, LogFormat::amd_smi_csv);
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_EQ(log.time_base, TimeBase::absolute);
  EXPECT_DOUBLE_EQ(joules(log.traces[0]), 800);
  EXPECT_TRUE(log.traces[1][0].power.value.absent_for(Absence::not_supported));
}

// 100 W over two seconds.
TEST(RocmSmiCsv, TimesOnLinesBefore) {
  for (const auto& [first, second, third] :
       {std::array{"1778061600", "1778061601", "1778061602"},
        std::array{"2026-05-06T10:00:00Z", "2026-05-06T10:00:01Z", "2026-05-06T10:00:02Z"},
        std::array{"2026-05-06 10:00:00", "2026-05-06 10:00:01", "2026-05-06 10:00:02"},
        std::array{"Wed May  6 10:00:00 UTC 2026", "Wed May  6 10:00:01 UTC 2026", "Wed May  6 10:00:02 UTC 2026"}}) {
    std::string rocm;
    std::string amd;
    for (const char* time : {first, second, third}) {
      rocm += fmt::format("{}\n\ndevice,Average Graphics Package Power (W)\ncard0,100.0\ncard1,50.0\n", time);
      amd += fmt::format("{}\ngpu,socket_power\n0,100\n1,50\n", time);
    }
    for (const std::string& text : {rocm, amd}) {
      const Log log = read(text);
      ASSERT_EQ(log.traces.size(), 2U) << text;
      EXPECT_EQ(log.skipped.count, 0U) << text;
      EXPECT_DOUBLE_EQ(energy_of(log.traces[0]).energy->in(units::joule), 200) << text;
      EXPECT_DOUBLE_EQ(energy_of(log.traces[1]).energy->in(units::joule), 100) << text;
    }
  }
}

TEST(RocmSmiCsv, KindsByTheirNames) {
  const Log log = read(
      "device,Average Graphics Package Power (W),Current Socket Graphics Package Power (W)\n"
      "card0,N/A,717.0\ncard1,N/A,600.0\ncard0,N/A,717.0\ncard1,N/A,600.0\n",
      {.interval = 1 * units::second});
  EXPECT_EQ(log.format, LogFormat::rocm_smi_csv);
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_EQ(log.traces[0][0].power.kind, PowerKind::current);
  EXPECT_DOUBLE_EQ(joules(log.traces[0]), 717);
  EXPECT_EQ(log.traces[1].device().index, 1U);
}

TEST(Table, GarbageAndTornLines) {
  const Log log = read(
      "Timestamp, DeviceId, GPU Power (W)\n10:00:00.000, 0, 100\nKilled\n10:00:01.000, 0, 100\n10:00:02.000, 0, 1");
  EXPECT_EQ(log.skipped.first, (std::vector<std::size_t>{3}));
  EXPECT_TRUE(log.torn_tail);
  EXPECT_EQ(log.traces[0].size(), 2U);
  EXPECT_THAT(error_of("Timestamp, DeviceId, GPU Utilization (%)\n10:00:00.000, 0, 5\n"), HasSubstr("neither power"));
}

TEST(OwnTrace, IsReadBack) {
  const Log log = read(
      "time_seconds,unix_time_seconds,device,uuid,scope,power_watts,power_kind\n"
      "5.0,1778061600.0,a,GPU-1,device,100,instant\n"
      "7.0,1778061602.0,a,GPU-1,device,300,instant\n");
  EXPECT_EQ(log.format, LogFormat::trace_csv);
  ASSERT_EQ(log.traces.size(), 1U);
  EXPECT_EQ(log.traces[0].front().time, parse_stamp("2026-05-06T10:00:00Z")->time);
  EXPECT_DOUBLE_EQ(joules(log.traces[0]), 400);
}

}  // namespace
}  // namespace flopwatt::telemetry
