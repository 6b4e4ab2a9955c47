#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/telemetry/amd_smi.hpp"
#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/rocm_smi.hpp"
#include "flopwatt/telemetry/testing/scripted_driver.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using units::joule;
using units::watt;

/// Both libraries are the same to the tests: what holds for the one holds for the other.
class Amd : public ::testing::TestWithParam<const char*> {
 protected:
  bool newer() const { return std::string{GetParam()} == "amd_smi"; }
  OpenedSource open(const std::string& script) {
    EXPECT_TRUE(driver.there()) << driver.path();
    driver.script(script);
    driver.time(100);
    return newer() ? open_amd_smi({.library = driver.path(), .kfd = ""})
                   : open_rocm_smi({.library = driver.path(), .kfd = ""});
  }
  std::unique_ptr<Source> must_open(const std::string& script) {
    OpenedSource source = open(script);
    EXPECT_TRUE(source) << source.error().error().message();
    return source ? std::move(*source) : nullptr;
  }
  Trace watch(Source& source, double from, double to, double step) {
    Trace trace{source.devices()[0]};
    for (double t = from; t <= to + 1e-9; t += step) {
      driver.time(t);
      Snapshot snapshot = source.read(0);
      snapshot.time = SteadyTime{std::llround(t * 1e9)};
      snapshot.time_error = {};
      EXPECT_TRUE(trace.add(snapshot));
    }
    return trace;
  }
  /// A power in the library's own unit.
  std::string raw(int watts) const { return std::to_string(watts) + (newer() ? "" : "000000"); }
  /// How the library says that a device has no such power.
  std::string unsupported() const { return newer() ? "4294967295" : "!2"; }

  testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_ROCM_LIBRARY};
};
INSTANTIATE_TEST_SUITE_P(Libraries, Amd, ::testing::Values("rocm_smi", "amd_smi"),
                         [](const auto& instance) { return std::string{instance.param}; });

TEST_P(Amd, HealthyDeviceGivesEveryReading) {
  const auto source = must_open("devices=2");
  EXPECT_EQ(source->name(), GetParam());
  ASSERT_EQ(source->devices().size(), 2U);
  EXPECT_EQ(source->devices()[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(source->devices()[0].vendor, "amd");
  EXPECT_EQ(source->devices()[1].pci_id, "00000000:04:00.0");
  EXPECT_FALSE(source->devices()[0].uuid.empty());
  EXPECT_EQ(outermost(source->devices()).size(), 2U);
  const Snapshot snapshot = source->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 400);
  EXPECT_NEAR(snapshot.energy->in(joule), 777 + 400 * 100, 0.01);
  EXPECT_DOUBLE_EQ(snapshot.limit->in(watt), 750);
  EXPECT_DOUBLE_EQ(*snapshot.utilization, 0.9);
  EXPECT_DOUBLE_EQ(snapshot.memory_used->in(units::gibibyte), 64);
  EXPECT_DOUBLE_EQ(snapshot.memory_total->in(units::gibibyte), 192);
  EXPECT_DOUBLE_EQ(*snapshot.temperature_celsius, 61);
}

// Field report A2.
TEST_P(Amd, AverageOnly) {
  const Snapshot snapshot = must_open("average=" + raw(17) + "; current=" + unsupported())->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 17);
  EXPECT_EQ(snapshot.power.kind, PowerKind::average);
}
TEST_P(Amd, CurrentOnly) {
  const Snapshot snapshot = must_open("current=" + raw(717) + "; average=" + unsupported())->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 717);
  EXPECT_EQ(snapshot.power.kind, PowerKind::current);
}
TEST_P(Amd, BothArePreferredForTheCurrentAndSaySo) {
  const auto source = must_open("current=" + raw(717) + "; average=" + raw(700));
  EXPECT_DOUBLE_EQ(source->read(0).power.value->in(watt), 717);
  EXPECT_THAT(source->devices()[0].notes, Contains(HasSubstr("current is read")));
}
TEST_P(Amd, NeitherIsNotSupported) {
  const auto source = must_open("current=" + unsupported() + "; average=" + unsupported());
  EXPECT_TRUE(source->read(0).power.value.absent_for(Absence::not_supported));
  EXPECT_TRUE(source->read(0).energy);
}

// Field report A1: 237 W on the first die, nothing on the second.
TEST_P(Amd, TwoDiesHaveOneMeter) {
  const auto source = must_open("devices=2; name=AMD Instinct MI250X; current=" + unsupported() +
                                "; 0.average=" + raw(237) + "; 1.average=" + raw(0) + "; 1.energy=0");
  ASSERT_EQ(source->devices().size(), 2U);
  EXPECT_THAT(outermost(source->devices()), ElementsAre(0));
  EXPECT_EQ(source->devices()[0].dies, 2U);
  const Snapshot first = source->read(0);
  EXPECT_DOUBLE_EQ(first.power.value->in(watt), 237);
  EXPECT_EQ(first.power.scope, Scope::module);
  EXPECT_TRUE(source->read(1).power.value.absent_for(Absence::in_other_reading));
  EXPECT_TRUE(source->read(1).energy.absent_for(Absence::in_other_reading));
  EXPECT_THAT(source->devices()[1].notes, Contains(HasSubstr("secondary die")));
}

// Field report A5: a board in CPX mode is eight devices at one address, and one meter; 1307.4 TFLOP/s are theirs
// together.
TEST_P(Amd, PartitionsShareTheirBoard) {
  std::string script = "devices=9; board=3; 8.board=4";
  for (int i = 0; i < 8; ++i) script += "; " + std::to_string(i) + ".partition=" + std::to_string(i);
  const auto source = must_open(script);
  EXPECT_THAT(outermost(source->devices()), ElementsAre(0, 8));
  EXPECT_EQ(source->devices()[0].partitions, 8U);
  EXPECT_NEAR(1307.4 / source->devices()[0].partitions, 163.4, 0.05);
  EXPECT_EQ(source->devices()[8].partitions, 1U);
  EXPECT_EQ(source->devices()[5].scope, Scope::partition);
  EXPECT_TRUE(source->read(5).energy.absent_for(Absence::in_other_reading));
  EXPECT_TRUE(source->read(0).energy);
}

// Field report A4.
TEST_P(Amd, AFrozenCounterGivesWayToPower) {
  const auto source = must_open("energy_mode=frozen; watts=200");
  const WindowEnergy energy = energy_of(watch(*source, 100, 109, 1));
  EXPECT_EQ(energy.method, EnergyMethod::power_integral);
  EXPECT_NEAR(energy.energy->in(joule), 1800, 1e-6);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::counter_stuck);
}

// Field report A5: the resolution is the driver's to say.
TEST_P(Amd, TheCounterCountsInItsOwnUnit) {
  const auto source = must_open("resolution=1000000");  // whole joules
  EXPECT_DOUBLE_EQ(source->devices()[0].counter.resolution->in(joule), 1);
  EXPECT_DOUBLE_EQ(source->read(0).energy->in(joule), 40777);
  EXPECT_NEAR(energy_of(watch(*source, 100, 110, 1)).energy->in(joule), 4000, 1e-9);
  const WindowEnergy energy = energy_of(watch(*source, 100, 110, 1));
  EXPECT_GE(energy.uncertainty.in(joule), 1);
}

TEST_P(Amd, EachReadingMayFailAlone) {
  const std::string code = "!2";
  const Snapshot snapshot =
      must_open("energy=" + code + "; cap=" + code + "; busy=" + code + "; memory=" + code + "; temp=" + code)->read(0);
  EXPECT_TRUE(snapshot.power.value);
  EXPECT_TRUE(snapshot.energy.absent_for(Absence::not_supported));
  EXPECT_TRUE(snapshot.limit.absent_for(Absence::not_supported));
  EXPECT_TRUE(snapshot.utilization.absent_for(Absence::not_supported));
  EXPECT_TRUE(snapshot.memory_used.absent_for(Absence::not_supported));
  EXPECT_TRUE(snapshot.temperature_celsius.absent_for(Absence::not_supported));
}
TEST_P(Amd, GarbageIsAReason) {
  const Snapshot snapshot =
      must_open("current=99999999999999; average=99999999999999; busy=250; memory=-1; temp=999999999; resolution=0")
          ->read(0);
  EXPECT_TRUE(snapshot.power.value.absent_for(Absence::garbage));
  EXPECT_TRUE(snapshot.utilization.absent_for(Absence::garbage));
  EXPECT_TRUE(snapshot.memory_used.absent_for(Absence::garbage));
  EXPECT_TRUE(snapshot.temperature_celsius.absent_for(Absence::garbage));
  EXPECT_TRUE(snapshot.energy.absent_for(Absence::garbage));
}
TEST_P(Amd, ALostDeviceIsAReason) {
  const auto source = must_open("lost_at=200");
  EXPECT_TRUE(source->read(0).power.value);
  driver.time(200);
  EXPECT_FALSE(source->read(0).power.value);
  EXPECT_FALSE(source->read(0).energy);
}
TEST_P(Amd, NoDevicesAndNoDriverAreAbsent) {
  EXPECT_EQ(open("devices=0").error().reason, Absence::not_present);
  EXPECT_EQ(open(newer() ? "init=!34" : "init=!8").error().reason,
            newer() ? Absence::not_loaded : Absence::not_present);
  EXPECT_EQ(open(newer() ? "init=!10" : "init=!4").error().reason, Absence::no_permission);
}

TEST(AmdSmi, TellsOldAndNewLayoutsOfPowerApart) {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  const auto is = [](AmdSocketPower power, std::uint32_t current, std::uint32_t average) {
    return power.current == current && power.average == average;
  };
  EXPECT_TRUE(is(amd_socket_power({717, 0, 717, kNone}), 717, kNone));  // new, MI300X
  EXPECT_TRUE(is(amd_socket_power({17, 0, kNone, 17}), kNone, 17));     // new, MI200
  EXPECT_TRUE(is(amd_socket_power({kNone, 0, kNone, kNone}), kNone, kNone));
  EXPECT_TRUE(is(amd_socket_power({717, 0xFFFF, 850, 0}), 717, 0xFFFF));  // old, MI300X
  EXPECT_TRUE(is(amd_socket_power({0xFFFF, 17, 850, 0}), 0xFFFF, 17));    // old, MI200
}
TEST(AmdSmi, ReadsTheOldLayout) {
  const testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_ROCM_LIBRARY};
  ASSERT_TRUE(driver.there());
  driver.script("layout=old; current=65535; average=237");
  driver.time(100);
  const OpenedSource source = open_amd_smi({.library = driver.path(), .kfd = ""});
  ASSERT_TRUE(source);
  const Snapshot snapshot = (*source)->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 237);
  EXPECT_EQ(snapshot.power.kind, PowerKind::average);
}

TEST(RocmSmi, WithoutAKernelDriverTheLibraryIsNotEvenOpened) {
  const OpenedSource source = open_rocm_smi({.library = "/nonexistent.so", .kfd = "/nonexistent/kfd"});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().reason, Absence::not_present);
  EXPECT_THAT(source.error().detail, HasSubstr("/nonexistent/kfd"));
  EXPECT_EQ(open_amd_smi({.library = "/nonexistent.so", .kfd = "/nonexistent/kfd"}).error().reason,
            Absence::not_present);
}

// The distribution's own library, on a machine without a device: its real answer is a general error, which means
// absent.
TEST(RocmSmi, TheRealLibraryWithoutADevice) {
  if (void* library = ::dlopen("librocm_smi64.so.1", RTLD_NOW | RTLD_LOCAL); library == nullptr) {
    GTEST_SKIP() << "needs the package librocm-smi64-1";
  }
  const OpenedSource source = open_rocm_smi({.library = "librocm_smi64.so.1", .kfd = ""});
  if (source) GTEST_SKIP() << "this machine has an AMD device";
  EXPECT_EQ(source.error().reason, Absence::not_present);
  EXPECT_THAT(source.error().detail, HasSubstr("gave 8"));
  EXPECT_EQ(source.error().error().code, base::Errc::unavailable);
}

}  // namespace
}  // namespace flopwatt::telemetry
