#include "flopwatt/io/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace flopwatt::io {
namespace {

using namespace std::string_view_literals;

// The value written back compactly, or the error's message.
std::string outcome(std::string_view text, const JsonOptions& options = {}) {
  const Result<Json> json = parse_json(text, "c.json", options);
  return json ? json->dump() : json.error().message();
}

TEST(Json, ReadsEveryKindOfValueAndKeepsTheOrderOfKeys) {
  const std::string_view text = R"({"z":[1,-2,3.5,true,false,null,"é\"\\"],"a":{"b":{},"c":[]}})";
  EXPECT_EQ(outcome(text), text);
  EXPECT_EQ(outcome(" [ ] \r\n\t"), "[]");
  EXPECT_EQ(outcome("7"), "7");
  EXPECT_EQ(outcome(R"("")"), R"("")");
}

TEST(Json, IntegersKeepAll64Bits) {
  EXPECT_EQ(outcome("[9223372036854775807,-9223372036854775808,18446744073709551615]"),
            "[9223372036854775807,-9223372036854775808,18446744073709551615]");
}

TEST(Json, NumbersThatDoNotFitAreRefusedWhereTheyStand) {
  EXPECT_EQ(outcome("{\"n\":\n  18446744073709551616}"),
            "c.json:2:3: integer 18446744073709551616 is beyond 64 bits; check the number");
  EXPECT_EQ(outcome("-9223372036854775809"),
            "c.json:1:1: integer -9223372036854775809 is beyond 64 bits; check the number");
  EXPECT_EQ(outcome("[1, 1e999 ]"), "c.json:1:5: number is too large for a double; check the number");
  EXPECT_EQ(outcome("[1, 1e-999]"), "c.json:1:5: number 1e-999 is too small for a double; check the number");
  EXPECT_EQ(outcome("[0e-999,0.0,-0.0,5e-324]"), "[0.0,0.0,-0.0,5e-324]");
}

TEST(Json, NonFiniteLiteralsOfPython) {
  const std::string_view text =
      R"({"time_step_limit": [0.0, Infinity], "a": NaN, "b": -Infinity, "s": "NaN -Infinity \" NaN"})";
  JsonOptions lenient;
  lenient.nonfinite_numbers = true;  // and dump() writes them as null
  EXPECT_EQ(outcome(text, lenient), R"({"time_step_limit":[0.0,null],"a":null,"b":null,"s":"NaN -Infinity \" NaN"})");
  EXPECT_EQ(outcome(text), "c.json:1:27: Infinity is not a JSON number; write null where there is no value");
  EXPECT_EQ(outcome("[-Infinity]"), "c.json:1:2: -Infinity is not a JSON number; write null where there is no value");
  EXPECT_EQ(outcome("NaN", lenient), "null");
  EXPECT_TRUE(std::isnan(parse_json("NaN", "c.json", lenient).value().get<double>()));
  EXPECT_EQ(parse_json("[-Infinity]", "c.json", lenient).value()[0].get<double>(),
            -std::numeric_limits<double>::infinity());
  EXPECT_EQ(outcome("{NaN: 1}", lenient), "c.json:1:2: NaN is not a key; put the key in quotes");
  for (const std::string_view bad :
       {"NaNa"sv, "-NaN"sv, "nan"sv, "+Infinity"sv, "Infinity1"sv, "[Nan]"sv, "N"sv, "\"N"sv}) {
    EXPECT_FALSE(parse_json(bad, "c.json", lenient)) << bad;
  }
}

TEST(Json, ASyntaxErrorSaysWhereAndWhat) {
  EXPECT_EQ(outcome("{\"a\": 1,\n \"b\" 2}"),
            "c.json:2:6: not valid JSON: unexpected number literal, expected ':'; correct the file");
  EXPECT_THAT(outcome("[1,]"), testing::StartsWith("c.json:1:4:"));
  EXPECT_THAT(outcome("[1] x"), testing::StartsWith("c.json:1:5:"));
  EXPECT_THAT(outcome("{\"a\":1}{}"), testing::StartsWith("c.json:1:8:"));
  EXPECT_THAT(outcome("x"), testing::StartsWith("c.json:1:1: not valid JSON: "));
  EXPECT_THAT(outcome("{'a':1}"), testing::StartsWith("c.json:1:2:"));
  EXPECT_THAT(outcome("// c\n1"), testing::StartsWith("c.json:1:1:"));
  EXPECT_THAT(outcome("[\"a\nb\"]"), testing::StartsWith("c.json:1:"));  // a raw line break in a string
  EXPECT_THAT(outcome(R"(["\ud800"])"), testing::StartsWith("c.json:1:"));
}

TEST(Json, EveryCutOfATextSaysThatItEndsEarly) {
  const std::string text = R"({"a": [1.5, true, null, "x\n\u00e9"], "b": {"c": false}, "d": -2})";
  ASSERT_TRUE(parse_json(text, "c.json"));
  for (std::size_t size = 1; size < text.size(); ++size) {
    const Result<Json> json = parse_json(text.substr(0, size), "c.json");
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().what, "the JSON ends early") << text.substr(0, size);
    EXPECT_EQ(json.error().code, Errc::bad_data);
  }
}

TEST(Json, EmptyBlankAndBinaryTextsAreRefused) {
  EXPECT_EQ(outcome(""), "c.json: the file is empty; give a JSON file");
  EXPECT_EQ(outcome(" \n"), "c.json: the file holds only blanks; give a JSON file");
  EXPECT_EQ(outcome(std::string(1000, '\0')), "c.json:1:1: a NUL byte is no JSON; this is not a text file");
  EXPECT_EQ(outcome("[1,\0]"sv), "c.json:1:4: a NUL byte is no JSON; this is not a text file");
  EXPECT_THAT(outcome("\"\xE9\""), testing::StartsWith("c.json:1:2: not valid UTF-8 "));
}

TEST(Json, EncodingsAreToldByTheirMark) {
  EXPECT_EQ(outcome("\xEF\xBB\xBF{\"a\":1}"), R"({"a":1})");
  EXPECT_EQ(outcome("\xFF\xFE{\0\"\0a\0\"\0:\0001\0}\0"sv), R"({"a":1})");
  EXPECT_EQ(outcome("\xFE\xFF\0[\0]"sv), "[]");
}

TEST(Json, AKeyThatAppearsTwiceIsRefusedInSmallAndLargeObjects) {
  EXPECT_EQ(outcome(R"({"a":1, "b\"":2, "b\"":3})"),
            "c.json:1:18: key \"b\"\" appears twice in one object; keep the one that is meant");
  EXPECT_EQ(outcome(R"({"a":{"a":1},"b":{"a":1}})"), R"({"a":{"a":1},"b":{"a":1}})");
  std::string large = "{";
  for (int i = 0; i < 1000; ++i) large += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  const Result<Json> whole = parse_json(large + "\"last\":1}", "c.json");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->size(), 1001U);
  for (const std::string_view again : {"k0", "k15", "k16", "k17", "k999"}) {
    const Result<Json> twice = parse_json(large + "\"" + std::string{again} + "\":1}", "c.json");
    ASSERT_FALSE(twice) << again;
    EXPECT_EQ(twice.error().where, "c.json:1:" + std::to_string(large.size() + 1));
  }
}

TEST(Json, DepthAndSizeAreBounded) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(parse_json(nested(128), "c.json"));
  EXPECT_EQ(outcome(nested(129)), "c.json:1:129: nested deeper than 128 levels; this is not the file that is meant");
  EXPECT_FALSE(parse_json(std::string(1'000'000, '['), "c.json"));
  JsonOptions small;
  small.max_bytes = 4;
  EXPECT_EQ(outcome("[1]", small), "[1]");
  EXPECT_EQ(outcome("[12345]", small),
            "c.json: 7 bytes are too many for this kind of file (at most 4); this is not the file that is meant");
}

}  // namespace
}  // namespace flopwatt::io
