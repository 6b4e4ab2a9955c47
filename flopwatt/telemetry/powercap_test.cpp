#include "flopwatt/telemetry/powercap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/sysfs.hpp"
#include "flopwatt/telemetry/testing/scripted_tree.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using units::joule;
using units::second;
using units::watt;

class Powercap : public ::testing::Test {
 protected:
  void domain(const std::string& folder, const std::string& name, const std::string& energy = "1000000",
              const std::string& range = "262143328850") {
    tree.write(folder + "/name", name + "\n");
    tree.write(folder + "/energy_uj", energy + "\n");
    if (!range.empty()) tree.write(folder + "/max_energy_range_uj", range + "\n");
  }
  std::unique_ptr<Source> must_open() {
    OpenedSource source = open_powercap({tree.root()});
    EXPECT_TRUE(source) << source.error().error().message();
    return source ? std::move(*source) : nullptr;
  }
  /// Writes a counter's values one after the other and reads each, `step` seconds apart.
  Trace watch(Source& source, const std::string& folder, const std::vector<std::string>& values, double step = 1) {
    Trace trace{source.devices()[0]};
    for (std::size_t i = 0; i < values.size(); ++i) {
      tree.write(folder + "/energy_uj", values[i]);
      Snapshot snapshot = source.read(0);
      snapshot.time = SteadyTime{std::llround(step * static_cast<double>(i) * 1e9)};
      snapshot.time_error = {};
      trace.add(snapshot);
    }
    return trace;
  }
  testing::ScriptedTree tree;
};

TEST_F(Powercap, AbsentWithoutAFolderOrACounter) {
  const OpenedSource missing = open_powercap({tree.path("powercap")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().reason, Absence::not_present);
  tree.write("dtpm/enabled", "1");
  tree.write("intel-rapl:0/name", "package-0");  // limits only
  EXPECT_EQ(open_powercap({tree.root()}).error().reason, Absence::not_present);
}

TEST_F(Powercap, ReadsEveryDomainAndItsTraits) {
  tree.write("intel-rapl/enabled", "1");
  domain("intel-rapl:0", "package-0", "123456789");
  tree.write("intel-rapl:0/constraint_0_power_limit_uw", "125000000");
  tree.write("intel-rapl:0/constraint_1_power_limit_uw", "241000000");
  domain("intel-rapl:0:0", "core");
  domain("intel-rapl:0:1", "dram");
  const auto source = must_open();
  ASSERT_EQ(source->devices().size(), 3U);
  const DeviceInfo& package = source->devices()[0];
  EXPECT_EQ(package.name, "package-0");
  EXPECT_EQ(package.scope, Scope::package);
  EXPECT_EQ(package.path, tree.path("intel-rapl:0/energy_uj"));
  EXPECT_DOUBLE_EQ(package.counter.range->in(joule), 262143.32885);
  EXPECT_DOUBLE_EQ(package.counter.max_power->in(watt), 482);
  const Snapshot snapshot = source->read(0);
  EXPECT_DOUBLE_EQ(snapshot.energy->in(joule), 123.456789);
  EXPECT_DOUBLE_EQ(snapshot.limit->in(watt), 125);
  EXPECT_TRUE(snapshot.power.value.absent_for(Absence::not_supported));
  EXPECT_TRUE(source->read(2).limit.absent_for(Absence::not_present));
}

// Field report C1, as the counter's file shows it.
TEST_F(Powercap, AWrapIsOneRange) {
  domain("intel-rapl:0", "package-0", "0", "262144000000");
  const auto source = must_open();
  // 0, then every 249 s: the last is 30 811.1 J after 248 923 J; before it 6 · 41 487 J, which is 166 W.
  const Trace trace = watch(*source, "intel-rapl:0",
                            {"0", "41487166667", "82974333333", "124461500000", "165948666667", "207435833333",
                             "248923000000", "30811100000"},
                            249);
  const WindowEnergy energy = energy_of(trace);
  EXPECT_NEAR(energy.energy->in(joule), 292955.1, 1e-3);
  EXPECT_EQ(energy.method, EnergyMethod::counter);
  EXPECT_TRUE(energy.gaps.empty());
  EXPECT_EQ(energy.scope, Scope::package);
}

TEST_F(Powercap, SeveralWrapsInOneIntervalAreAGap) {
  domain("intel-rapl:0", "package-0", "0", "262144000000");
  const auto source = must_open();
  const WindowEnergy energy = energy_of(watch(*source, "intel-rapl:0", {"5000000", "1000000"}, 3600));
  EXPECT_EQ(energy.energy.reason(), Absence::wrapped_twice);
}

TEST_F(Powercap, SeveralWrapsOneAfterTheOtherAreCounted) {
  domain("intel-rapl:0", "package-0", "0", "1000000000");  // 1000 J, as a small unit has
  const auto source = must_open();
  // 400 J a second: 0, 400, 800, 200 (1200), 600, 0 (2000), 400.
  tree.write("intel-rapl:0/constraint_0_power_limit_uw", "250000000");
  const auto limited = must_open();
  const WindowEnergy energy = energy_of(
      watch(*limited, "intel-rapl:0", {"0", "400000000", "800000000", "200000000", "600000000", "0", "400000000"}));
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 2400);
}

// Field report C3.
TEST_F(Powercap, AnUnreadableRangeDropsTheIntervalAndSaysSo) {
  domain("intel-rapl:0", "package-0", "0", "");
  const auto source = must_open();
  EXPECT_THAT(source->devices()[0].notes, Contains(HasSubstr("max_energy_range_uj")));
  const WindowEnergy energy =
      energy_of(watch(*source, "intel-rapl:0", {"3990000000", "4000000000", "10000", "10010000"}));
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 20);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::range_unknown);
}
TEST_F(Powercap, ARangeOfZeroIsUnknown) {
  domain("intel-rapl:0", "package-0", "0", "0");
  EXPECT_FALSE(must_open()->devices()[0].counter.range);
}

// Field report C3: a read that failed is no zero, and no wrap.
TEST_F(Powercap, AReadThatFailsAddsNothing) {
  domain("intel-rapl:0", "package-0");
  const auto source = must_open();
  const WindowEnergy energy =
      energy_of(watch(*source, "intel-rapl:0", {"1000000000", "", "garbage", "-5", "1040000000"}));
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 40);
}
TEST_F(Powercap, ACounterThatStartsAgainIsAReset) {
  domain("intel-rapl:0", "package-0");
  const auto source = must_open();
  const WindowEnergy energy = energy_of(watch(*source, "intel-rapl:0", {"1000000000", "1050000000", "0", "50000000"}));
  EXPECT_DOUBLE_EQ(energy.energy->in(joule), 100);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::counter_reset);
}

// Field report C5: psys 9.61 J includes package 3.78, core 0.84 and dram 0.21.
TEST_F(Powercap, OverlappingDomainsAreAddedOnce) {
  domain("intel-rapl:0", "package-0", "3780000");
  domain("intel-rapl:0:0", "core", "840000");
  domain("intel-rapl:0:1", "dram", "210000");
  domain("intel-rapl:1", "psys", "9610000");
  const auto source = must_open();
  double sum = 0;
  for (const std::size_t device : outermost(source->devices())) sum += source->read(device).energy->in(joule);
  EXPECT_DOUBLE_EQ(sum, 9.61);
  EXPECT_EQ(source->devices()[1].part_of, 0U);
}
TEST_F(Powercap, WithoutPsysPackagesAndTheirMemoryAreAdded) {
  domain("intel-rapl:0", "package-0");
  domain("intel-rapl:0:0", "core");
  domain("intel-rapl:0:1", "dram");
  domain("intel-rapl:1", "package-1");
  domain("intel-rapl:1:0", "dram");
  EXPECT_THAT(outermost(must_open()->devices()), ElementsAre(0, 2, 3, 4));
}
TEST_F(Powercap, MsrAndMmioListOneCounterTwice) {
  domain("intel-rapl-mmio:0", "package-0");
  domain("intel-rapl-mmio:0:0", "dram");
  domain("intel-rapl:0", "package-0");
  domain("intel-rapl:0:0", "dram");
  const auto source = must_open();
  ASSERT_EQ(source->devices().size(), 4U);
  EXPECT_EQ(outermost(source->devices()).size(), 2U);
}
TEST_F(Powercap, DomainsAreSortedAsPeopleCount) {
  for (int i = 11; i >= 0; --i) domain("intel-rapl:" + std::to_string(i), "package-" + std::to_string(i));
  const auto source = must_open();
  EXPECT_EQ(source->devices()[2].name, "package-2");
  EXPECT_EQ(source->devices()[10].name, "package-10");
}

// Field report C6.
TEST_F(Powercap, WithoutPermissionTheExactPathIsNamed) {
  domain("intel-rapl:0", "package-0");
  tree.forbid("intel-rapl:0/energy_uj");
  const testing::WithoutRoot ordinary;
  const OpenedSource source = open_powercap({tree.root()});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().reason, Absence::no_permission);
  EXPECT_EQ(source.error().detail, tree.path("intel-rapl:0/energy_uj"));
  EXPECT_THAT(source.error().remedy, HasSubstr("root"));
}
TEST_F(Powercap, WhatMayBeReadIsRead) {
  domain("intel-rapl:0", "package-0");
  domain("intel-rapl:0:0", "core");
  tree.forbid("intel-rapl:0/energy_uj");
  const testing::WithoutRoot ordinary;
  const auto source = must_open();
  ASSERT_TRUE(source->devices()[0].unreadable);
  EXPECT_THAT(source->devices()[0].unreadable->message(), HasSubstr("intel-rapl:0/energy_uj"));
  EXPECT_TRUE(source->read(0).energy.absent_for(Absence::no_permission));
  EXPECT_TRUE(source->read(1).energy);
}

TEST(Sysfs, ANumberIsDigitsAndNothingElse) {
  EXPECT_EQ(parse_sysfs_number("42\n"), 42);
  EXPECT_EQ(parse_sysfs_number("-3"), -3);
  EXPECT_EQ(parse_sysfs_number(" 7 "), 7);
  for (const char* bad : {"", "\n", "4 2", "0x10", "1.5", "12W", "N/A", "9223372036854775808", "+4"}) {
    EXPECT_EQ(parse_sysfs_number(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace flopwatt::telemetry
