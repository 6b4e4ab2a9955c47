#include "flopwatt/cli/interrupt.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace flopwatt::cli {
namespace {

TEST(Interrupt, TellsTheFirstSignal) {
  const Interrupt interrupt;
  EXPECT_EQ(Interrupt::signal(), 0);
  ::raise(SIGTERM);
  EXPECT_EQ(Interrupt::signal(), SIGTERM);
}

// `timeout` sends to the process and at once to its group.
TEST(Interrupt, TakesTwoSignalsAtOnceForOne) {
  const Interrupt interrupt;
  ::raise(SIGINT);
  ::raise(SIGINT);
  ::raise(SIGTERM);
  EXPECT_EQ(Interrupt::signal(), SIGINT);
}

TEST(InterruptDeathTest, EndsTheProgramAtASecondWish) {
  const auto insist = [] {
    const Interrupt interrupt;
    ::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds{600});
    ::raise(SIGINT);
    std::_Exit(0);
  };
  EXPECT_EXIT(insist(), testing::KilledBySignal(SIGINT), "");
}

TEST(Interrupt, LeavesWhatTheCallerIgnores) {
  ::signal(SIGHUP, SIG_IGN);
  {
    const Interrupt interrupt;
    ::raise(SIGHUP);
    EXPECT_EQ(Interrupt::signal(), 0);
  }
  EXPECT_EQ(::signal(SIGHUP, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace flopwatt::cli
