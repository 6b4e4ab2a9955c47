#include "flopwatt/telemetry/hwmon.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/telemetry/testing/scripted_tree.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using units::joule;
using units::watt;

class Hwmon : public ::testing::Test {
 protected:
  std::unique_ptr<Source> must_open() {
    OpenedSource source = open_hwmon({.root = tree.root()});
    EXPECT_TRUE(source) << source.error().error().message();
    return source ? std::move(*source) : nullptr;
  }
  testing::ScriptedTree tree;
};

TEST_F(Hwmon, AbsentWithoutPowerSensors) {
  EXPECT_EQ(open_hwmon({.root = tree.path("none")}).error().reason, Absence::not_present);
  tree.write("hwmon0/name", "coretemp");
  tree.write("hwmon0/temp1_input", "45000");
  EXPECT_EQ(open_hwmon({.root = tree.root()}).error().reason, Absence::not_present);
}

TEST_F(Hwmon, AnAmdCardGivesAllItHas) {
  tree.write("pci/0000:c1:00.0/gpu_busy_percent", "87\n");
  tree.write("pci/0000:c1:00.0/mem_info_vram_used", "8589934592\n");
  tree.write("pci/0000:c1:00.0/mem_info_vram_total", "17179869184\n");
  tree.write("hwmon3/name", "amdgpu");
  tree.write("hwmon3/power1_average", "213000000");
  tree.write("hwmon3/power1_cap", "300000000");
  tree.write("hwmon3/power1_label", "PPT");
  tree.write("hwmon3/temp1_input", "61000");
  tree.write("hwmon3/freq1_input", "2100000000");
  tree.link("hwmon3/device", "../pci/0000:c1:00.0");
  const auto source = must_open();
  ASSERT_EQ(source->devices().size(), 1U);
  EXPECT_EQ(source->devices()[0].vendor, "amd");
  EXPECT_EQ(source->devices()[0].pci_id, "00000000:c1:00.0");
  const Snapshot snapshot = source->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 213);
  EXPECT_EQ(snapshot.power.kind, PowerKind::average);
  EXPECT_EQ(snapshot.power.scope, Scope::device);
  EXPECT_DOUBLE_EQ(snapshot.limit->in(watt), 300);
  EXPECT_DOUBLE_EQ(*snapshot.utilization, 0.87);
  EXPECT_DOUBLE_EQ(snapshot.memory_used->in(units::gibibyte), 8);
  EXPECT_DOUBLE_EQ(*snapshot.temperature_celsius, 61);
  EXPECT_DOUBLE_EQ(snapshot.compute_clock->in(units::megahertz), 2100);
  EXPECT_TRUE(snapshot.energy.absent_for(Absence::not_supported));
}

TEST_F(Hwmon, CurrentPowerGoesBeforeAverageAndIsNoted) {
  tree.write("hwmon0/name", "amdgpu");
  tree.write("hwmon0/power1_average", "100000000");
  tree.write("hwmon0/power1_input", "717000000");
  const auto source = must_open();
  const Snapshot snapshot = source->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 717);
  EXPECT_EQ(snapshot.power.kind, PowerKind::current);
  EXPECT_THAT(source->devices()[0].notes, Contains(HasSubstr("current is read")));
}

TEST_F(Hwmon, AnIntelCardHasACounter) {
  tree.write("hwmon0/name", "xe");
  tree.write("hwmon0/energy1_input", "5000000");
  tree.write("hwmon0/energy1_label", "card");
  tree.write("hwmon0/energy2_input", "4000000");
  tree.write("hwmon0/energy2_label", "pkg");
  const auto source = must_open();
  ASSERT_EQ(source->devices().size(), 2U);
  EXPECT_DOUBLE_EQ(source->read(0).energy->in(joule), 5);
  EXPECT_EQ(source->devices()[1].scope, Scope::package);
  EXPECT_THAT(outermost(source->devices()), ElementsAre(0));
}

// Field report C9.
TEST_F(Hwmon, JetsonsRailsLieInItsModule) {
  tree.write("hwmon1/name", "ina3221");
  const char* labels[] = {"VDD_IN", "VDD_CPU_GPU_CV", "VDD_SOC"};
  for (int i = 1; i <= 3; ++i) {
    tree.write("hwmon1/in" + std::to_string(i) + "_label", labels[i - 1]);
    tree.write("hwmon1/in" + std::to_string(i) + "_input", "5000");                      // 5 V
    tree.write("hwmon1/curr" + std::to_string(i) + "_input", std::to_string(2000 / i));  // 2 A, 1 A, 0.666 A
  }
  const auto source = must_open();
  ASSERT_EQ(source->devices().size(), 3U);
  EXPECT_DOUBLE_EQ(source->read(0).power.value->in(watt), 10);
  EXPECT_EQ(source->read(0).power.scope, Scope::module);
  EXPECT_DOUBLE_EQ(source->read(1).power.value->in(watt), 5);
  EXPECT_EQ(source->read(1).power.scope, Scope::rail);
  EXPECT_EQ(source->devices()[1].name, "ina3221 VDD_CPU_GPU_CV");
  EXPECT_THAT(outermost(source->devices()), ElementsAre(0));
}

TEST_F(Hwmon, RailsWithoutAModuleStandAlone) {
  tree.write("hwmon1/name", "ina3221");
  for (const char* channel : {"1", "2"}) {
    tree.write(std::string{"hwmon1/in"} + channel + "_input", "19000");
    tree.write(std::string{"hwmon1/curr"} + channel + "_input", "1000");
  }
  tree.write("hwmon1/in3_label", "NC");
  tree.write("hwmon1/in3_input", "0");
  tree.write("hwmon1/curr3_input", "0");
  EXPECT_THAT(outermost(must_open()->devices()), ElementsAre(0, 1));
}

TEST_F(Hwmon, AnAcpiMeterIsTheNodeAndSaysOverWhatItAverages) {
  tree.write("hwmon0/name", "power_meter");
  tree.write("hwmon0/power1_average", "412000000");
  tree.write("hwmon0/power1_average_interval", "1000");
  const auto source = must_open();
  EXPECT_EQ(source->read(0).power.scope, Scope::node);
  EXPECT_DOUBLE_EQ(source->devices()[0].sensor.averaging_window->in(units::second), 1);
}

TEST_F(Hwmon, NonsenseIsAReason) {
  tree.write("hwmon0/name", "amdgpu");
  tree.write("hwmon0/power1_average", "213000000");
  const auto source = must_open();
  for (const char* text : {"-5", "", "N/A"}) {
    tree.write("hwmon0/power1_average", text);
    EXPECT_TRUE(source->read(0).power.value.absent_for(Absence::garbage)) << text;
  }
}

TEST_F(Hwmon, WithoutPermissionTheExactPathIsNamed) {
  tree.write("hwmon0/name", "power_meter");
  tree.write("hwmon0/power1_average", "412000000");
  tree.forbid("hwmon0/power1_average");
  const testing::WithoutRoot ordinary;
  const auto source = must_open();
  ASSERT_TRUE(source->devices()[0].unreadable);
  EXPECT_THAT(source->devices()[0].unreadable->message(), HasSubstr(tree.path("hwmon0/power1_average")));
  EXPECT_TRUE(source->read(0).power.value.absent_for(Absence::no_permission));
}

}  // namespace
}  // namespace flopwatt::telemetry
