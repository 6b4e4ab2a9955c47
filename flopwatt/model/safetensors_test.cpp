#include "flopwatt/model/safetensors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "flopwatt/model/checkpoint_test_files.hpp"

namespace flopwatt::model {
namespace {

using testing::HasSubstr;

/// What is said about a file of this JSON with `payload` bytes behind it.
std::string refusal(std::string_view json, std::uint64_t payload) {
  const std::string first = with_length(json);
  const auto header = parse_safetensors_header(first, first.size() + payload, "a.safetensors");
  if (header) return "accepted";
  EXPECT_EQ(header.error().code, Errc::bad_data);
  EXPECT_TRUE(header.error().where.starts_with("a.safetensors")) << header.error().where;
  return header.error().message();
}

TEST(Safetensors, TellsNamesTypesShapesAndSizes) {
  // Written in another order than the data lie, with free text, and padded.
  const std::string json =
      R"({"b":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},"__metadata__":{"format":"pt"},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
      R"("e":{"dtype":"F4","shape":[0,7],"data_offsets":[16,16]}}   )";
  const std::string first = with_length(json);
  const auto header = parse_safetensors_header(first + "\x01\x02", first.size() + 16, "a.safetensors");
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_EQ(header->header_bytes, 8 + json.size());
  EXPECT_EQ(header->payload_bytes, 16U);
  ASSERT_EQ(header->tensors.size(), 3U);
  EXPECT_EQ(header->tensors[0].name, "a");
  EXPECT_TRUE(header->tensors[0].dims.empty());
  EXPECT_EQ(header->tensors[0].bytes, 4U);
  EXPECT_EQ(header->tensors[1].type, StoredType::BF16);
  EXPECT_EQ(header->tensors[1].dims, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(header->tensors[2].bytes, 0U);
}

TEST(Safetensors, EveryTypeHasItsWidth) {
  const std::pair<const char*, int> widths[] = {
      {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8},
      {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16}, {"BF16", 16}, {"I32", 32},
      {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64}, {"U64", 64}};
  for (const auto& [type, bits] : widths) {
    HeaderWriter file;
    file.add("t", type, {8}, static_cast<std::uint64_t>(bits));  // 8 elements of n bits are n bytes
    const SafetensorsHeader header = file.header();
    EXPECT_EQ(name(header.tensors[0].type), type);
    EXPECT_EQ(model::bits(header.tensors[0].type), bits) << type;
  }
}

TEST(Safetensors, TheLengthMustLieInTheFile) {
  const auto refused = [](const std::string& first, std::uint64_t size) {
    const auto bytes = safetensors_header_bytes(first, size, "a.safetensors");
    EXPECT_FALSE(bytes);
    return bytes ? std::string{} : bytes.error().message();
  };
  EXPECT_THAT(refused("", 0), HasSubstr("0 bytes are too few"));
  EXPECT_THAT(refused("\x02\x00\x00", 3), HasSubstr("too few"));
  EXPECT_THAT(refused(with_length("{}", 3), 10), HasSubstr("takes 3 bytes, but the file ends after 10"));
  EXPECT_THAT(refused(with_length("{}", std::uint64_t{1} << 63U), 10), HasSubstr("takes 9223372036854775808 bytes"));
  EXPECT_THAT(refused(with_length("{}", ~std::uint64_t{0}), 10), HasSubstr("18446744073709551615"));
  EXPECT_THAT(refused(with_length("{}", kMaxHeaderJsonBytes + 1), std::uint64_t{1} << 40U), HasSubstr("limit"));
  EXPECT_THAT(refused(with_length("", 0), 8), HasSubstr("empty"));
  EXPECT_EQ(safetensors_header_bytes(with_length("{}"), 10, "a").value(), 10U);
  EXPECT_EQ(safetensors_header_bytes(with_length("", kMaxHeaderJsonBytes), std::uint64_t{1} << 40U, "a").value(),
            kMaxHeaderJsonBytes + 8);
  // The length is right, but less was read.
  const auto cut = parse_safetensors_header(with_length("{}", 4), 12, "a.safetensors");
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message(), HasSubstr("takes 12 bytes, of which 10 could be read"));
}

TEST(Safetensors, HostileTextIsRefused) {
  EXPECT_THAT(refusal("[]", 0), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal("\xEF\xBB\xBF{}", 0), HasSubstr("no JSON object"));
  EXPECT_THAT(refusal("{\"a\":", 0), HasSubstr("ends early"));
  EXPECT_THAT(refusal("{\"a\xFF\":1}", 0), HasSubstr("UTF-8"));
  EXPECT_THAT(refusal("{}x", 0), HasSubstr("not valid JSON"));
  EXPECT_THAT(refusal("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}", 0),
              HasSubstr("nested deeper"));
  const std::string one = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  EXPECT_THAT(refusal("{" + one + "," + one + "}", 1), HasSubstr("\"a\" appears twice"));
  EXPECT_THAT(refusal(R"({"a":1})", 0), HasSubstr("expected a JSON object"));
  EXPECT_THAT(refusal(R"({"a":null})", 0), HasSubstr("expected a JSON object"));
  EXPECT_THAT(refusal(R"({"__metadata__":{"a":1}})", 0), HasSubstr("__metadata__.a"));
  EXPECT_THAT(refusal(R"({"__metadata__":[]})", 0), HasSubstr("__metadata__"));
}

std::string tensor(std::string_view type, std::string_view shape, std::string_view offsets) {
  return R"({"a":{"dtype":)" + std::string{type} + R"(,"shape":)" + std::string{shape} + R"(,"data_offsets":)" +
         std::string{offsets} + "}}";
}

TEST(Safetensors, HostileTensorsAreRefused) {
  EXPECT_EQ(refusal(tensor("\"U8\"", "[2]", "[0,2]"), 2), "accepted");
  EXPECT_THAT(refusal(tensor("\"U9\"", "[2]", "[0,2]"), 2), HasSubstr("'U9' is not a type"));
  EXPECT_THAT(refusal(tensor("\"bf16\"", "[1]", "[0,2]"), 2), HasSubstr("'bf16' is not a type"));
  EXPECT_THAT(refusal(tensor("7", "[2]", "[0,2]"), 2), HasSubstr("dtype"));
  EXPECT_THAT(refusal(R"({"a":{"shape":[2],"data_offsets":[0,2]}})", 2), HasSubstr("dtype"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[-2]", "[0,2]"), 2), HasSubstr("shape"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[1.5]", "[0,2]"), 2), HasSubstr("shape"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "2", "[0,2]"), 2), HasSubstr("shape"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[18446744073709551616]", "[0,2]"), 2), HasSubstr("64 bits"));
  // 2^32 · 2^32 elements, and 2^62 elements of 8 bytes: more than 64 bits count.
  EXPECT_THAT(refusal(tensor("\"U8\"", "[4294967296,4294967296]", "[0,0]"), 0), HasSubstr("more bytes than 64 bits"));
  EXPECT_THAT(refusal(tensor("\"F64\"", "[4611686018427387904]", "[0,0]"), 0), HasSubstr("more bytes than 64 bits"));
  EXPECT_THAT(refusal(tensor("\"F4\"", "[3]", "[0,1]"), 1), HasSubstr("whole bytes"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[2]", "[0,3]"), 3), HasSubstr("spans 3 bytes, but shape [2] of U8 takes 2"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[2]", "[2,0]"), 2), HasSubstr("backwards"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[2]", "[-2,0]"), 2), HasSubstr("data_offsets"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[2]", "[0]"), 2), HasSubstr("pair"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[2]", "[0,2,4]"), 2), HasSubstr("pair"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[2]", "[1,3]"), 3), HasSubstr("nothing fills the 1 data bytes before"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[2]", "[0,2]"), 1), HasSubstr("take 2 bytes, but 1 follow"));
  EXPECT_THAT(refusal(tensor("\"U8\"", "[2]", "[0,2]"), 5), HasSubstr("3 bytes follow the last tensor"));
  EXPECT_THAT(refusal(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},)"
                      R"("b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
                      3),
              HasSubstr("'b' begins at byte 1 of the data, inside 'a'"));
}

TEST(CheckpointIndex, TellsNamesFilesAndTotals) {
  const auto index = parse_checkpoint_index(R"({"metadata":{"total_size":13731385408.25,"total_parameters":7},)"
                                            R"("weight_map":{"b":"2.bin","a":"1.bin","c":"2.bin"}})",
                                            "i.json");
  ASSERT_TRUE(index) << index.error().message();
  EXPECT_EQ(index->entries.front().tensor, "a");
  EXPECT_EQ(index->files(), (std::vector<std::string>{"1.bin", "2.bin"}));
  EXPECT_EQ(index->total_size, 13731385409U);  // a bool counted as an eighth of a byte
  EXPECT_EQ(index->total_parameters, 7U);
  const auto bare = parse_checkpoint_index(R"({"metadata":{},"weight_map":{"a":"1.bin"}})", "i.json");
  EXPECT_FALSE(bare->total_size);
  EXPECT_TRUE(parse_checkpoint_index(R"({"weight_map":{"a":"1.bin"}})", "i.json"));
}

TEST(CheckpointIndex, HostileTextIsRefused) {
  const auto refused = [](std::string_view json) {
    const auto index = parse_checkpoint_index(json, "i.json");
    EXPECT_FALSE(index) << json;
    return index ? std::string{} : index.error().message();
  };
  EXPECT_THAT(refused(""), HasSubstr("empty"));
  EXPECT_THAT(refused("[]"), HasSubstr("JSON object"));
  EXPECT_THAT(refused("{}"), HasSubstr("weight_map"));
  EXPECT_THAT(refused(R"({"weight_map":{}})"), HasSubstr("names no tensor"));
  EXPECT_THAT(refused(R"({"weight_map":{"a":1}})"), HasSubstr("not the name of a file"));
  EXPECT_THAT(refused(R"({"weight_map":{"a":"../1.bin"}})"), HasSubstr("leaves the folder"));
  EXPECT_THAT(refused(R"({"weight_map":{"a":".."}})"), HasSubstr("leaves the folder"));
  EXPECT_THAT(refused(R"({"weight_map":{"a":"1","a":"2"}})"), HasSubstr("twice"));
  EXPECT_THAT(refused(R"({"metadata":{"total_size":-1},"weight_map":{"a":"1"}})"), HasSubstr("total_size"));
  EXPECT_THAT(refused(R"({"metadata":{"total_size":1e300},"weight_map":{"a":"1"}})"), HasSubstr("total_size"));
  EXPECT_THAT(refused(R"({"metadata":{"total_size":"1"},"weight_map":{"a":"1"}})"), HasSubstr("total_size"));
}

}  // namespace
}  // namespace flopwatt::model
