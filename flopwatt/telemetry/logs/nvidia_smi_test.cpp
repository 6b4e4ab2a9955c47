#include "flopwatt/telemetry/logs/nvidia_smi.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "flopwatt/telemetry/energy.hpp"

namespace flopwatt::telemetry {
namespace {

using ::testing::HasSubstr;
using units::joule;
using units::watt;

Log read(std::string_view text, const LogOptions& options = {}) {
  Result<Log> log = read_log(text, "power.csv", options);
  EXPECT_TRUE(log) << log.error().message();
  return log ? *std::move(log) : Log{};
}

std::string error_of(std::string_view text, const LogOptions& options = {}) {
  const Result<Log> log = read_log(text, "power.csv", options);
  EXPECT_FALSE(log);
  if (log) return "";
  EXPECT_EQ(log.error().code, Errc::bad_data);
  return log.error().message();
}

constexpr std::string_view kPlain =
    "timestamp, name, power.draw [W], enforced.power.limit [W], utilization.gpu [%], memory.used [MiB]\n"
    "2026/05/06 10:00:00.000, NVIDIA A100-SXM4-80GB, 100.00 W, 400.00 W, 0 %, 8188 MiB\n"
    "2026/05/06 10:00:01.000, NVIDIA A100-SXM4-80GB, 200.00 W, 400.00 W, 50 %, 8188 MiB\n"
    "2026/05/06 10:00:03.000, NVIDIA A100-SXM4-80GB, 300.00 W, 400.00 W, 100 %, 8188 MiB\n";

TEST(NvidiaSmi, ReadsUnitsInCells) {
  const Log log = read(kPlain);
  ASSERT_EQ(log.traces.size(), 1U);
  const Trace& trace = log.traces[0];
  ASSERT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace.device().name, "NVIDIA A100-SXM4-80GB");
  EXPECT_DOUBLE_EQ(trace[1].power.value->in(watt), 200);
  EXPECT_DOUBLE_EQ(trace[1].limit->in(watt), 400);
  EXPECT_DOUBLE_EQ(*trace[1].utilization, 0.5);
  EXPECT_DOUBLE_EQ(trace[1].memory_used->in(units::byte), 8188.0 * 1048576);
  // Trapezoids: (100 + 200) / 2 · 1 s + (200 + 300) / 2 · 2 s.
  EXPECT_DOUBLE_EQ(energy_of(trace).energy->in(joule), 650);
}

TEST(NvidiaSmi, SameNumbersInEveryDress) {
  std::string semicolons{kPlain};
  for (std::size_t i = 0; (i = semicolons.find(", ", i)) != std::string::npos;) semicolons.replace(i, 2, ";");
  std::string german = semicolons;
  for (std::size_t i = 0; (i = german.find(".00 W", i)) != std::string::npos;) german[i] = ',';
  std::string crlf = "\xEF\xBB\xBF" + std::string{kPlain};
  for (std::size_t i = 0; (i = crlf.find('\n', i)) != std::string::npos; i += 2) crlf.insert(i, "\r");
  std::string utf16_little = "\xFF\xFE";
  std::string utf16_big = "\xFE\xFF";
  for (const char c : kPlain) {
    utf16_little += {c, '\0'};
    utf16_big += {'\0', c};
  }
  std::string bare{kPlain};
  for (const char* unit : {" W,", " %,", " MiB\n"}) {
    for (std::size_t i = 0; (i = bare.find(unit, i)) != std::string::npos;) {
      if (i < bare.find('\n')) {
        ++i;
      } else {
        bare.erase(i, std::string_view{unit}.size() - 1);
      }
    }
  }
  for (const std::string& text : {semicolons, german, crlf, utf16_little, utf16_big, bare}) {
    const Log log = read(text);
    ASSERT_EQ(log.traces.size(), 1U) << text;
    EXPECT_DOUBLE_EQ(energy_of(log.traces[0]).energy->in(joule), 650) << text;
    EXPECT_DOUBLE_EQ(log.traces[0][2].memory_used->in(units::byte), 8188.0 * 1048576);
  }
}

TEST(NvidiaSmi, TheKindOfPowerComesFromTheHeader) {
  const auto kind = [](std::string_view header, std::string_view name) {
    const Log log = read(std::string{"timestamp, name, "} + std::string{header} + "\n2026/05/06 10:00:00.000, " +
                         std::string{name} + ", 100.00 W\n");
    return log.traces.empty() ? PowerKind::unknown : log.traces[0][0].power.kind;
  };
  EXPECT_EQ(kind("power.draw.average [W]", "Tesla V100-SXM2-32GB"), PowerKind::average_1s);
  EXPECT_EQ(kind("power.draw.instant [W]", "NVIDIA H100 80GB HBM3"), PowerKind::instant);
  // Plain power.draw: by architecture (nvidia-smi --help-query-gpu).
  EXPECT_EQ(kind("power.draw [W]", "NVIDIA H100 80GB HBM3"), PowerKind::average_1s);
  EXPECT_EQ(kind("power.draw [W]", "NVIDIA A100-SXM4-80GB"), PowerKind::instant);
  EXPECT_EQ(kind("power.draw [W]", "NVIDIA RTX A4000"), PowerKind::average_1s);
  EXPECT_EQ(kind("power.draw [W]", "NVIDIA GeForce RTX 4090"), PowerKind::average_1s);
  EXPECT_EQ(kind("power.draw [W]", "NVIDIA L4"), PowerKind::average_1s);
  EXPECT_EQ(kind("power.draw [W]", "NVIDIA GeForce RTX 2080 Ti"), PowerKind::instant);
  EXPECT_EQ(kind("power.draw [W]", "Quadro RTX 5000"), PowerKind::instant);
  EXPECT_EQ(kind("power.draw [W]", "NVIDIA XA100"), PowerKind::unknown);
}

TEST(NvidiaSmi, OnePowerOfSeveralIsRead) {
  constexpr std::string_view kBoth =
      "timestamp, power.draw.average [W], power.draw.instant [W]\n"
      "2026/05/06 10:00:00.000, 100.00 W, 150.00 W\n"
      "2026/05/06 10:00:01.000, 100.00 W, 250.00 W\n";
  EXPECT_DOUBLE_EQ(energy_of(read(kBoth).traces[0]).energy->in(joule), 100);
  const Log instant = read(kBoth, {.instant = true});
  EXPECT_DOUBLE_EQ(energy_of(instant.traces[0]).energy->in(joule), 200);
  EXPECT_EQ(instant.traces[0][0].power.kind, PowerKind::instant);
}

TEST(NvidiaSmi, ModulePowerStandsApart) {
  const Log log = read(
      "timestamp, power.draw.average [W], module.power.draw.average [W]\n"
      "2026/05/06 10:00:00.000, [N/A], 620.00 W\n");
  ASSERT_EQ(log.traces.size(), 1U);
  EXPECT_TRUE(log.traces[0][0].power.value.absent_for(Absence::not_supported));
  EXPECT_DOUBLE_EQ(log.traces[0][0].module_power.value->in(watt), 620);
  EXPECT_EQ(log.traces[0][0].module_power.scope, Scope::module);
}

// The line as reported: the last cell, power.default_limit or whatever was asked for, is empty.
TEST(NvidiaSmi, AnEmptyCellIsAbsent) {
  const LogOptions options{.interval = 1 * units::second,
                           .columns = {"name", "fan.speed", "utilization.gpu", "temperature.gpu", "power.draw",
                                       "power.max_limit", "x", "clocks.sm", "clocks.mem", "power.limit"}};
  const Log log = read("GeForce RTX 2080 Ti, 100, 37, 56, 228.82, 210.00, 56, 1560, 6800,\n", options);
  ASSERT_EQ(log.traces.size(), 1U);
  EXPECT_DOUBLE_EQ(log.traces[0][0].power.value->in(watt), 228.82);
  EXPECT_TRUE(log.traces[0][0].limit.absent_for(Absence::unknown_error));
  EXPECT_EQ(log.time_base, TimeBase::counted);
}

TEST(NvidiaSmi, TextInNumbersIsAReasonAndNeverZero) {
  const Log log = read(
      "timestamp, index, power.draw [W], power.limit [W]\n"
      "2026/05/06 10:00:00.000, 0, [N/A], 0.00 W\n"
      "2026/05/06 10:00:01.000, 0, [Not Supported], [N/A]\n"
      "2026/05/06 10:00:02.000, 0, [GPU is lost], [GPU is lost]\n"
      "2026/05/06 10:00:03.000, 0, ERR!, ERR!\n"
      "2026/05/06 10:00:04.000, 0, [Unknown Error], 70.00 W\n"
      "2026/05/06 10:00:05.000, 0, , 70.00 W\n"
      "2026/05/06 10:00:06.000, 0, [Insufficient Permissions], 70.00 W\n"
      "2026/05/06 10:00:07.000, 0, nan, 70.00 W\n"
      "2026/05/06 10:00:08.000, 0, 12 parsecs, 70.00 W\n");
  ASSERT_EQ(log.traces.size(), 1U);
  const Trace& trace = log.traces[0];
  ASSERT_EQ(trace.size(), 9U);
  constexpr Absence kReasons[] = {Absence::not_supported, Absence::not_supported, Absence::device_lost,
                                  Absence::unknown_error, Absence::unknown_error, Absence::unknown_error,
                                  Absence::no_permission, Absence::garbage,       Absence::garbage};
  for (std::size_t i = 0; i < trace.size(); ++i) {
    EXPECT_TRUE(trace[i].power.value.absent_for(kReasons[i])) << i;
    EXPECT_FALSE(power_over_limit(trace[i])) << i;
  }
  EXPECT_FALSE(trace[0].limit);  // a limit of 0 is none
  EXPECT_FALSE(energy_of(trace).energy);
}

TEST(NvidiaSmi, DevicesAreToldApartByUuid) {
  const Log log = read(
      "timestamp, index, uuid, power.draw [W]\n"
      "2026/05/06 10:00:00.000, 0, GPU-b, 100.00 W\n2026/05/06 10:00:00.001, 1, GPU-a, 200.00 W\n"
      "2026/05/06 10:00:01.000, 0, GPU-b, 100.00 W\n2026/05/06 10:00:01.001, 1, GPU-a, 200.00 W\n");
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_EQ(log.traces[0].device().uuid, "GPU-b");
  EXPECT_EQ(log.traces[1].device().index, 1U);
  EXPECT_DOUBLE_EQ(energy_of(log.traces[1]).energy->in(joule), 200);
}

// Two devices whose rows do not say which: read as one they would give a mean of the two over one duration.
TEST(NvidiaSmi, RowsOfUnnamedDevicesAreRefused) {
  std::string text = "timestamp, power.draw [W]\n";
  for (int i = 0; i < 10; ++i) {
    const std::string second = "2026/05/06 10:00:0" + std::to_string(i);
    text += second + ".001, 100.00 W\n" + second + ".003, 300.00 W\n";
  }
  EXPECT_THAT(error_of(text), HasSubstr("bursts"));
}

// 8 devices of 600 to 607 W at one time: as one device 603.5 W, an eighth of what they drew.
TEST(NvidiaSmi, RowsOfUnnamedDevicesAtTheSameTimeAreRefused) {
  for (const std::string_view fraction : {".000", ""}) {
    std::string text = "timestamp, name, power.draw [W]\n";
    for (int i = 0; i < 10; ++i) {
      for (int device = 0; device < 8; ++device) {
        text += fmt::format("2026/05/06 10:00:0{}{}, NVIDIA H100 80GB HBM3, {}.00 W\n", i, fraction, 600 + device);
      }
    }
    EXPECT_THAT(error_of(text), HasSubstr("bursts")) << fraction;
  }
  EXPECT_THAT(error_of("timestamp, power.draw [W]\n2026/05/06 10:00:00.000, 1.00 W\n"
                       "2026/05/06 10:00:00.000, 2.00 W\n2026/05/06 10:00:01.000, 1.00 W\n"),
              HasSubstr("bursts"));
  // Two models are told apart by their names: 100 W and 300 W over one second.
  const Log log = read(
      "timestamp, name, power.draw [W]\n"
      "2026/05/06 10:00:00.000, A, 100.00 W\n2026/05/06 10:00:00.000, B, 300.00 W\n"
      "2026/05/06 10:00:01.000, A, 100.00 W\n2026/05/06 10:00:01.000, B, 300.00 W\n");
  ASSERT_EQ(log.traces.size(), 2U);
  EXPECT_DOUBLE_EQ(energy_of(log.traces[1]).energy->in(joule), 300);
}

TEST(NvidiaSmi, RowsOfUnnamedDevicesThatTakeTurnsAreRefused) {
  std::string text = "timestamp, power.draw [W]\n";
  for (int i = 10; i < 30; ++i) {
    text += fmt::format("2026/05/06 10:00:{}.000, 100.00 W\n2026/05/06 10:00:{}.30{}, 300.00 W\n", i, i, i % 10);
  }
  EXPECT_THAT(error_of(text), HasSubstr("bursts"));
}

// One device: every line twice; every 1.5 s in whole seconds; every 0.9 s in whole seconds.
TEST(NvidiaSmi, RowsOfOneUnnamedDeviceAreTaken) {
  std::string twice = "timestamp, power.draw [W]\n";
  std::string rounded = twice;
  std::string dense = twice;
  for (int i = 10; i < 50; ++i) {
    const std::string row = fmt::format("2026/05/06 10:00:{}.000, {}.00 W\n", i, i);
    twice += row + row;
    rounded += fmt::format("2026/05/06 10:{}:{:02}, {}.00 W\n", 10 + i * 3 / 2 / 60, i * 3 / 2 % 60, i);
    dense += fmt::format("2026/05/06 10:00:{:02}, {}.00 W\n", i * 9 / 10, i);
  }
  EXPECT_DOUBLE_EQ(energy_of(read(twice).traces[0]).energy->in(joule), 39 * 29.5);  // from 10 W to 49 W in 39 s
  EXPECT_EQ(read(rounded).traces[0].size(), 40U);
  EXPECT_EQ(read(dense).traces[0].size(), 40U);
}

TEST(NvidiaSmi, GarbageLinesAreCountedAndNamed) {
  const Log log = read(
      "Failed to reach the display\n"
      "timestamp, index, power.draw [W]\n"
      "2026/05/06 10:00:00.000, 0, 100.00 W\n"
      "Segmentation fault\n"
      "yesterday, 0, 100.00 W\n"
      "2026/05/06 10:00:01.000, 0, 100.00 W\n"
      "timestamp, index, power.draw [W]\n"  // started again
      "2026/05/06 10:00:02.000, 0, 100.00 W\n"
      "2026/05/06 10:00:03.000, 0, 100.00 W\n");
  EXPECT_EQ(log.skipped.count, 3U);
  EXPECT_EQ(log.skipped.first, (std::vector<std::size_t>{1, 4, 5}));
  EXPECT_EQ(log.traces[0].size(), 4U);
}

TEST(NvidiaSmi, ALineCutByAKillIsLeftOut) {
  const std::string whole{kPlain};
  for (std::size_t size = whole.find("10:00:03"); size < whole.size() - 1; ++size) {
    const Log log = read(whole.substr(0, size));
    ASSERT_EQ(log.traces.size(), 1U);
    const std::size_t samples = log.traces[0].size();
    EXPECT_TRUE(samples == 2 || samples == 3);
    EXPECT_EQ(log.torn_tail, samples == 2) << size;
    // What is kept is right: never 3 W of 300 W.
    if (samples == 3) {
      EXPECT_DOUBLE_EQ(log.traces[0][2].power.value->in(watt), 300);
    }
  }
  // A bare number may have lost its last digits, so it is not believed.
  const Log log = read("timestamp, power.draw [W]\n2026/05/06 10:00:00.000, 100\n2026/05/06 10:00:01.000, 3");
  EXPECT_TRUE(log.torn_tail || !log.traces[0].back().power.value);
}

TEST(NvidiaSmi, MilliwattsReadAsWattsAreRefused) {
  const Log log = read("timestamp, power.draw [W]\n2026/05/06 10:00:00.000, 285000\n2026/05/06 10:00:01.000, 285000\n");
  EXPECT_TRUE(log.traces[0][0].power.value.absent_for(Absence::garbage));
  ASSERT_FALSE(log.notes.empty());
  EXPECT_THAT(log.notes[0] + log.notes.back(), HasSubstr("milliwatts"));
}

TEST(NvidiaSmi, WithoutAHeader) {
  const Log log = read("2026/05/06 10:00:00.000, 100.00 W, 8188 MiB\n2026/05/06 10:00:01.000, 300.00 W, 8188 MiB\n");
  EXPECT_DOUBLE_EQ(energy_of(log.traces[0]).energy->in(joule), 200);
  EXPECT_THAT(error_of("2026/05/06 10:00:00.000, 100.00 W, 200.00 W\n"), HasSubstr("--columns"));
  EXPECT_THAT(error_of("2026/05/06 10:00:00.000, 100.00, 200.00\n"), HasSubstr("no format that is known"));
  const LogOptions columns{.columns = {"timestamp", "power.limit", "power.draw"}};
  EXPECT_DOUBLE_EQ(read("2026/05/06 10:00:00.000, 100.00, 200.00\n", columns).traces[0][0].power.value->in(watt), 200);
}

TEST(NvidiaSmi, RefusesWhatHoldsNoPower) {
  EXPECT_THAT(error_of(""), HasSubstr("is empty"));
  EXPECT_THAT(error_of("timestamp, utilization.gpu [%]\n2026/05/06 10:00:00.000, 1 %\n"), HasSubstr("power.draw"));
  EXPECT_THAT(error_of("timestamp, power.draw [W]\n"), HasSubstr("no sample"));
  EXPECT_THAT(error_of("timestamp, power.draw [W]\nnonsense\nmore\n2026/05/06 10:00:00.000, 1 W\n"),
              HasSubstr("power.csv:2"));
  EXPECT_THAT(error_of("index, power.draw [W]\n0, 100.00 W\n0, 100.00 W\n"), HasSubstr("--interval"));
}

}  // namespace
}  // namespace flopwatt::telemetry
