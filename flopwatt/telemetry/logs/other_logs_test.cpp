#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/logs/sacct.hpp"
#include "flopwatt/telemetry/logs/wandb.hpp"

namespace flopwatt::telemetry {
namespace {

using units::joule;

Log read(std::string_view text, const LogOptions& options = {}) {
  Result<Log> log = read_log(text, "log", options);
  EXPECT_TRUE(log) << log.error().message();
  return log ? *std::move(log) : Log{};
}

TEST(Wandb, MetricsByTheEndOfTheirNames) {
  const Log log = read(
      "_runtime,_timestamp,system.gpu.0.powerWatts,system.gpu.0.powerPercent,system.gpu.0.gpu,system.gpu.1.powerWatts\n"
      "1.5,1778061600.0,100,25,50,200\n"
      "3.5,1778061602.0,300,75,90,\n"
      "5.5,1778061604.0,,,,400\n");
  EXPECT_EQ(log.format, LogFormat::wandb_csv);
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_EQ(log.time_base, TimeBase::absolute);
  EXPECT_DOUBLE_EQ(energy_of(log.traces[0]).energy->in(joule), 400);
  EXPECT_DOUBLE_EQ(*log.traces[0][1].utilization, 0.9);
  // Rows 0 and 2: (200 + 400) / 2 W · 4 s.
  EXPECT_DOUBLE_EQ(energy_of(log.traces[1]).energy->in(joule), 1200);
}

TEST(Wandb, TheExportOfAPage) {
  const Log log = read(
      "\"Relative Time (Process)\",\"run-7 - system/gpu.3.powerWatts\",\"run-7 - system/gpu.3.powerWatts__MIN\"\n"
      "\"0\",\"100\",\"90\"\n\"15\",\"100\",\"90\"\n");
  ASSERT_EQ(log.traces.size(), 1U);
  EXPECT_EQ(log.traces[0].device().index, 3U);
  EXPECT_EQ(log.time_base, TimeBase::relative);
  EXPECT_DOUBLE_EQ(energy_of(log.traces[0]).energy->in(joule), 1500);
}

TEST(Sacct, EnergyOfWholeNodesAndStepsInsideTheirJob) {
  const Log log = read(
      "JobID|Start|End|ConsumedEnergyRaw|NNodes\n"
      "77|2026-05-06T10:00:00|2026-05-06T11:00:00|7200000|2\n"
      "77.batch|2026-05-06T10:00:00|2026-05-06T11:00:00|3600000|1\n"
      "77.0|2026-05-06T10:00:00|2026-05-06T11:00:00|18446744073709551614|2\n"
      "78|2026-05-06T10:00:00|2026-05-06T11:00:00||1\n"
      "79|2026-05-06T10:00:00|Unknown|5|1\n");
  EXPECT_EQ(log.format, LogFormat::slurm_sacct);
  ASSERT_EQ(log.traces.size(), 4U);
  const WindowEnergy job = energy_of(log.traces[0]);
  EXPECT_EQ(job.method, EnergyMethod::counter);
  EXPECT_EQ(job.scope, Scope::node);
  EXPECT_DOUBLE_EQ(job.energy->in(joule), 7.2e6);
  EXPECT_DOUBLE_EQ(job.mean_power->in(units::watt), 2000);
  EXPECT_EQ(log.traces[1].device().part_of, 0U);
  EXPECT_FALSE(energy_of(log.traces[2]).energy);  // no value is not 1.8 · 10^19 J
  EXPECT_FALSE(energy_of(log.traces[3]).energy);
  EXPECT_EQ(log.skipped.count, 1U);  // still running
}

}  // namespace
}  // namespace flopwatt::telemetry
