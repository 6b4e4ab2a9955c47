#include "flopwatt/workload/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace flopwatt::workload {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::EndsWith;
using testing::HasSubstr;

// Long for a machine under load, never reached when all is well.
constexpr milliseconds kLong{20'000};

Process start_shell(const std::string& script) {
  auto process = Process::start({"/bin/sh", "-c", script});
  EXPECT_TRUE(process.has_value());
  return *std::move(process);
}

std::string next_line(Process& process, milliseconds timeout = kLong) {
  const auto read = process.read_line(timeout);
  if (!read) return "error: " + read.error().what;
  if (const auto* line = std::get_if<Process::Line>(&*read)) return line->text;
  return std::holds_alternative<Process::Quiet>(*read) ? "(quiet)" : "(closed)";
}

/// Runs; a zombie that nobody reaps (the first process of many containers does not) has ended.
bool alive(pid_t id) {
  std::ifstream stat{"/proc/" + std::to_string(id) + "/stat"};
  std::string text;
  std::getline(stat, text);
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
}

/// A signal takes a moment.
bool gone_soon(pid_t id) {
  for (int i = 0; i < 500; ++i) {
    if (!alive(id)) return true;
    std::this_thread::sleep_for(milliseconds{10});
  }
  return false;
}

TEST(Process, AnswersLineByLine) {
  Process process = start_shell("while read -r line; do echo \"<$line>\"; done; printf last");
  ASSERT_TRUE(process.write_line("one"));
  EXPECT_EQ(next_line(process), "<one>");
  ASSERT_TRUE(process.write_line("two words"));
  EXPECT_EQ(next_line(process), "<two words>");
  process.close_input();
  EXPECT_EQ(next_line(process), "last");
  EXPECT_EQ(next_line(process), "(closed)");
  EXPECT_EQ(process.wait(kLong), (Exit{.code = 0}));
}

TEST(Process, HowItEndedIsTold) {
  EXPECT_EQ(start_shell("exit 3").wait(kLong), (Exit{.code = 3}));
  const auto killed = start_shell("kill -SEGV $$").wait(kLong);
  ASSERT_TRUE(killed.has_value());
  EXPECT_EQ(killed->signal, SIGSEGV);
  EXPECT_THAT(killed->message(), HasSubstr("signal 11"));
  EXPECT_FALSE(killed->good());
}

TEST(Process, AProgramThatIsNotThereIsUnavailable) {
  const auto process = Process::start({"/nowhere/flopwatt-torch"});
  ASSERT_FALSE(process.has_value());
  EXPECT_EQ(process.error().code, Errc::unavailable);
  EXPECT_EQ(process.error().where, "/nowhere/flopwatt-torch");
}

TEST(Process, AQuietChildCostsTheTimeoutAndNoMore) {
  Process process = start_shell("sleep 600");
  const auto begin = steady_clock::now();
  EXPECT_EQ(next_line(process, milliseconds{50}), "(quiet)");
  EXPECT_EQ(process.wait(milliseconds{50}), std::nullopt);
  EXPECT_GE(steady_clock::now() - begin, milliseconds{100});
  EXPECT_EQ(process.kill().signal, SIGKILL);
}

TEST(Process, ALineInPiecesIsOneLine) {
  Process process = start_shell("printf 'ab'; sleep 0.2; printf 'cd\\nef'; sleep 0.1; echo gh");
  EXPECT_EQ(next_line(process, milliseconds{20}), "(quiet)");
  EXPECT_EQ(next_line(process), "abcd");
  EXPECT_EQ(next_line(process), "efgh");
}

TEST(Process, AnEndlessLineIsRefusedAndTheNextOneRead) {
  // 3 MiB without a line's end.
  Process process = start_shell("head -c 3145728 /dev/zero | tr '\\0' x; echo; echo after");
  EXPECT_THAT(next_line(process), HasSubstr("longer than 1 MiB"));
  EXPECT_EQ(next_line(process), "after");
  EXPECT_EQ(next_line(process), "(closed)");
}

TEST(Process, ATalkativeChildThatNobodyReadsCanEnd) {
  Process process = start_shell("head -c 8388608 /dev/zero; head -c 8388608 /dev/zero >&2; echo the end >&2");
  EXPECT_EQ(process.wait(kLong), (Exit{.code = 0}));
  EXPECT_THAT(process.error_output(), EndsWith("the end\n"));
  EXPECT_LE(process.error_output().size(), std::size_t{16384});
}

TEST(Process, WritingToAChildThatHasEndedIsAnError) {
  Process process = start_shell("exec <&-; exit 0");
  ASSERT_TRUE(process.wait(kLong).has_value());
  const auto written = process.write_line("stop");
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code, Errc::unavailable);
}

TEST(Process, AChildThatDoesNotReadIsNotWaitedForForever) {
  Process process = start_shell("sleep 600");
  const std::string much(std::size_t{16} << 20U, 'x');
  const auto written = process.write_line(much, milliseconds{50});
  ASSERT_FALSE(written.has_value());
  EXPECT_THAT(written.error().what, HasSubstr("does not read"));
}

TEST(Process, ALongLineArrivesWhole) {
  Process process = start_shell("read -r line; echo ${#line}");
  ASSERT_TRUE(process.write_line(std::string(600'000, 'x'), kLong));
  EXPECT_EQ(next_line(process), "600000");
}

TEST(Process, NothingOfTheGroupOutlivesIt) {
  pid_t leader = 0;
  pid_t grandchild = 0;
  {
    Process process = start_shell("sleep 600 & echo $!; wait");
    leader = process.id();
    grandchild = static_cast<pid_t>(std::stol(next_line(process)));
    EXPECT_TRUE(alive(grandchild));
  }
  EXPECT_FALSE(alive(leader));
  EXPECT_TRUE(gone_soon(grandchild));
}

TEST(Process, WhatALeaderLeavesBehindIsKilledWithIt) {
  Process process = start_shell("sleep 600 >/dev/null 2>&1 & echo $!");
  const auto grandchild = static_cast<pid_t>(std::stol(next_line(process)));
  EXPECT_EQ(process.wait(kLong), (Exit{.code = 0}));
  EXPECT_TRUE(gone_soon(grandchild));
}

TEST(Process, TheChildInheritsNoOtherChildsPipes) {
  Process first = start_shell("cat >/dev/null; echo first has read its end");
  Process second = start_shell("sleep 600");
  first.close_input();  // were it open in `second`, `first` would wait on
  EXPECT_EQ(next_line(first), "first has read its end");
}

}  // namespace
}  // namespace flopwatt::workload
