#include "flopwatt/io/append_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "flopwatt/io/file.hpp"

namespace flopwatt::io {
namespace {

class AppendFileTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override {
    ::unlink(path().c_str());
    ::rmdir(folder_.c_str());
  }
  [[nodiscard]] std::string path() const { return folder_ + "/lines.txt"; }
  std::string folder_ = testing::TempDir() + "/append_XXXXXX";
};

TEST_F(AppendFileTest, GrowsByWholeLinesAndIsContinued) {
  {
    auto file = AppendFile::open(path());
    ASSERT_TRUE(file);
    EXPECT_TRUE(file->was_empty());
    ASSERT_TRUE(file->append_line("one"));
    ASSERT_TRUE(file->append_line("two"));
  }
  auto file = AppendFile::open(path());
  ASSERT_TRUE(file);
  EXPECT_FALSE(file->was_empty());
  EXPECT_EQ(file->first_line(), "one");
  ASSERT_TRUE(file->append_line("three"));
  EXPECT_EQ(*read_file(path()), "one\ntwo\nthree\n");
}

TEST_F(AppendFileTest, ATornLineIsEndedNotContinued) {
  ASSERT_TRUE(write_file_atomic(path(), "one\ntw"));
  auto file = AppendFile::open(path());
  ASSERT_TRUE(file);
  ASSERT_TRUE(file->append_line("three"));
  EXPECT_EQ(*read_file(path()), "one\ntw\nthree\n");
}

TEST_F(AppendFileTest, SaysWhatIsWrongWithThePath) {
  EXPECT_EQ(AppendFile::open("").error().code, Errc::bad_data);
  EXPECT_EQ(AppendFile::open(folder_).error().code, Errc::bad_data);
  EXPECT_EQ(AppendFile::open(folder_ + "/no/such.txt").error().where, folder_ + "/no/such.txt");
  if (exists("/dev/full")) {
    auto full = AppendFile::open("/dev/full");
    ASSERT_TRUE(full);
    EXPECT_EQ(full->append_line("lost").error().remedy, "free some space");
  }
}

}  // namespace
}  // namespace flopwatt::io
