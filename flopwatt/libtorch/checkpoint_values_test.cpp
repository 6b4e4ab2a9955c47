#include "flopwatt/libtorch/checkpoint_values.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "flopwatt/libtorch/decoder.hpp"
#include "flopwatt/libtorch/testing.hpp"
#include "flopwatt/libtorch/training.hpp"
#include "flopwatt/model/read_config.hpp"

namespace flopwatt::libtorch {
namespace {

using ::testing::HasSubstr;

/// A tensor of a file that is to be written, all zeros.
struct Zeros {
  std::string name;
  std::vector<std::int64_t> dims;
  std::string type = "F32";
};

std::vector<Zeros> zeros_of(const std::string& config, const std::string& type = "F32") {
  const auto architecture = model::read_config(config, "config.json");
  const auto decoder = read_decoder(*architecture, config, 16);
  std::vector<Zeros> list;
  for (const Parameter& parameter : parameters(*decoder)) list.push_back({parameter.name, parameter.dims, type});
  return list;
}

/// Writes a safetensors file (8 bytes of length, a JSON header, the data) and returns its path.
std::string write_file(const std::string& name, const std::vector<Zeros>& tensors, std::int64_t bytes_missing = 0) {
  std::string header = "{";
  std::int64_t offset = 0;
  for (const Zeros& tensor : tensors) {
    std::int64_t elements = 1;
    std::string dims;
    for (const std::int64_t size : tensor.dims) {
      elements *= size;
      dims += (dims.empty() ? "" : ",") + std::to_string(size);
    }
    const std::int64_t bytes = elements * (tensor.type == "F32" ? 4 : 2);
    header += (header.size() > 1 ? ",\"" : "\"") + tensor.name + R"(":{"dtype":")" + tensor.type + R"(","shape":[)" +
              dims + "],\"data_offsets\":[" + std::to_string(offset) + ',' + std::to_string(offset + bytes) + "]}";
    offset += bytes;
  }
  header += '}';
  const std::string path = ::testing::TempDir() + name;
  std::ofstream file{path, std::ios::binary};
  for (unsigned i = 0; i < 8; ++i) file.put(static_cast<char>((header.size() >> (8 * i)) & 0xFFU));
  file << header << std::string(static_cast<std::size_t>(offset - bytes_missing), '\0');
  return path;
}

workload::Job a_job(const std::string& config, const std::string& weights) {
  workload::Job job;
  job.config = config;
  job.weights = weights;
  job.sequence = 8;
  job.threads = 1;
  return job;
}

// All weights zero: every logit is zero, every token as likely as any, and the loss is ln(vocabulary).
TEST(CheckpointValues, AreWhatTheModelComputesWith) {
  for (const char* type : {"F32", "F16", "BF16"}) {
    const std::string path = write_file("zeros.safetensors", zeros_of(testing::kGpt2, type));
    auto training = Training::make(a_job(testing::kGpt2, path));
    ASSERT_TRUE(training.has_value()) << training.error().detail;
    ASSERT_TRUE(training->step().has_value());
    EXPECT_NEAR(training->loss(), std::log(101.0), 1e-6) << type;
  }
  const std::string path = write_file("zeros.safetensors", zeros_of(testing::kLlama, "BF16"));
  auto training = Training::make(a_job(testing::kLlama, path));
  ASSERT_TRUE(training.has_value()) << training.error().detail;
  ASSERT_TRUE(training->step().has_value());
  EXPECT_NEAR(training->loss(), std::log(107.0), 1e-6);
}

// As GPT-2 is published: without the prefix, and with the mask buffers of its attention.
TEST(CheckpointValues, PrefixesAndBuffersArePassedOver) {
  std::vector<Zeros> tensors = zeros_of(testing::kGpt2);
  for (Zeros& tensor : tensors) tensor.name.erase(0, std::string{"transformer."}.size());
  for (int i = 0; i < 2; ++i) tensors.push_back({"h." + std::to_string(i) + ".attn.bias", {1, 1, 64, 64}});
  const std::string path = write_file("published.safetensors", tensors);
  auto training = Training::make(a_job(testing::kGpt2, path));
  ASSERT_TRUE(training.has_value()) << training.error().detail;
  ASSERT_TRUE(training->step().has_value());
  EXPECT_NEAR(training->loss(), std::log(101.0), 1e-6);
}

TEST(CheckpointValues, AFolderWithAnIndexIsReadShardByShard) {
  const std::string folder = ::testing::TempDir() + "sharded/";
  ::mkdir(folder.c_str(), 0755);
  const std::vector<Zeros> all = zeros_of(testing::kQwen2);
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  (void)write_file("sharded/a.safetensors", {all.begin(), half});
  (void)write_file("sharded/b.safetensors", {half, all.end()});
  std::string map;
  for (auto tensor = all.begin(); tensor != all.end(); ++tensor) {
    map += (map.empty() ? "\"" : ",\"") + tensor->name + (tensor < half ? "\":\"a" : "\":\"b") + ".safetensors\"";
  }
  std::ofstream{folder + "model.safetensors.index.json"} << R"({"weight_map":{)" << map << "}}";
  auto training = Training::make(a_job(testing::kQwen2, folder.substr(0, folder.size() - 1)));
  ASSERT_TRUE(training.has_value()) << training.error().detail;
  ASSERT_TRUE(training->step().has_value());
  EXPECT_NEAR(training->loss(), std::log(103.0), 1e-6);
}

TEST(CheckpointValues, WhatIsNotThisModelsIsRefusedByName) {
  struct Case {
    std::string what;
    std::vector<Zeros> tensors;
    std::string complaint;
  };
  std::vector<Case> cases(4, {"", zeros_of(testing::kQwen2), ""});
  cases[0].what = "missing";
  cases[0].tensors.erase(cases[0].tensors.begin() + 3);
  cases[0].complaint = zeros_of(testing::kQwen2)[3].name;
  cases[1].what = "unexpected";
  cases[1].tensors.push_back({"model.layers.0.surprise.weight", {3}});
  cases[1].complaint = "surprise";
  cases[2].what = "another shape";
  cases[2].tensors[2].dims.back() += 1;
  cases[2].complaint = cases[2].tensors[2].name;
  cases[3].what = "another type";
  cases[3].tensors[4].type = "I16";
  cases[3].complaint = cases[3].tensors[4].name;
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    const auto training = Training::make(a_job(testing::kQwen2, write_file("wrong.safetensors", one.tensors)));
    ASSERT_FALSE(training.has_value());
    EXPECT_EQ(training.error().reason, workload::Failed::Reason::error);
    EXPECT_THAT(training.error().detail, HasSubstr(one.complaint));
    EXPECT_THAT(training.error().detail, HasSubstr("wrong.safetensors"));
  }
}

TEST(CheckpointValues, AFileThatEndsEarlyOrIsNotThereIsRefused) {
  const std::string cut = write_file("cut.safetensors", zeros_of(testing::kGpt2), 1);
  EXPECT_FALSE(Training::make(a_job(testing::kGpt2, cut)).has_value());
  const auto missing = Training::make(a_job(testing::kGpt2, "/nowhere/model.safetensors"));
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().detail, HasSubstr("/nowhere/model.safetensors"));
}

}  // namespace
}  // namespace flopwatt::libtorch
