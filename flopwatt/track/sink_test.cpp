#include "flopwatt/track/sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "flopwatt/io/csv.hpp"
#include "flopwatt/io/file.hpp"

namespace flopwatt::track {
namespace {

using testing::HasSubstr;
using testing::Not;

Identity who() { return {.rank = 0, .ranks = 1, .devices = 1, .device = R"(odd "name")", .peak_source = "stated"}; }

Window window() {
  Window w;
  w.steps = 2;
  w.last_step = 1;
  w.micro_batches = 2;
  w.in_steps = 1 * units::second;
  w.wall = 2 * units::second;
  w.tokens = {.slots = 100, .non_padding = {}, .labels = {}};
  w.slots_per_second = 100 * units::token_per_second;
  w.mfu.value = 0.25;
  return w;
}

class SinkTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { ASSERT_EQ(std::system(("rm -rf '" + folder_ + "'").c_str()), 0); }
  std::string folder_ = testing::TempDir() + "/sink_XXXXXX";
};

TEST_F(SinkTest, JsonLinesAreWholeAndContinued) {
  const std::string path = folder_ + "/run.jsonl";
  for (int i = 0; i < 2; ++i) {
    auto sink = jsonl_sink(path);
    ASSERT_TRUE(sink);
    ASSERT_TRUE((*sink)->window(who(), window()));
  }
  const std::string text = *io::read_file(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_THAT(text, HasSubstr(R"("device":"odd \"name\"")"));
  EXPECT_THAT(text, HasSubstr(R"("mfu":0.25,"hfu":null)"));
  EXPECT_THAT(text, HasSubstr(R"("mfu_tokens":"slots")"));
  EXPECT_THAT(text, Not(HasSubstr("energy_joules")));  // no telemetry, no energy: not even null
}

TEST_F(SinkTest, CsvHasOneHeaderAndReadsBack) {
  const std::string path = folder_ + "/run.csv";
  for (int i = 0; i < 2; ++i) {
    auto sink = csv_sink(path);
    ASSERT_TRUE(sink) << sink.error().message();
    ASSERT_TRUE((*sink)->window(who(), window()));
  }
  const auto table = io::CsvTable::parse(*io::read_file(path), path);
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ(table->row_count(), 2U);
  ASSERT_TRUE(io::write_file_atomic(path, "a,b\n1,2\n"));
  EXPECT_EQ(csv_sink(path).error().code, Errc::bad_data);
}

TEST_F(SinkTest, MetricsLeaveOutWhatIsAbsent) {
  const std::string path = folder_ + "/run.prom";
  auto sink = prometheus_sink(path);
  ASSERT_TRUE(sink);
  ASSERT_TRUE((*sink)->window(who(), window()));
  const std::string text = *io::read_file(path);
  EXPECT_THAT(text, HasSubstr("# TYPE flopwatt_training_mfu_ratio gauge"));
  EXPECT_THAT(text, HasSubstr(R"(flopwatt_training_mfu_ratio{rank="0",device="odd \"name\""} 0.25)"));
  EXPECT_THAT(text, Not(HasSubstr("hfu")));
  EXPECT_THAT(text, Not(HasSubstr("energy")));
  EXPECT_EQ(prometheus_sink(folder_ + "/run.txt").error().code, Errc::usage);
}

TEST_F(SinkTest, AFullDiskIsSaid) {
  if (!io::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  auto sink = jsonl_sink("/dev/full");
  ASSERT_TRUE(sink);
  EXPECT_EQ((*sink)->window(who(), window()).error().code, Errc::bad_data);
}

}  // namespace
}  // namespace flopwatt::track
