#include "flopwatt/telemetry/logs/log_builder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace flopwatt::telemetry {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

Snapshot watts(double power) {
  Snapshot sample;
  sample.power.value = power * units::watt;
  return sample;
}

Log log_of(const std::vector<std::string>& stamps, const LogOptions& options = {}) {
  LogBuilder builder{LogFormat::nvidia_smi_csv, "x", options};
  const std::size_t device = builder.device("0", {});
  for (const std::string& stamp : stamps) EXPECT_TRUE(builder.add(device, parse_stamp(stamp), watts(100))) << stamp;
  Result<Log> log = std::move(builder).finish();
  EXPECT_TRUE(log) << log.error().message();
  return log ? *std::move(log) : Log{};
}

std::vector<nanoseconds> steps(const Log& log) {
  std::vector<nanoseconds> result;
  for (std::size_t i = 1; i < log.traces[0].size(); ++i) {
    result.push_back(log.traces[0][i].time - log.traces[0][i - 1].time);
  }
  return result;
}

TEST(LogBuilder, TimesOfDayPassMidnight) {
  const Log log = log_of({"23:59:58.500", "23:59:59.500", "00:00:00.500", "00:00:01.500"});
  EXPECT_EQ(steps(log), (std::vector<nanoseconds>(3, seconds{1})));
  EXPECT_EQ(log.time_base, TimeBase::time_of_day);
}

TEST(LogBuilder, ACenturyOfMidnightsIsNoLog) {
  LogBuilder builder{LogFormat::nvidia_smi_csv, "x", {}};
  const std::size_t device = builder.device("0", {});
  std::size_t taken = 0;
  for (int i = 0; i < 120'000; ++i) {
    taken += builder.add(device, Stamp{hours{i % 2 == 0 ? 23 : 0}, StampKind::time_of_day}, watts(1)) ? 1 : 0;
  }
  EXPECT_LT(taken, 80'000U);
}

TEST(LogBuilder, TimesOfDayGetTheirDay) {
  LogOptions options;
  options.start = *parse_start("2026-05-06");
  options.utc_offset = hours{2};
  const Log log = log_of({"23:59:59", "00:00:00"}, options);
  EXPECT_EQ(log.time_base, TimeBase::anchored);
  EXPECT_EQ(log.traces[0][1].time, parse_stamp("2026-05-06T22:00:00Z")->time);
}

// The samples' own times keep their distances; the first of them is told from outside.
TEST(LogBuilder, TimesSinceBootAreAnchored) {
  LogOptions options;
  options.start = *parse_start("2026-05-06T10:00:00Z");
  LogBuilder builder{LogFormat::nvidia_smi_csv, "x", options};
  const std::size_t device = builder.device("0", {});
  for (const char* stamp : {"5011200000000", "5011200100000", "5011200350000"}) {
    ASSERT_TRUE(builder.add(device, parse_stamp(stamp, StampUnit::microseconds), watts(100)));
  }
  const Result<Log> log = std::move(builder).finish();
  ASSERT_TRUE(log);
  EXPECT_EQ(log->traces[0][0].time, parse_stamp("2026-05-06T10:00:00Z")->time);
  EXPECT_EQ(steps(*log), (std::vector<nanoseconds>{milliseconds{100}, milliseconds{250}}));

  const Log relative = log_of({"7.5", "8.5"});
  EXPECT_EQ(relative.time_base, TimeBase::relative);
  EXPECT_EQ(relative.traces[0][0].time, nanoseconds{0});
}

TEST(LogBuilder, TheHourThatComesTwice) {
  // 2026-10-25 03:00 CEST is 02:00 CET.
  const Log log = log_of({"2026-10-25 02:59:58", "2026-10-25 02:59:59", "2026-10-25 02:00:00", "2026-10-25 02:00:01"});
  EXPECT_EQ(steps(log), (std::vector<nanoseconds>(3, seconds{1})));
}

// Two hours from 02:00 CEST to 03:00 CET: the clock goes from 03:00 back to 02:00, whatever the interval.
TEST(LogBuilder, TheHourThatComesTwiceAtLongIntervals) {
  for (const int interval : {60, 120, 300, 600, 900}) {
    LogBuilder builder{LogFormat::nvidia_smi_csv, "x", {}};
    const std::size_t device = builder.device("0", {});
    const Stamp two = *parse_stamp("2026-10-25 02:00:00");
    std::vector<nanoseconds> expected;
    for (int at = 0; at <= 7200; at += interval) {
      const Stamp stamp{two.time + seconds{at < 3600 ? at : at - 3600}, two.kind};
      ASSERT_TRUE(builder.add(device, stamp, watts(100)));
      if (at > 0) expected.emplace_back(seconds{interval});
    }
    const Result<Log> log = std::move(builder).finish();
    ASSERT_TRUE(log);
    EXPECT_EQ(steps(*log), expected) << interval;
  }
}

// Every half hour, 02:30 and then 02:00 is an hour set back, or two rows in the wrong order.
TEST(LogBuilder, AnHourThatMayComeTwiceIsSaid) {
  const Log log = log_of({"2026-10-25 01:30:00", "2026-10-25 02:30:00", "2026-10-25 02:00:00"});
  const bool said = std::any_of(log.notes.begin(), log.notes.end(), [](const std::string& note) {
    return note.find("end of summer time cannot be told") != std::string::npos;
  });
  EXPECT_TRUE(said);
}

TEST(LogBuilder, LocalTimesAreTakenToTheirZone) {
  LogOptions options;
  options.utc_offset = -(hours{5} + minutes{30});
  const Log log = log_of({"2026-05-06 10:00:00"}, options);
  EXPECT_EQ(log.traces[0][0].time, parse_stamp("2026-05-06T15:30:00Z")->time);
  EXPECT_EQ(log.time_base, TimeBase::assumed_zone);
}

TEST(LogBuilder, SamplesOutOfOrderAreSorted) {
  const Log log = log_of({"2026-05-06 10:00:02", "2026-05-06 10:00:01", "2026-05-06 10:00:03"});
  EXPECT_EQ(steps(log), (std::vector<nanoseconds>(2, seconds{1})));
  EXPECT_FALSE(log.notes.empty());
}

TEST(LogBuilder, OneKindOfTimeInALog) {
  LogBuilder builder{LogFormat::nvidia_smi_csv, "x", {}};
  const std::size_t device = builder.device("0", {});
  EXPECT_TRUE(builder.add(device, parse_stamp("2026-05-06 10:00:00"), watts(1)));
  EXPECT_FALSE(builder.add(device, parse_stamp("10:00:01"), watts(1)));
  EXPECT_FALSE(builder.add(device, {}, watts(1)));
}

}  // namespace
}  // namespace flopwatt::telemetry
