#include "flopwatt/report/monitor_frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace flopwatt::report {
namespace {

using telemetry::Absence;
using ::testing::HasSubstr;
using ::testing::Not;

answers::MonitorFrame frame() {
  answers::MonitorDevice device;
  device.info.source = "nvml";
  device.info.uuid = "GPU-1";
  device.info.name = "NVIDIA \"X\"";
  device.snapshot.power = {250.5 * units::watt, telemetry::PowerKind::average_1s, telemetry::Scope::device};
  device.snapshot.limit = Absence::not_supported;
  device.snapshot.utilization = 0.5;
  device.energy = 1000 * units::joule;
  device.covered = 4 * units::second;
  answers::MonitorFrame result;
  result.wall = std::chrono::seconds{1778061600};
  result.since_start = 4 * units::second;
  result.devices.push_back(device);
  return result;
}

TEST(MonitorMetrics, BaseUnitsScopeAndNothingInPlaceOfTheAbsent) {
  const std::string text = monitor_metrics(frame(), MetricsFormat::prometheus);
  EXPECT_THAT(text, HasSubstr("# TYPE flopwatt_power_watts gauge\n"));
  EXPECT_THAT(text, HasSubstr("scope=\"device\""));
  EXPECT_THAT(text, HasSubstr("kind=\"average_1s\"} 250.5\n"));
  EXPECT_THAT(text, HasSubstr("NVIDIA \\\"X\\\""));
  EXPECT_THAT(text, HasSubstr("# TYPE flopwatt_energy_joules_total counter\n"));
  EXPECT_THAT(text, HasSubstr("reading=\"limit\",reason=\"not_supported\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("flopwatt_power_limit_watts")));
  EXPECT_THAT(text, Not(HasSubstr("temperature")));  // nobody asked
  EXPECT_THAT(text, Not(HasSubstr("# EOF")));
}

TEST(MonitorMetrics, OpenMetricsNamesCountersByTheirFamily) {
  const std::string text = monitor_metrics(frame(), MetricsFormat::open_metrics);
  EXPECT_THAT(text, HasSubstr("# TYPE flopwatt_energy_joules counter\n"));
  EXPECT_THAT(text, HasSubstr("\nflopwatt_energy_joules_total{"));
  EXPECT_TRUE(text.ends_with("# EOF\n"));
}

TEST(MonitorJsonl, OneObjectALine) {
  const std::string text = monitor_jsonl(frame());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, HasSubstr("\"time\":\"2026-05-06T10:00:00Z\""));
  EXPECT_THAT(text, HasSubstr("\"power_watts\":250.5"));
  EXPECT_THAT(text, HasSubstr("\"limit_watts\":null"));
  EXPECT_THAT(text, HasSubstr("\"absent\":{\"limit_watts\":\"not_supported\"}"));
}

TEST(MonitorTable, ReasonsStandInThePlaceOfValues) {
  const std::string table = monitor_table(frame());
  EXPECT_THAT(table, HasSubstr("250.5 W"));
  EXPECT_THAT(table, HasSubstr("not_supported"));
  EXPECT_THAT(table, HasSubstr("1 kJ"));
  EXPECT_THAT(monitor_lines(frame()), HasSubstr("2026-05-06T10:00:00Z 0 NVIDIA"));
}

}  // namespace
}  // namespace flopwatt::report
