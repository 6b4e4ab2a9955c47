#include "flopwatt/telemetry/logs/stamp.hpp"

#include <gtest/gtest.h>

#include <string>

namespace flopwatt::telemetry {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// 2026-05-06 10:00:00 UTC: 56 years of which 14 leap (1972 … 2024) are 20454 days to 2026-01-01; 31 + 28 + 31 + 30 + 5
// days more are 20579 days; · 86400 + 36000 s.
constexpr nanoseconds kTen = days{20579} + hours{10};

TEST(Stamp, DatesWithAZoneAreUtc) {
  for (const char* text : {"2026-05-06T10:00:00Z", "2026-05-06 10:00:00 UTC", "2026-05-06T12:00:00+02:00",
                           "2026-05-06T12:00:00+0200", "2026-05-06T04:30:00-05:30", "2026-05-06T12:00:00+2"}) {
    const auto stamp = parse_stamp(text);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->kind, StampKind::utc) << text;
    EXPECT_EQ(stamp->time, kTen) << text;
  }
}

TEST(Stamp, WhatTheDateCommandPrints) {
  for (const char* text : {"Wed May  6 10:00:00 UTC 2026", "Wed May  6 10:00:00 AM UTC 2026",
                           "Wed May 6 12:00:00 +0200 2026", "Wed May  6 10:00:00 PM +12 2026"}) {
    const auto stamp = parse_stamp(text);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->kind, StampKind::utc) << text;
    EXPECT_EQ(stamp->time, kTen) << text;
  }
  EXPECT_EQ(parse_stamp("Wed May  6 12:30:00 AM UTC 2026")->time, kTen - minutes{570});
  for (const char* text :
       {"Wed May  6 10:00:00 CEST 2026", "Wed May 36 10:00:00 UTC 2026", "Wed Mai 6 10:00:00 UTC 2026",
        "Wed May  6 13:00:00 PM UTC 2026", "Wed May  6 10:00:00 UTC"}) {
    EXPECT_FALSE(parse_stamp(text)) << text;
  }
}

TEST(Stamp, DatesWithoutAZoneAreLocal) {
  for (const char* text : {"2026/05/06 10:00:00.250", "2026-05-06 10:00:00,25", "06.05.2026 10:00:00,250",
                           "20260506   10:00:00.250", "\"2026-05-06T10:00:00.250000\"", " 2026-5-6 10:00:00.25 "}) {
    const auto stamp = parse_stamp(text);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->kind, StampKind::local) << text;
    EXPECT_EQ(stamp->time, kTen + milliseconds{250}) << text;
  }
}

TEST(Stamp, EpochNumbersSayTheirUnitByTheirSize) {
  for (const char* text : {"1778061600", "1778061600.0", "1778061600000", "1778061600000000", "1778061600000000000"}) {
    const auto stamp = parse_stamp(text);
    ASSERT_TRUE(stamp) << text;
    EXPECT_EQ(stamp->kind, StampKind::utc);
    EXPECT_EQ(stamp->time, kTen) << text;
  }
  // A double would round this to 238 ns.
  EXPECT_EQ(parse_stamp("1778061600.123456789")->time, kTen + nanoseconds{123'456'789});
  EXPECT_EQ(parse_stamp("1778061600123.5")->time, kTen + nanoseconds{123'500'000});
}

TEST(Stamp, ASmallNumberIsRelativeAndABetweenOneIsNothing) {
  const auto stamp = parse_stamp("12.5");
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->kind, StampKind::relative);
  EXPECT_EQ(stamp->time, milliseconds{12'500});
  EXPECT_FALSE(parse_stamp("400000000"));  // 1982 in seconds, 4.6 days in milliseconds: nobody's guess
}

// Microseconds since boot, once plotted in February 1970: with their unit known they are no date.
TEST(Stamp, TimesSinceBootAreNoDates) {
  const auto stamp = parse_stamp("5011200000000", StampUnit::microseconds);
  ASSERT_TRUE(stamp);
  EXPECT_EQ(stamp->kind, StampKind::relative);
  EXPECT_EQ(stamp->time, days{58});  // 5 011 200 s
}

TEST(Stamp, TimesOfDay) {
  EXPECT_EQ(parse_stamp("23:59:59.500")->time, hours{24} - milliseconds{500});
  EXPECT_EQ(parse_stamp("06:14:46.000")->kind, StampKind::time_of_day);
}

TEST(Stamp, NothingIsGuessed) {
  for (const char* text :
       {"", " ", "-", "N/A", "05/06/2026 10:00:00", "2026-02-30 10:00:00", "2026-05-06", "2026-05-06 25:00:00",
        "10:60:00", "52:17.2", "2026-05-06 10:00:00 CEST", "-5", "1e9", "0x10", "1778061600,", "99999999999999999999",
        "2026-05-06 10:00:00+99:00", "12:00", "nan"}) {
    EXPECT_FALSE(parse_stamp(text)) << text;
  }
}

TEST(Stamp, Offsets) {
  EXPECT_EQ(parse_utc_offset("+02:00"), hours{2});
  EXPECT_EQ(parse_utc_offset("-0530"), -(hours{5} + minutes{30}));
  EXPECT_EQ(parse_utc_offset("UTC"), seconds{0});
  EXPECT_FALSE(parse_utc_offset("CET"));
  EXPECT_FALSE(parse_utc_offset("2"));
  EXPECT_FALSE(parse_utc_offset("+15:00"));
}

}  // namespace
}  // namespace flopwatt::telemetry
