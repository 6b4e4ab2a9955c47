#include "flopwatt/engine/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace flopwatt::engine {
namespace {

using testing::HasSubstr;

class Checkpoint : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("flopwatt-checkpoint-" + std::string{test->name()} + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, std::string_view content) const {
    const std::string path = (folder_ / name).string();
    std::ofstream{path, std::ios::binary} << content;
    return path;
  }
  /// One tensor `name` of two bytes.
  std::string write_shard(const std::string& file, const std::string& name) const {
    std::string json = R"({")" + name + R"(":{"dtype":"BF16","shape":[1],"data_offsets":[0,2]}})";
    std::string bytes(8, '\0');
    bytes[0] = static_cast<char>(json.size());
    return write(file, bytes + json + "xx");
  }
  [[nodiscard]] std::string folder() const { return folder_.string(); }
  std::string refused(const std::string& path) const {
    const auto listing = read_checkpoint(path);
    EXPECT_FALSE(listing) << path;
    if (listing) return {};
    EXPECT_EQ(listing.error().code, Errc::bad_data);
    return listing.error().message();
  }

  std::filesystem::path folder_;
};

constexpr std::string_view kIndex = R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})";

TEST_F(Checkpoint, AFileByItselfOrInItsFolder) {
  const std::string path = write_shard("model.safetensors", "a");
  for (const std::string& named : {path, folder()}) {
    const auto listing = read_checkpoint(named);
    ASSERT_TRUE(listing) << listing.error().message();
    ASSERT_EQ(listing->tensors.size(), 1U);
    EXPECT_EQ(listing->tensors[0].name, "a");
    EXPECT_EQ(listing->payload_bytes, 2U);
    EXPECT_EQ(listing->header_bytes, std::filesystem::file_size(path) - 2);
  }
}

TEST_F(Checkpoint, OnlyTheHeaderOfALargeFileIsRead) {
  // A sparse file of a terabyte.
  const std::string json = R"({"a":{"dtype":"U8","shape":[1099511627776],"data_offsets":[0,1099511627776]}})";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(json.size());
  const std::string path = write("large.safetensors", bytes + json);
  std::error_code error;
  std::filesystem::resize_file(path, 8 + json.size() + 1'099'511'627'776U, error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  const auto listing = read_checkpoint(path);
  ASSERT_TRUE(listing) << listing.error().message();
  EXPECT_EQ(listing->payload_bytes, 1'099'511'627'776U);
}

TEST_F(Checkpoint, AFolderOfShards) {
  write("model.safetensors.index.json", kIndex);
  const auto none = read_checkpoint(folder());  // an index that came alone
  ASSERT_TRUE(none);
  EXPECT_EQ(none->files_read, 0U);
  EXPECT_EQ(none->tensors.size(), 2U);
  write_shard("1.safetensors", "a");
  const auto half = read_checkpoint(folder());
  ASSERT_TRUE(half);
  EXPECT_EQ(half->missing_files, std::vector<std::string>{"2.safetensors"});
  write_shard("2.safetensors", "b");
  const auto whole = read_checkpoint(folder());
  ASSERT_TRUE(whole);
  EXPECT_TRUE(whole->missing_files.empty());
  EXPECT_EQ(whole->files_read, 2U);
  EXPECT_EQ(whole->payload_bytes, 4U);
  EXPECT_EQ(whole->disagreements, 0U);
  write("2.safetensors", "short");
  EXPECT_THAT(refused(folder()), HasSubstr("2.safetensors: 5 bytes are too few"));
}

TEST_F(Checkpoint, AnIndexAlone) {
  const std::string path = write("pytorch_model.bin.index.json", R"({"weight_map":{"a":"1.bin"}})");
  for (const std::string& named : {path, folder()}) {
    const auto listing = read_checkpoint(named);
    ASSERT_TRUE(listing) << listing.error().message();
    EXPECT_EQ(listing->files_read, 0U);
    EXPECT_FALSE(listing->tensors[0].stored);
  }
}

TEST_F(Checkpoint, WhatIsNoCheckpointIsRefused) {
  EXPECT_THAT(refused(folder()), HasSubstr("neither a safetensors file nor an index"));
  EXPECT_THAT(refused(folder() + "/none.safetensors"), HasSubstr("no such file"));
  EXPECT_THAT(refused("/dev/null"), HasSubstr("no regular file"));
  EXPECT_THAT(refused(write("config.json", "{}")), HasSubstr("weight_map"));
  EXPECT_THAT(refused(write("a.safetensors", "")), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(refused(write("text.safetensors", "version https://git-lfs.github.com/spec/v1")),
              HasSubstr("git lfs pull"));
  write_shard("b.safetensors", "b");
  EXPECT_THAT(refused(folder()), HasSubstr("holds 3 safetensors files"));
}

}  // namespace
}  // namespace flopwatt::engine
