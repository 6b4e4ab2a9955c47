#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/logs/amd_json.hpp"
#include "flopwatt/telemetry/logs/json_documents.hpp"
#include "flopwatt/telemetry/logs/prometheus.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::HasSubstr;
using units::joule;
using units::watt;

Log read(std::string_view text, const LogOptions& options = {.interval = 1 * units::second}) {
  Result<Log> log = read_log(text, "log.json", options);
  EXPECT_TRUE(log) << log.error().message();
  return log ? *std::move(log) : Log{};
}

std::string error_of(std::string_view text, const LogOptions& options = {}) {
  const Result<Log> log = read_log(text, "log.json", options);
  EXPECT_FALSE(log);
  if (log) return "";
  EXPECT_EQ(log.error().code, Errc::bad_data);
  return log.error().message();
}

// As reported: GPU0 237.0, GPU1 "N/A (Secondary die)": the package draws 237 W, not each die and not 474.
TEST(RocmSmi, TwoDiesHaveOneMeter) {
  const std::string once =
      R"j({"card0": {"Average Graphics Package Power (W)": "237.0", "Card Series": "AMD INSTINCT MI250"},)j"
      R"j( "card1": {"Average Graphics Package Power (W)": "N/A (Secondary die)"}, "system": {"Driver version": "6"}})j";
  const Log log = read(once + "\n" + once + "\n");
  EXPECT_EQ(log.format, LogFormat::rocm_smi_json);
  ASSERT_EQ(log.traces.size(), 2U);
  const DeviceInfo& primary = log.traces[0].device();
  EXPECT_EQ(primary.scope, Scope::module);
  EXPECT_EQ(primary.dies, 2U);
  EXPECT_EQ(primary.name, "AMD INSTINCT MI250");
  EXPECT_DOUBLE_EQ(energy_of(log.traces[0]).energy->in(joule), 237);
  EXPECT_EQ(log.traces[1].device().part_of, 0U);
  EXPECT_FALSE(energy_of(log.traces[1]).energy);
  EXPECT_TRUE(log.traces[1][0].power.value.absent_for(Absence::in_other_reading));
}

TEST(RocmSmi, CurrentBeforeAverage) {
  const auto first = [](std::string_view card) {
    const Log log = read(R"({"card0": )" + std::string{card} + "}\n");
    return log.traces.empty() ? PowerReading{} : log.traces[0][0].power;
  };
  PowerReading power =
      first(R"j({"Average Graphics Package Power (W)": "17.0", "Current Socket Graphics Package Power (W)": "N/A"})j");
  EXPECT_DOUBLE_EQ(power.value->in(watt), 17);
  EXPECT_EQ(power.kind, PowerKind::average);
  power = first(R"j({"Current Socket Graphics Package Power (W)": "717.0"})j");
  EXPECT_DOUBLE_EQ(power.value->in(watt), 717);
  EXPECT_EQ(power.kind, PowerKind::current);
  power = first(
      R"j({"Average Graphics Package Power (W)": "650.0", "Current Socket Graphics Package Power (W)": "717.0"})j");
  EXPECT_DOUBLE_EQ(power.value->in(watt), 717);
  EXPECT_EQ(power.kind, PowerKind::current);
}

TEST(RocmSmi, ACounterThatStandsStillGivesWayToPower) {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += R"j({"card0": {"Average Graphics Package Power (W)": "200.0", "Accumulated Energy (uJ)": "5000000.0"}})j";
    text += "\n";
  }
  const WindowEnergy energy = energy_of(read(text).traces[0]);
  EXPECT_EQ(energy.method, EnergyMethod::power_integral);
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 200 * 11);
  ASSERT_FALSE(energy.gaps.empty());
  EXPECT_EQ(energy.gaps[0].reason, Absence::counter_stuck);
}

TEST(RocmSmi, TimesBetweenTheDocuments) {
  const Log log = read(
      "1778061600\n{\"card0\": {\"Average Graphics Package Power (W)\": \"100.0\"}}\n"
      "1778061604\n{\n  \"card0\": {\"Average Graphics Package Power (W)\": \"300.0\"}\n}\n");
  EXPECT_EQ(log.time_base, TimeBase::absolute);
  EXPECT_DOUBLE_EQ(energy_of(log.traces[0]).energy->in(joule), 800);
}

TEST(AmdSmi, ListsAndWrappedLists) {
  constexpr std::string_view kList =
      "WARNING: user is not in the render group\n"
      R"([{"gpu": 0, "timestamp": 1778061600, "power": {"socket_power": {"value": 142, "unit": "W"}},)"
      R"( "usage": {"gfx_activity": {"value": 73, "unit": "%"}},)"
      R"( "energy": {"total_energy_consumption": {"value": 1000.5, "unit": "J"}}},)"
      R"( {"gpu": 1, "timestamp": 1778061600, "power": {"socket_power": "N/A"}}])"
      "\n"
      R"([{"gpu": 0, "timestamp": 1778061602, "power": {"socket_power": {"value": 142, "unit": "W"}},)"
      R"( "energy": {"total_energy_consumption": {"value": 1284.5, "unit": "J"}}}])"
      "\n";
  const Log log = read(kList);
  EXPECT_EQ(log.format, LogFormat::amd_smi_json);
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_DOUBLE_EQ(*log.traces[0][0].utilization, 0.73);
  EXPECT_DOUBLE_EQ(energy_of(log.traces[0]).energy->in(joule), 284);
  EXPECT_TRUE(log.traces[1][0].power.value.absent_for(Absence::not_supported));
  EXPECT_EQ(log.skipped.count, 1U);

  const Log wrapped = read(R"({"gpu_data": [{"gpu": 0, "power": {"average_socket_power": 90}}]})");
  EXPECT_DOUBLE_EQ(wrapped.traces[0][0].power.value->in(watt), 90);
  EXPECT_EQ(wrapped.traces[0][0].power.kind, PowerKind::average);
}

TEST(Json, TruncationIsToldFromAKill) {
  EXPECT_THAT(error_of("{\"card0\": {\"Average Graphics Package Power (W)\": \"10"), HasSubstr("log.json:1"));
  const Log log =
      read("{\"card0\": {\"Average Graphics Package Power (W)\": \"100.0\"}}\n{\"card0\": {\"Average Graphics Pack");
  EXPECT_TRUE(log.torn_tail);
  EXPECT_EQ(log.traces[0].size(), 1U);
  EXPECT_THAT(error_of("{\"card0\": {\"Average Graphics Package Power (W)\": 1,,}}"), HasSubstr("document of line 1"));
  EXPECT_THAT(error_of(R"({"card0": {}} )"), HasSubstr("--interval"));
}

constexpr std::string_view kMatrix = R"({"status": "success", "data": {"resultType": "matrix", "result": [
  {"metric": {"__name__": "DCGM_FI_DEV_POWER_USAGE", "gpu": "0", "UUID": "GPU-a", "modelName": "NVIDIA A100-SXM4-40GB", "pod": "x"},
   "values": [[1778061600, "100"], [1778061615, "200"], [1778061630, "200"]]},
  {"metric": {"__name__": "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "gpu": "0", "UUID": "GPU-a"},
   "values": [[1778061600, "15152422938"], [1778061615, "15155422938"], [1778061630, "15158422938"]]},
  {"metric": {"__name__": "DCGM_FI_DEV_POWER_USAGE", "gpu": "1", "UUID": "GPU-b"}, "values": [[1778061600, "50"], [1778061615.25, "NaN"]]},
  {"metric": {"__name__": "up"}, "values": []}]}})";

TEST(Prometheus, SeriesOfADeviceAreJoined) {
  const Log log = read(kMatrix);
  EXPECT_EQ(log.format, LogFormat::prometheus_json);
  ASSERT_EQ(log.traces.size(), 2U);
  const Trace& a = log.traces[0];
  EXPECT_EQ(a.device().uuid, "GPU-a");
  EXPECT_EQ(a.device().name, "NVIDIA A100-SXM4-40GB");
  ASSERT_EQ(a.size(), 3U);
  // 15 158 422 938 − 15 152 422 938 mJ.
  const WindowEnergy energy = energy_of(a);
  EXPECT_EQ(energy.method, EnergyMethod::counter);
  EXPECT_NEAR(energy.energy->in(joule), 6000, 1e-6);
  EXPECT_TRUE(log.traces[1][1].power.value.absent_for(Absence::garbage));
}

TEST(Prometheus, WhatCannotBeToldIsRefused) {
  EXPECT_THAT(error_of(R"({"status":"error","error":"bad query","data":{"resultType":"matrix"}})"),
              HasSubstr("bad query"));
  EXPECT_THAT(error_of(R"({"status":"success","data":{"resultType":"vector","result":[]}})"), HasSubstr("query_range"));
  EXPECT_THAT(
      error_of(R"({"data":{"resultType":"matrix","result":[{"metric":{"gpu":"0"},"values":[[1778061600,"1"]]}]}})"),
      HasSubstr("rate()"));
  EXPECT_THAT(
      error_of(R"({"data":{"resultType":"matrix","result":[{"metric":{"__name__":"a_watts"},"values":[[1,2]]}]}})"),
      HasSubstr("pair"));
  EXPECT_THAT(error_of(std::string{kMatrix.substr(0, kMatrix.size() / 2)}), HasSubstr("log.json"));
  EXPECT_THAT(error_of("{}"), HasSubstr("no format"));
}

}  // namespace
}  // namespace flopwatt::telemetry
