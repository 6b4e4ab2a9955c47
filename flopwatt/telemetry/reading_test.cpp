#include "flopwatt/telemetry/reading.hpp"

#include <gtest/gtest.h>

#include "flopwatt/telemetry/source.hpp"
#include "flopwatt/telemetry/trace.hpp"

namespace flopwatt::telemetry {
namespace {

using units::watt;

static_assert(std::is_trivially_copyable_v<Snapshot>);
static_assert(sizeof(Snapshot) <= 320);

TEST(Reading, IsAValueOrAReason) {
  const Reading<double> nothing;
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing.reason(), Absence::not_asked);
  const Reading<double> value = 3.0;
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3.0);
  const Reading<double> lost = Absence::device_lost;
  EXPECT_TRUE(lost.absent_for(Absence::device_lost));
  EXPECT_FALSE(lost.absent_for(Absence::timed_out));
  EXPECT_DEATH(static_cast<void>(*lost), "there_");
}

TEST(Reading, EveryReasonHasAKeyThatReadsBack) {
  for (int i = 0; i <= static_cast<int>(Absence::unknown_error); ++i) {
    const auto reason = static_cast<Absence>(i);
    EXPECT_FALSE(text(reason).empty());
    Absence back = Absence::not_asked;
    EXPECT_TRUE(parse_key(key(reason), back));
    EXPECT_EQ(back, reason);
  }
  Absence untouched = Absence::stale;
  EXPECT_FALSE(parse_key("nonsense", untouched));
  EXPECT_EQ(untouched, Absence::stale);
  EXPECT_EQ(key(Absence::version_mismatch), "version_mismatch");
  EXPECT_EQ(key(Scope::external_meter), "external_meter");
  EXPECT_EQ(key(PowerKind::average_1s), "average_1s");
}

// Field report N14: a limit of zero crashed another tool.
TEST(Reading, PowerOverALimitOfZeroOrNoneIsAbsent) {
  Snapshot snapshot;
  snapshot.power.value = 350 * watt;
  EXPECT_EQ(power_over_limit(snapshot).reason(), Absence::not_asked);
  snapshot.limit = 0 * watt;
  EXPECT_EQ(power_over_limit(snapshot).reason(), Absence::not_supported);
  snapshot.limit = 700 * watt;
  EXPECT_DOUBLE_EQ(*power_over_limit(snapshot), 0.5);
  snapshot.power.value = Absence::device_lost;
  EXPECT_EQ(power_over_limit(snapshot).reason(), Absence::device_lost);
}

Snapshot at(int seconds) {
  Snapshot snapshot;
  snapshot.time = std::chrono::seconds{seconds};
  return snapshot;
}

TEST(Trace, KeepsTheNewestAndSaysHowManyItForgot) {
  Trace trace{{}, 3};
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(trace.add(at(i)));
  EXPECT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace.dropped(), 2U);
  EXPECT_EQ(trace.front().time, std::chrono::seconds{2});
  EXPECT_EQ(trace.back().time, std::chrono::seconds{4});
  EXPECT_EQ(trace.lower_bound(std::chrono::seconds{3}), 1U);
  EXPECT_EQ(trace.lower_bound(std::chrono::seconds{9}), 3U);
}

TEST(Trace, DoesNotRunBackwards) {
  Trace trace;
  EXPECT_TRUE(trace.add(at(2)));
  EXPECT_FALSE(trace.add(at(1)));
  EXPECT_EQ(trace.size(), 1U);
}

TEST(Source, AnIdentityIsTheBestThereIs) {
  DeviceInfo device{.source = "nvml", .index = 3};
  EXPECT_EQ(device.id(), "nvml:3");
  device.pci_id = "00000000:3b:00.0";
  EXPECT_EQ(device.id(), "00000000:3b:00.0");
  device.uuid = "GPU-1";
  EXPECT_EQ(device.id(), "GPU-1");
}

TEST(Source, AnAbsentOneIsAnUnavailableError) {
  const SourceAbsence absence{"rapl", Absence::no_permission, "/sys/x", "run as root"};
  EXPECT_EQ(absence.error().code, base::Errc::unavailable);
  EXPECT_EQ(absence.error().message(), "rapl: /sys/x (no permission); run as root");
}

}  // namespace
}  // namespace flopwatt::telemetry
