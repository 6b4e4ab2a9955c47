#include "flopwatt/telemetry/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/testing/scripted_driver.hpp"
#include "flopwatt/telemetry/visible_devices.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using units::joule;
using units::second;
using units::watt;

class Nvml : public ::testing::Test {
 protected:
  Nvml() { EXPECT_TRUE(driver.there()) << driver.path(); }

  OpenedSource open(const std::string& script, NvmlOptions options = {}) {
    driver.script(script);
    driver.time(100);
    options.library = driver.path();
    return open_nvml(options);
  }
  std::unique_ptr<Source> must_open(const std::string& script, const NvmlOptions& options = {}) {
    OpenedSource source = open(script, options);
    EXPECT_TRUE(source) << source.error().error().message();
    return source ? std::move(*source) : nullptr;
  }
  Absence refusal(const std::string& script) {
    const OpenedSource source = open(script);
    EXPECT_FALSE(source);
    return source ? Absence::not_asked : source.error().reason;
  }
  Snapshot look(const std::string& script, const NvmlOptions& options = {}) {
    const auto source = must_open(script, options);
    return source ? source->read(0) : Snapshot{};
  }
  /// Reads device 0 at every step of the script's time and stamps the snapshots with it.
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

  testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_NVML_LIBRARY};
};

TEST_F(Nvml, HealthyDeviceGivesEveryReading) {
  const auto source = must_open("devices=2");
  ASSERT_EQ(source->devices().size(), 2U);
  const DeviceInfo& device = source->devices()[0];
  EXPECT_EQ(device.vendor, "nvidia");
  EXPECT_EQ(device.name, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(device.uuid, "GPU-01111111-2222-3333-4444-555555555555");
  EXPECT_EQ(device.pci_id, "00000000:0b:00.0");
  EXPECT_EQ(source->devices()[1].pci_id, "00000000:1b:00.0");
  EXPECT_FALSE(source->recorded());

  const Snapshot snapshot = source->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 400);
  EXPECT_EQ(snapshot.power.kind, PowerKind::average_1s);
  EXPECT_EQ(snapshot.power.scope, Scope::device);
  EXPECT_DOUBLE_EQ(snapshot.energy->in(joule), 5000 + 400 * 100);
  EXPECT_DOUBLE_EQ(snapshot.limit->in(watt), 700);
  EXPECT_DOUBLE_EQ(*snapshot.utilization, 0.8);
  EXPECT_DOUBLE_EQ(snapshot.memory_used->in(units::gibibyte), 32);
  EXPECT_DOUBLE_EQ(snapshot.memory_total->in(units::gibibyte), 80);
  EXPECT_DOUBLE_EQ(snapshot.compute_clock->in(units::megahertz), 1980);
  EXPECT_DOUBLE_EQ(snapshot.memory_clock->in(units::megahertz), 2619);
  EXPECT_DOUBLE_EQ(*snapshot.temperature_celsius, 55);
  EXPECT_EQ(*snapshot.processes, 1U);
  EXPECT_TRUE(snapshot.module_power.value.absent_for(Absence::not_asked));
  EXPECT_NEAR(*power_over_limit(snapshot), 400.0 / 700, 1e-12);
}

TEST_F(Nvml, WithoutALibraryItIsNotPresentWithTheLinkersWords) {
  const OpenedSource source = open_nvml({.library = "/nonexistent/libnvidia-ml.so.1"});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().reason, Absence::not_present);
  EXPECT_THAT(source.error().detail, HasSubstr("/nonexistent/libnvidia-ml.so.1"));
  EXPECT_EQ(source.error().error().code, base::Errc::unavailable);
}

TEST_F(Nvml, AFileThatIsNoLibraryIsGarbage) {
  const OpenedSource source = open_nvml({.library = FLOPWATT_SOURCE_DIR "/LICENSE"});
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().reason, Absence::garbage);
}

TEST_F(Nvml, DriverNotLoaded) { EXPECT_EQ(refusal("init=!9"), Absence::not_loaded); }
TEST_F(Nvml, InitialisationFails) { EXPECT_EQ(refusal("init=!999"), Absence::unknown_error); }
TEST_F(Nvml, NoPermissionAtAll) { EXPECT_EQ(refusal("init=!4"), Absence::no_permission); }
TEST_F(Nvml, NoDevices) { EXPECT_EQ(refusal("devices=0"), Absence::not_present); }
TEST_F(Nvml, CountFails) { EXPECT_EQ(refusal("count=!15"), Absence::device_lost); }
TEST_F(Nvml, AnUpdatedDriverAsksForARestart) {
  const OpenedSource source = open("init=!18");
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().reason, Absence::version_mismatch);
  EXPECT_THAT(source.error().remedy, HasSubstr("restart"));
}

TEST_F(Nvml, ADriverReloadedUnderARunningProgramIsAReason) {
  const auto source = must_open("reload_at=200");
  EXPECT_TRUE(source->read(0).power.value);
  driver.time(200);
  const Snapshot snapshot = source->read(0);
  EXPECT_TRUE(snapshot.power.value.absent_for(Absence::version_mismatch));
  EXPECT_TRUE(snapshot.energy.absent_for(Absence::version_mismatch));
}

TEST_F(Nvml, ADeviceThatCannotBeOpenedIsListedWithTheReason) {
  const auto source = must_open("devices=3; 1.handle=!15");
  ASSERT_EQ(source->devices().size(), 3U);
  ASSERT_TRUE(source->devices()[1].unreadable);
  EXPECT_THAT(source->devices()[1].unreadable->message(), HasSubstr("lost"));
  EXPECT_FALSE(source->read(1).power.value);
  EXPECT_TRUE(source->read(2).power.value);
}

TEST_F(Nvml, ALostDeviceMayComeBack) {
  const auto source = must_open("lost_at=110; back_at=120");
  EXPECT_TRUE(source->read(0).power.value);
  driver.time(110);
  EXPECT_TRUE(source->read(0).power.value.absent_for(Absence::device_lost));
  EXPECT_TRUE(source->read(0).energy.absent_for(Absence::device_lost));
  EXPECT_TRUE(source->read(0).utilization.absent_for(Absence::device_lost));
  driver.time(120);
  EXPECT_TRUE(source->read(0).power.value);
}

TEST_F(Nvml, ALossInTheMiddleIsAGapThatTheCounterBridges) {
  const auto source = must_open("lost_at=103; back_at=106");
  const Trace trace = watch(*source, 100, 110, 0.5);
  const WindowEnergy energy = energy_of(trace);
  // The counter went on counting: 400 W · 10 s.
  EXPECT_NEAR(energy.energy->in(joule), 4000, 1e-6);
  EXPECT_EQ(energy.method, EnergyMethod::counter);
}

// Each reading for itself: the others stay.
TEST_F(Nvml, PowerUsageUnsupportedFallsBackToTheFields) {
  const auto source = must_open("usage=!3");
  const Snapshot snapshot = source->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 400);
  EXPECT_EQ(snapshot.power.kind, PowerKind::average_1s);
  EXPECT_THAT(source->devices()[0].notes, Contains(HasSubstr("185")));
}
TEST_F(Nvml, OnlyInstantPowerSupported) {
  const Snapshot snapshot = look("usage=!3; average=!3");
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 400);
  EXPECT_EQ(snapshot.power.kind, PowerKind::instant);
}
TEST_F(Nvml, NoPowerAtAllStillHasACounter) {
  const Snapshot snapshot = look("usage=!3; average=!3; instant=!3");
  EXPECT_TRUE(snapshot.power.value.absent_for(Absence::not_supported));
  EXPECT_TRUE(snapshot.energy);
}
TEST_F(Nvml, PowerWithoutPermission) { EXPECT_TRUE(look("usage=!4").power.value.absent_for(Absence::no_permission)); }
// Field report N6: before Volta there is no counter; the integral of power stands in and says so.
TEST_F(Nvml, EnergyUnsupportedIsIntegrated) {
  const auto source = must_open("energy=!3; arch=4; cc=61");
  const WindowEnergy energy = energy_of(watch(*source, 100, 110, 0.5));
  EXPECT_EQ(energy.method, EnergyMethod::power_integral);
  EXPECT_NEAR(energy.energy->in(joule), 4000, 1e-6);
  EXPECT_EQ(energy.power_kind, PowerKind::instant);
}
TEST_F(Nvml, LimitUnsupported) {
  const Snapshot snapshot = look("limit=!3");
  EXPECT_TRUE(snapshot.limit.absent_for(Absence::not_supported));
  EXPECT_FALSE(power_over_limit(snapshot));
}
// Field report N14.
TEST_F(Nvml, ALimitOfZeroIsNoLimit) {
  const Snapshot snapshot = look("limit=0");
  EXPECT_TRUE(snapshot.limit.absent_for(Absence::not_supported));
  EXPECT_FALSE(power_over_limit(snapshot));
}
TEST_F(Nvml, UtilizationUnsupported) {
  const Snapshot snapshot = look("util=!3");
  EXPECT_TRUE(snapshot.utilization.absent_for(Absence::not_supported));
  EXPECT_TRUE(snapshot.power.value);
}
TEST_F(Nvml, MemoryUnsupported) { EXPECT_TRUE(look("memory=!3").memory_used.absent_for(Absence::not_supported)); }
TEST_F(Nvml, ClockUnsupported) { EXPECT_TRUE(look("clock=!3").compute_clock.absent_for(Absence::not_supported)); }
TEST_F(Nvml, TemperatureUnsupported) {
  EXPECT_TRUE(look("temp=!3").temperature_celsius.absent_for(Absence::not_supported));
}
TEST_F(Nvml, ProcessesUnsupported) { EXPECT_TRUE(look("processes=!3").processes.absent_for(Absence::not_supported)); }
// Field report N17: what needs profiling is absent with a reason, never 0.
TEST_F(Nvml, TensorActivityIsAbsent) { EXPECT_FALSE(look("").tensor_active); }

TEST_F(Nvml, GarbageIsAReason) {
  const Snapshot all_ones = look("usage=-1; energy=-1; util=-1; memory=-1; clock=-1; temp=-1");
  EXPECT_TRUE(all_ones.power.value.absent_for(Absence::garbage));
  EXPECT_TRUE(all_ones.energy.absent_for(Absence::garbage));
  EXPECT_TRUE(all_ones.utilization.absent_for(Absence::garbage));
  EXPECT_TRUE(all_ones.memory_used.absent_for(Absence::garbage));
  EXPECT_TRUE(all_ones.compute_clock.absent_for(Absence::garbage));
  EXPECT_TRUE(all_ones.temperature_celsius.absent_for(Absence::garbage));
}
TEST_F(Nvml, ANegativeFieldIsGarbage) {
  EXPECT_TRUE(look("field_type=5; instant=-5", {.instant = true}).power.value.absent_for(Absence::garbage));
}
TEST_F(Nvml, AFieldThatIsNoNumberIsGarbage) {
  EXPECT_TRUE(look("field_type=0; field_nan=1", {.instant = true}).power.value.absent_for(Absence::garbage));
}
TEST_F(Nvml, AFieldOfUnknownTypeIsGarbage) {
  EXPECT_TRUE(look("field_type=42", {.instant = true}).power.value.absent_for(Absence::garbage));
}
TEST_F(Nvml, ANameOfOddBytesIsPrintable) {
  const auto source = must_open("name=\x1b[31mGPU\xff\xfe\x01 ok ");
  EXPECT_EQ(source->devices()[0].name, "?[31mGPU??? ok");
}
TEST_F(Nvml, IdentityUnsupportedLeavesTheIndex) {
  const auto source = must_open("name=!3; uuid=!3; bus=!3");
  EXPECT_EQ(source->devices()[0].id(), "nvml:0");
}

TEST_F(Nvml, InstantPowerIsUsedWhereItIsAskedForAndOffered) {
  // 400 W until 99.5 s, 600 W since: the mean of the last second lies half way.
  const std::string load = "boxcar=1; step_at=99.5; high=600";
  const Snapshot average = look(load);
  EXPECT_NEAR(average.power.value->in(watt), 500, 1e-2);
  EXPECT_EQ(average.power.kind, PowerKind::average_1s);
  const Snapshot instant = look(load, {.instant = true});
  EXPECT_NEAR(instant.power.value->in(watt), 600, 1e-2);
  EXPECT_EQ(instant.power.kind, PowerKind::instant);
}
TEST_F(Nvml, InstantPowerThatIsNotOfferedIsNoted) {
  const auto source = must_open("instant=!3", {.instant = true});
  EXPECT_EQ(source->read(0).power.kind, PowerKind::average_1s);
  EXPECT_THAT(source->devices()[0].notes, Contains(HasSubstr("no instant power")));
}
TEST_F(Nvml, KindOfPowerFollowsTheArchitecture) {
  EXPECT_EQ(look("arch=5; cc=70").power.kind, PowerKind::instant);     // Volta
  EXPECT_EQ(look("arch=7; cc=80").power.kind, PowerKind::instant);     // GA100
  EXPECT_EQ(look("arch=7; cc=86").power.kind, PowerKind::average_1s);  // GA102
  EXPECT_EQ(look("arch=8; cc=89").power.kind, PowerKind::average_1s);
  EXPECT_EQ(look("arch=-1").power.kind, PowerKind::unknown);
}

// Field report N1 through the whole chain.
TEST_F(Nvml, TheMeanOfASecondIsUndoneInAWindowOfSeconds) {
  const auto source = must_open("energy=!3; boxcar=1; watts=50; step_at=110; high=300");
  const Trace trace = watch(*source, 105, 115, 0.1);
  EXPECT_NEAR(trace[55].power.value->in(watt), 175, 0.01);  // at 110.5 s
  const WindowEnergy energy =
      energy_over(trace, SteadyTime{std::chrono::seconds{110}}, SteadyTime{std::chrono::seconds{113}});
  EXPECT_NEAR(energy.energy->in(joule), 900, 0.1);
  EXPECT_TRUE(energy.has(EnergyFlag::averaged_power));
}

// Field report N2: 400 W for 25 ms, 100 W for 75 ms; the mean is 175 W, and a sensor that looks at a quarter of each
// period sees the one or the other.
TEST_F(Nvml, ASensorThatLooksPartOfTheTimeIsFlagged) {
  const NvmlOptions instant{.instant = true};
  const auto in_phase = must_open("energy=!3; sampled=0.25; watts=100; high=400; period=0.1; duty=0.25", instant);
  const WindowEnergy seen = energy_of(watch(*in_phase, 100, 110, 0.1));
  EXPECT_NEAR(seen.mean_power->in(watt), 400, 0.01);
  EXPECT_TRUE(seen.has(EnergyFlag::part_time_sampling));
  EXPECT_DOUBLE_EQ(in_phase->devices()[0].sensor.duty.value_or(0), 0.25);
  // The counter knows better, where there is one.
  const auto counted = must_open("sampled=0.25; watts=100; high=400; period=0.1; duty=0.25", instant);
  EXPECT_NEAR(energy_of(watch(*counted, 100, 110, 0.1)).mean_power->in(watt), 175, 1e-6);
  // Volta's sensor is not known for it.
  EXPECT_FALSE(must_open("arch=5; cc=70")->devices()[0].sensor.duty);
}

TEST_F(Nvml, ACounterThatIsResetIsAGap) {
  const auto source = must_open("reset_at=105");
  const WindowEnergy energy = energy_of(watch(*source, 100, 110, 1));
  EXPECT_EQ(energy.method, EnergyMethod::mixed);
  EXPECT_NEAR(energy.energy->in(joule), 4000, 1e-6);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::counter_reset);
  EXPECT_TRUE(energy.gaps[0].filled);
}
TEST_F(Nvml, AFrozenCounterIsAGap) {
  const auto source = must_open("energy_mode=frozen");
  const WindowEnergy energy = energy_of(watch(*source, 100, 110, 0.5));
  EXPECT_EQ(energy.method, EnergyMethod::power_integral);
  EXPECT_NEAR(energy.energy->in(joule), 4000, 1e-6);
  ASSERT_EQ(energy.gaps.size(), 1U);
  EXPECT_EQ(energy.gaps[0].reason, Absence::counter_stuck);
}
TEST_F(Nvml, ACounterThatIsAlwaysZeroIsStuckToo) {
  const auto source = must_open("energy_mode=zero");
  EXPECT_NEAR(energy_of(watch(*source, 100, 110, 0.5)).energy->in(joule), 4000, 1e-6);
}
TEST_F(Nvml, ACounterInCoarseStepsCarriesItsUncertainty) {
  const auto source = must_open("energy_step=40000");  // 40 J, 100 ms at 400 W
  const WindowEnergy energy = energy_of(watch(*source, 100, 110, 0.02));
  EXPECT_EQ(energy.method, EnergyMethod::counter);
  EXPECT_NEAR(energy.energy->in(joule), 4000, energy.uncertainty.in(joule));
  EXPECT_GE(energy.uncertainty.in(joule), 40);
}

TEST_F(Nvml, MigInstancesArePartsOfTheirBoard) {
  const auto source = must_open("mig=3");
  ASSERT_EQ(source->devices().size(), 4U);
  EXPECT_THAT(source->devices()[0].notes, Contains(HasSubstr("MIG")));
  EXPECT_EQ(source->devices()[2].uuid, "MIG-0000-2aaa");
  EXPECT_EQ(source->devices()[2].scope, Scope::partition);
  EXPECT_EQ(source->devices()[2].part_of, 0U);
  EXPECT_EQ(outermost(source->devices()), std::vector<std::size_t>{0});
  const Snapshot snapshot = source->read(2);
  EXPECT_TRUE(snapshot.power.value.absent_for(Absence::in_other_reading));
  EXPECT_TRUE(snapshot.energy.absent_for(Absence::in_other_reading));
  EXPECT_TRUE(snapshot.memory_used);
  const auto seen = visible_devices(source->devices(), {"MIG-0000-2", std::nullopt});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->devices, std::vector<std::size_t>{2});
}

TEST_F(Nvml, AVgpuSaysThatPowerIsTheHosts) {
  const auto source = must_open("vgpu=1; usage=!3; average=!3; instant=!3; energy=!3");
  EXPECT_THAT(source->devices()[0].notes, Contains(HasSubstr("vGPU")));
  const Snapshot snapshot = source->read(0);
  EXPECT_TRUE(snapshot.power.value.absent_for(Absence::not_supported));
  EXPECT_TRUE(snapshot.energy.absent_for(Absence::not_supported));
  EXPECT_TRUE(snapshot.utilization);
}

// Field report N11: module 620 W, GPU scope not available.
TEST_F(Nvml, OnlyTheModuleIsMetered) {
  const auto source = must_open("usage=!3; average=!3; instant=!3; module=620000");
  const Snapshot snapshot = source->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 620);
  EXPECT_EQ(snapshot.power.scope, Scope::module);
  EXPECT_EQ(source->devices()[0].scope, Scope::module);
  EXPECT_EQ(energy_of(watch(*source, 100, 101, 0.1), {.use_counter = false}).scope, Scope::module);
}
TEST_F(Nvml, ModulePowerStandsBesideTheDevices) {
  const Snapshot snapshot = look("module=620000");
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 400);
  EXPECT_EQ(snapshot.power.scope, Scope::device);
  EXPECT_DOUBLE_EQ(snapshot.module_power.value->in(watt), 620);
  EXPECT_EQ(snapshot.module_power.scope, Scope::module);
}

TEST_F(Nvml, TwoProcessesAreCountedAndTheScopeStaysTheDevice) {
  const Snapshot snapshot = look("processes=2");
  EXPECT_EQ(*snapshot.processes, 2U);
  EXPECT_EQ(snapshot.power.scope, Scope::device);
  EXPECT_EQ(*look("processes=0").processes, 0U);
  const auto source = must_open("processes=2");
  EXPECT_TRUE(energy_of(watch(*source, 100, 101, 0.1)).has(EnergyFlag::shared_device));
  const auto alone = must_open("");
  EXPECT_FALSE(energy_of(watch(*alone, 100, 101, 0.1)).has(EnergyFlag::shared_device));
}

// Field report N9: the fast device is in the second slot, where CUDA calls it 0.
TEST_F(Nvml, AnOrderThatDiffersFromCudasIsBridgedByAddressOrRefused) {
  const auto source = must_open(
      "devices=2; 0.name=NVIDIA T4; 1.name=NVIDIA A100; 0.bus=00000000:04:00.0; "
      "1.bus=00000000:82:00.0");
  const auto devices = source->devices();
  EXPECT_EQ(find_device(devices, "0000:82:00.0"), 1U);
  const auto by_index = visible_devices(devices, {"0", std::nullopt});
  ASSERT_FALSE(by_index);
  EXPECT_THAT(by_index.error().message(), HasSubstr("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
  EXPECT_EQ(visible_devices(devices, {"0", "PCI_BUS_ID"})->devices, std::vector<std::size_t>{0});
  EXPECT_EQ(visible_devices(devices, {"GPU-1", std::nullopt})->devices, std::vector<std::size_t>{1});
}

// Field report N8: one of eight.
TEST_F(Nvml, OneDeviceOfEightIsOneDevice) {
  const auto source = must_open("devices=8");
  const auto seen = visible_devices(source->devices(), {source->devices()[3].uuid, std::nullopt});
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->devices, std::vector<std::size_t>{3});
}

TEST_F(Nvml, SlowReadingsAreNotRepeatedTooOften) {
  const auto source = must_open("limit=700000");
  EXPECT_DOUBLE_EQ(source->read(0).limit->in(watt), 700);
  driver.script("limit=500000");
  EXPECT_DOUBLE_EQ(source->read(0).limit->in(watt), 700);
  const auto eager = must_open("limit=700000", {.slow_period = units::Duration{}});
  EXPECT_DOUBLE_EQ(eager->read(0).limit->in(watt), 700);
  driver.script("limit=500000");
  EXPECT_DOUBLE_EQ(eager->read(0).limit->in(watt), 500);
}

// Field report N4: a counter that takes 2.4 ms to read.
TEST_F(Nvml, ADearCounterIsReadAtTheEndsAndNotAtEveryGlance) {
  const auto source = must_open("energy_cost=3");
  EXPECT_TRUE(source->glance(0).energy);  // the first shows what it costs
  const Snapshot glance = source->glance(0);
  EXPECT_TRUE(glance.energy.absent_for(Absence::not_asked));
  EXPECT_TRUE(glance.power.value);
  EXPECT_TRUE(source->read(0).energy);
  const auto cheap = must_open("");
  EXPECT_TRUE(cheap->glance(0).energy);
  EXPECT_TRUE(cheap->glance(0).energy);
}

TEST(OldNvml, ADriverWithoutTheNewCallsStillGivesPower) {
  const testing::ScriptedDriver driver{FLOPWATT_SCRIPTED_OLD_NVML_LIBRARY};
  ASSERT_TRUE(driver.there());
  driver.script("");
  driver.time(100);
  const OpenedSource source = open_nvml({.library = driver.path(), .instant = true});
  ASSERT_TRUE(source);
  const Snapshot snapshot = (*source)->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 400);
  EXPECT_EQ(snapshot.power.kind, PowerKind::unknown);
  EXPECT_TRUE(snapshot.energy.absent_for(Absence::missing_symbol));
  EXPECT_EQ(*snapshot.processes, 1U);  // under the call's older name
  EXPECT_THAT((*source)->devices()[0].notes, Contains(HasSubstr("no instant power")));
}

// Field report N15: 5 011 200 s since the machine started, read on 2026-05-06.
TEST(NvmlSamples, AreAnchoredAtTheTimeOfReadingAndKeepTheirDistances) {
  const std::vector<std::uint64_t> times{5'011'199'980'000, 5'011'199'990'000, 5'011'200'000'000};
  const WallTime read_at = std::chrono::seconds{1'778'025'600};  // 2026-05-06 00:00:00 UTC
  const std::vector<WallTime> anchored = anchor_samples(times, read_at);
  ASSERT_EQ(anchored.size(), 3U);
  EXPECT_EQ(anchored[2], read_at);
  EXPECT_EQ(anchored[1], read_at - std::chrono::milliseconds{10});
  EXPECT_EQ(anchored[0], read_at - std::chrono::milliseconds{20});
  EXPECT_TRUE(anchor_samples({}, read_at).empty());
}

}  // namespace
}  // namespace flopwatt::telemetry
