#include "flopwatt/io/toml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flopwatt/io/json_reader.hpp"

namespace flopwatt::io {
namespace {

using namespace std::string_view_literals;

std::string outcome(std::string_view text) {
  const Result<Json> json = parse_toml(text, "plan.toml");
  return json ? json->dump() : json.error().message();
}

TEST(Toml, BecomesTheSameTreeAsJson) {
  EXPECT_EQ(outcome(R"(
# a plan
name = "night"
seed = 0
rate = 1.5
big = 9223372036854775807
on = true
sizes = [1, 2]
[device.a100]
count = 8
[[cell]]
batch = 1
[[cell]]
batch = 2
where = {x.y = 'z'}
)"),
            R"({"big":9223372036854775807,"cell":[{"batch":1},{"batch":2,"where":{"x":{"y":"z"}}}],)"
            R"("device":{"a100":{"count":8}},"name":"night","on":true,"rate":1.5,"seed":0,"sizes":[1,2]})");
}

TEST(Toml, IsReadThroughJsonObject) {
  const Json plan = parse_toml("[run]\nsteps = \"many\"\n", "plan.toml").value();
  const JsonObject run = JsonObject::root(plan, "plan.toml").value().require_object("run").value();
  EXPECT_EQ(run.require_int("steps", 1).error().message(),
            "plan.toml: run.steps: expected an integer of at least 1, found \"many\"; correct the value");
}

TEST(Toml, ErrorsSayWhere) {
  EXPECT_THAT(outcome("a = 1\nb = \n"), testing::StartsWith("plan.toml:2:"));
  EXPECT_THAT(outcome("a = 1\nb 2\n"), testing::StartsWith("plan.toml:2:3: not valid TOML: "));
  EXPECT_THAT(outcome("a = 1\na = 2\n"), testing::StartsWith("plan.toml:2:"));
  EXPECT_THAT(outcome("a = \"x"), testing::StartsWith("plan.toml:1:"));
  EXPECT_THAT(outcome("a = [1,"), testing::StartsWith("plan.toml:1:"));
  EXPECT_THAT(outcome("a = 1\n[[ }]"), testing::StartsWith("plan.toml:2:4: not valid TOML: "));
  EXPECT_EQ(outcome("a = 1\nb = inf"), "plan.toml:2:5: inf and nan are no values here; leave the key out");
  EXPECT_EQ(outcome("a = [1, -nan]"), "plan.toml:1:9: inf and nan are no values here; leave the key out");
  EXPECT_EQ(outcome("d = 2026-01-01"), "plan.toml:1:5: dates and times are not used here; put it in quotes");
  EXPECT_EQ(outcome(""), "plan.toml: the file is empty; give a TOML file");
  EXPECT_EQ(outcome("\n \n"), "plan.toml: the file holds only blanks; give a TOML file");
  EXPECT_EQ(outcome("a = 1\n\0"sv), "plan.toml:2:1: a NUL byte is no TOML; this is not a text file");
  EXPECT_THAT(outcome("a = \"\xE9\""), testing::StartsWith("plan.toml:1:6: not valid UTF-8"));
  EXPECT_THAT(outcome("{\"json\": 1}"), testing::StartsWith("plan.toml:1:1: "));
}

TEST(Toml, NumbersThatDoNotFitAreRefused) {
  EXPECT_THAT(outcome("n = 9223372036854775808"), testing::StartsWith("plan.toml:1:"));
  EXPECT_THAT(outcome("n = 1e999"), testing::StartsWith("plan.toml:1:"));
  EXPECT_THAT(outcome("n = 1e-999"), testing::StartsWith("plan.toml:1:"));
}

TEST(Toml, EncodingsAreToldByTheirMark) {
  EXPECT_EQ(outcome("\xEF\xBB\xBF"
                    "a = 1\r\n"),
            R"({"a":1})");
  EXPECT_EQ(outcome("\xFF\xFE"
                    "a\0=\0001\0"sv),
            R"({"a":1})");
}

TEST(Toml, OnlyStringsAndCommentsMayHoldMoreThanAscii) {
  EXPECT_EQ(outcome("# °\na = \"é\" # é\nb = '''\né'''\n'ü' = \"\"\"é\"\"\"\"\"\n"),
            R"({"a":"é","b":"é","ü":"é\"\""})");
  for (const std::string_view bad :
       {"é = 2", "° = 2", "a\xC2\xA0= 1", "a = 0F\"é\"", "a = -z.\"\xEF\xB9\xBF x", "\xE2\x80\xA8"}) {
    EXPECT_THAT(outcome(bad), testing::StartsWith("plan.toml:1:")) << bad;
  }
}

TEST(Toml, DepthAndSizeAreBounded) {
  const auto dotted = [](std::size_t parts) {
    std::string key = "a";
    for (std::size_t i = 1; i < parts; ++i) key += ".a";
    return key;
  };
  EXPECT_TRUE(parse_toml(dotted(16) + " = 1", "t"));
  EXPECT_EQ(outcome("x = 1\n" + dotted(17) + " = 1"),
            "plan.toml:2:32: not valid TOML: a key of more than 16 parts; correct the file");
  EXPECT_FALSE(parse_toml(dotted(500'000) + " = 1", "t"));
  EXPECT_FALSE(parse_toml("[" + dotted(500'000) + "]", "t"));
  EXPECT_FALSE(parse_toml("a." + std::string("\"q\".", 4) + dotted(500'000) + " = 1", "t"));
  EXPECT_FALSE(parse_toml("a = " + std::string(100'000, '['), "t"));
  // Dots elsewhere are no depth.
  EXPECT_TRUE(parse_toml("a = \"....................\" # ....................\n", "t"));
  EXPECT_TRUE(parse_toml("a = '''\n....................'''\nb = \"\"\"\n\\\"\"..................\"\"\"", "t"));
  EXPECT_FALSE(parse_toml("a = [\"\"\"x\"\"\"\"]\n" + dotted(17) + " = 1", "t"));  // a string that ends with a quote
  EXPECT_TRUE(parse_toml("a = [.0_, 1]", "t").error().what.starts_with("not valid TOML"));
  EXPECT_TRUE(parse_toml("a = [0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9]", "t"));
  EXPECT_FALSE(parse_toml("a = 1", "t", {.max_bytes = 4}));
}

}  // namespace
}  // namespace flopwatt::io
