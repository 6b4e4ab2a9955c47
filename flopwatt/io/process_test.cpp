#include "flopwatt/io/process.hpp"

#include <gtest/gtest.h>

#include "flopwatt/io/file.hpp"

namespace flopwatt::io {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

TEST(RunProgram, ReturnsBothStreams) {
  const auto output = run_program({"sh", "-c", "echo out; echo err >&2"}, 10s);
  ASSERT_TRUE(output) << output.error().message();
  EXPECT_EQ(*output, "out\nerr\n");
}

TEST(RunProgram, HasNoShellAndEmptyInput) {
  const auto echoed = run_program({"echo", "$HOME; exit 3"}, 10s);
  ASSERT_TRUE(echoed);
  EXPECT_EQ(*echoed, "$HOME; exit 3\n");
  const auto input = run_program({"cat"}, 10s);
  ASSERT_TRUE(input);
  EXPECT_EQ(*input, "");
}

TEST(RunProgram, SaysWhyItFailed) {
  const auto absent = run_program({"flopwatt-no-such-program"}, 10s);
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, Errc::unavailable);
  EXPECT_EQ(absent.error().what, "not found");
  const auto status = run_program({"sh", "-c", "echo first; echo the reason >&2; exit 7"}, 10s);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().what, "ended with status 7: the reason");
  const auto signal = run_program({"sh", "-c", "kill -9 $$"}, 10s);
  ASSERT_FALSE(signal);
  EXPECT_EQ(signal.error().what, "was ended by signal 9");
  EXPECT_FALSE(run_program({}, 10s));
}

TEST(RunProgram, IsNotHeldUp) {
  const auto begin = std::chrono::steady_clock::now();
  const auto slow = run_program({"sleep", "30"}, 50ms);
  ASSERT_FALSE(slow);
  EXPECT_EQ(slow.error().what, "took longer than 50 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(RunProgram, KeepsTheEndOfALongOutput) {
  const auto output = run_program({"sh", "-c", "yes | head -c 1000000; printf end"}, 30s);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->size(), std::size_t{64} << 10U);
  EXPECT_TRUE(output->ends_with("end"));
}

TEST(ProgramFolder, HoldsThisProgram) {
  EXPECT_TRUE(is_folder(program_folder()));
  EXPECT_TRUE(exists(program_folder() + "/io_test")) << program_folder();
}

}  // namespace
}  // namespace flopwatt::io
