#include "flopwatt/io/file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace flopwatt::io {
namespace {

namespace fs = std::filesystem;

// A folder of its own for every test.
class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flopwatt-file-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder + "/" + name; }
  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
  }

  std::string folder;
};

// Root may read and write everything: run as an ordinary user for a while.
class AsNobody {
 public:
  AsNobody() : root_{::geteuid() == 0} {
    if (root_ && ::seteuid(65534) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  ~AsNobody() {
    if (root_ && ::seteuid(0) != 0) std::abort();
  }

 private:
  bool root_;
};

template <class T>
std::string message(const Result<T>& result) {
  return result ? "no error" : result.error().message();
}

TEST_F(FileTest, WhatIsWrittenReadsBack) {
  const std::string content = std::string("a\0b\r\n", 5) + std::string(100'000, 'x');
  ASSERT_TRUE(write_file_atomic(path("f"), content));
  EXPECT_EQ(read_file(path("f")).value(), content);
  ASSERT_TRUE(write_file_atomic(path("f"), ""));
  EXPECT_EQ(read_file(path("f")).value(), "");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, ReadingWhatIsNoFileIsAClearError) {
  EXPECT_EQ(message(read_file(path("none"))), path("none") + ": no such file or folder; check the path");
  EXPECT_EQ(message(read_file(folder)), folder + ": is a folder, not a file; name a file");
  EXPECT_EQ(message(read_file("/dev/zero")), "/dev/zero: is a socket or device, not a file; name a file");
  EXPECT_EQ(message(read_file("")), "not a path; name a file");
  ASSERT_TRUE(write_file_atomic(path("f"), "x"));
  EXPECT_EQ(message(read_file(path("f/g"))), path("f/g") + ": a part of the path is not a folder; check the path");
  EXPECT_EQ(read_file(path("none")).error().code, Errc::bad_data);
}

TEST_F(FileTest, ReadingIsBounded) {
  ASSERT_TRUE(write_file_atomic(path("f"), "12345"));
  EXPECT_EQ(read_file(path("f"), {.max_bytes = 5}).value(), "12345");
  EXPECT_EQ(message(read_file(path("f"), {.max_bytes = 4})),
            path("f") + ": larger than 4 bytes, too large for this kind of file; this is not the file that is meant");
  EXPECT_FALSE(read_file(path("f"), {.max_bytes = 0}));
  // Files of /proc say that their size is 0.
  EXPECT_FALSE(read_file("/proc/self/maps").value().empty());
  EXPECT_FALSE(read_file("/proc/self/maps", {.max_bytes = 10}));
  // Sparse: 1 TiB that is refused by its size alone.
  std::ofstream{path("sparse")}.close();
  fs::resize_file(path("sparse"), std::uintmax_t{1} << 40U);
  EXPECT_FALSE(read_file(path("sparse")));
}

TEST_F(FileTest, TheBeginningOfAFileTellsItsSize) {
  ASSERT_TRUE(write_file_atomic(path("a"), "0123456789"));
  const auto start = read_file_prefix(path("a"), 4);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->bytes, "0123");
  EXPECT_EQ(start->file_size, 10U);
  EXPECT_EQ(read_file_prefix(path("a"), 99)->bytes, "0123456789");
  EXPECT_EQ(read_file_prefix(path("a"), 0)->bytes, "");
  EXPECT_EQ(read_file_prefix(folder, 4).error().what, "is a folder, not a file");
  EXPECT_EQ(read_file_prefix(path("none"), 4).error().what, "no such file or folder");
  EXPECT_EQ(read_file_prefix("/dev/null", 4).error().what, "is no regular file");
  EXPECT_EQ(read_file_prefix("", 4).error().what, "not a path");
}

TEST_F(FileTest, APipeIsReadToItsEndAndNeverWaitedForLong) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(message(read_file(path("pipe"), {.patience = std::chrono::milliseconds{20}})),
            path("pipe") + ": nothing arrives from this pipe within 20 ms; start its writer, or name a file");
  const std::string content(300'000, 'p');  // more than a pipe holds
  std::thread writer{[&] { std::ofstream{path("pipe")} << content; }};
  EXPECT_EQ(read_file(path("pipe")).value(), content);
  writer.join();
}

TEST_F(FileTest, MissingPermissionsAreNamed) {
  ASSERT_TRUE(write_file_atomic(path("f"), "old"));
  fs::permissions(path("f"), fs::perms::none);
  fs::permissions(folder,
                  fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  {
    const AsNobody nobody;
    EXPECT_EQ(message(read_file(path("f"))), path("f") + ": cannot open: Permission denied; check the permissions");
    EXPECT_EQ(message(write_file_atomic(path("g"), "new")),
              path("g") + ": cannot write into the folder: Permission denied; check the permissions");
  }
  fs::permissions(folder, fs::perms::owner_all);
  fs::permissions(path("f"), fs::perms::owner_all);
  EXPECT_EQ(read_file(path("f")).value(), "old");
}

TEST_F(FileTest, WritingToAWrongPathIsAClearError) {
  EXPECT_EQ(message(write_file_atomic(path("none/f"), "x")),
            path("none/f") + ": the folder does not exist; make it first");
  EXPECT_EQ(message(write_file_atomic(folder, "x")), folder + ": is a folder, not a file; name a file");
  EXPECT_EQ(message(write_file_atomic(path("new/"), "x")), path("new/") + ": is a folder, not a file; name a file");
  EXPECT_EQ(message(write_file_atomic("", "x")), "not a path; name a file");
  EXPECT_EQ(message(write_file_atomic("/dev/full", "x")),
            "/dev/full: cannot write: No space left on device; free some space");
}

TEST_F(FileTest, AFailedWriteKeepsTheOldContentAndLeavesNothingBehind) {
  ASSERT_TRUE(write_file_atomic(path("f"), "old"));
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  rlimit small = old_limit;
  small.rlim_cur = 1000;  // stands in for a full disk: a write stops part-way
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const Result<void> written = write_file_atomic(path("f"), std::string(5000, 'n'));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old_limit), 0);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(message(written), path("f") + ": cannot write: File too large; check the path");
  EXPECT_EQ(read_file(path("f")).value(), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, ReplacingKeepsPermissionsAndFollowsLinks) {
  ASSERT_TRUE(write_file_atomic(path("f"), "old"));
  fs::permissions(path("f"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("f", path("link"));
  ASSERT_TRUE(write_file_atomic(path("link"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("f")).value(), "new");
  EXPECT_EQ(fs::status(path("f")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(FileTest, ListsAFolderSorted) {
  ASSERT_TRUE(write_file_atomic(path("b.json"), "x"));
  ASSERT_TRUE(write_file_atomic(path("a.json"), "x"));
  fs::create_directory(path("c"));
  const auto found = list_folder(folder).value();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "a.json");
  EXPECT_EQ(found[1].name, "b.json");
  EXPECT_EQ(found[2].name, "c");
  EXPECT_FALSE(found[0].is_folder);
  EXPECT_TRUE(found[2].is_folder);
  EXPECT_EQ(message(list_folder(path("none"))), path("none") + ": no such file or folder; check the path");
  EXPECT_EQ(message(list_folder(path("a.json"))), path("a.json") + ": is not a folder; name a folder");
  EXPECT_TRUE(is_folder(folder));
  EXPECT_FALSE(is_folder(path("a.json")));
  EXPECT_TRUE(exists(path("a.json")));
  EXPECT_FALSE(exists(path("none")));
}

TEST_F(FileTest, MakesAFolderAndThoseAboveIt) {
  ASSERT_TRUE(make_folder(path("a/b/c")));
  EXPECT_TRUE(is_folder(path("a/b/c")));
  EXPECT_TRUE(make_folder(path("a/b/c")));
  EXPECT_TRUE(make_folder(path("a/d/")));
  EXPECT_TRUE(is_folder(path("a/d")));
  ASSERT_TRUE(write_file_atomic(path("f"), "x"));
  EXPECT_EQ(message(make_folder(path("f"))), path("f") + ": is a file, not a folder; name another folder");
  EXPECT_EQ(message(make_folder(path("f/g"))), path("f") + ": is a file, not a folder; name another folder");
  EXPECT_FALSE(make_folder(""));
  fs::permissions(folder, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  const AsNobody nobody;
  const auto refused = make_folder(path("mine"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::bad_data);
  EXPECT_EQ(refused.error().remedy, "check the permissions");
}

TEST_F(FileTest, RemovesAFileAndMissesNone) {
  ASSERT_TRUE(write_file_atomic(path("f"), "x"));
  EXPECT_TRUE(remove_file(path("f")));
  EXPECT_FALSE(exists(path("f")));
  EXPECT_TRUE(remove_file(path("f")));
  ASSERT_TRUE(make_folder(path("d")));
  EXPECT_FALSE(remove_file(path("d")));
}

TEST(ProgramFolder, HoldsThisProgram) { EXPECT_TRUE(exists(program_folder() + "/io_test")) << program_folder(); }

}  // namespace
}  // namespace flopwatt::io
