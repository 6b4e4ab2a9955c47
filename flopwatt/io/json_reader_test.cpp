#include "flopwatt/io/json_reader.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace flopwatt::io {
namespace {

class JsonObjectTest : public testing::Test {
 protected:
  Json document =
      parse_json(R"({"hidden_size": 4096.0, "layers": 2, "rate": 1.5, "big": 18446744073709551615, "name": "abc",
      "tied": true, "none": null, "zero": 0, "huge_float": 1e300,
      "text_config": {"hidden_size": "abc", "sizes": [1, 2, 3.0], "words": ["a", "b"], "mixed": [1, null],
                      "parts": [{"n": 1}, {"n": -1}]}})",
                 "config.json")
          .value();
  JsonObject root = JsonObject::root(document, "config.json").value();
  JsonObject text = root.require_object("text_config").value();
};

template <class T>
std::string message(const Result<T>& result) {
  return result ? "no error" : result.error().message();
}

TEST_F(JsonObjectTest, ReadsTypedValues) {
  EXPECT_EQ(root.require_int("hidden_size", 1).value(), 4096);
  EXPECT_EQ(root.require_int("layers", 2, 2).value(), 2);
  EXPECT_EQ(root.require_number("rate").value(), 1.5);
  EXPECT_EQ(root.require_number("layers").value(), 2.0);
  EXPECT_EQ(root.require_number("big").value(), 18446744073709551616.0);  // the nearest double
  EXPECT_TRUE(root.require_bool("tied").value());
  EXPECT_EQ(root.require_string("name").value(), "abc");
  EXPECT_EQ(text.require_ints("sizes").value(), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(text.require_numbers("sizes").value(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(text.require_strings("words").value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(text.require_objects("parts").value()[1].require_int("n").value(), -1);
  EXPECT_EQ(text.path(), "text_config");
  EXPECT_EQ(root.keys().front(), "hidden_size");
}

TEST_F(JsonObjectTest, NullIsAbsent) {
  EXPECT_FALSE(root.has("none"));
  EXPECT_TRUE(root.has("zero"));
  EXPECT_EQ(root.optional_int("none").value(), std::nullopt);
  EXPECT_EQ(root.optional_number("absent").value(), std::nullopt);
  EXPECT_EQ(root.optional_bool("absent").value(), std::nullopt);
  EXPECT_EQ(root.optional_string("none").value(), std::nullopt);
  EXPECT_EQ(root.optional_strings("none").value(), std::nullopt);
  EXPECT_FALSE(root.optional_object("none").value());
  EXPECT_FALSE(root.optional_objects("none").value());
  EXPECT_EQ(root.optional_int("zero").value(), 0);
  EXPECT_EQ(message(root.require_int("none")), "config.json: none is missing; add it, or give the file that is meant");
}

TEST_F(JsonObjectTest, AWrongValueNamesItsPathWhatIsExpectedAndWhatIsThere) {
  EXPECT_EQ(
      message(text.require_int("hidden_size", 1)),
      "config.json: text_config.hidden_size: expected an integer of at least 1, found \"abc\"; correct the value");
  EXPECT_EQ(message(root.require_int("tied")), "config.json: tied: expected an integer, found true; correct the value");
  EXPECT_EQ(message(root.require_int("rate", 1, 9)),
            "config.json: rate: expected an integer from 1 to 9, found 1.5; correct the value");
  EXPECT_EQ(message(root.optional_int("layers", JsonObject::kMinInt, 1)),
            "config.json: layers: expected an integer of at most 1, found 2; correct the value");
  EXPECT_EQ(message(root.require_number("rate", 2)),
            "config.json: rate: expected a number of at least 2, found 1.5; correct the value");
  EXPECT_EQ(message(root.require_bool("zero")),
            "config.json: zero: expected true or false, found 0; correct the value");
  EXPECT_EQ(message(root.require_string("text_config")),
            "config.json: text_config: expected a string, found an object; correct the value");
  EXPECT_EQ(message(root.require_object("name")),
            "config.json: name: expected an object, found \"abc\"; correct the value");
  EXPECT_EQ(message(text.require_ints("mixed")),
            "config.json: text_config.mixed[1]: expected an integer, found null; correct the value");
  EXPECT_EQ(message(text.require_objects("parts").value()[1].require_int("n", 0)),
            "config.json: text_config.parts[1].n: expected an integer of at least 0, found -1; correct the value");
  EXPECT_EQ(message(root.optional_strings("name")),
            "config.json: name: expected an array, found \"abc\"; correct the value");
}

TEST_F(JsonObjectTest, AnIntegerIsNeverRoundedOrWrapped) {
  EXPECT_FALSE(root.require_int("big"));         // 2^64 - 1
  EXPECT_FALSE(root.require_int("huge_float"));  // integral, but its neighbours are 10^284 away
  EXPECT_FALSE(root.require_int("rate"));
}

TEST_F(JsonObjectTest, WhatIsNotFiniteIsNoNumberAndNotMissing) {
  const Json odd = parse_json(R"({"a": NaN, "b": -Infinity})", "c.json", {.nonfinite_numbers = true}).value();
  const JsonObject object = JsonObject::root(odd, "c.json").value();
  EXPECT_TRUE(object.has("a"));
  EXPECT_EQ(message(object.optional_number("a")), "c.json: a: expected a number, found NaN; correct the value");
  EXPECT_EQ(message(object.optional_int("a")), "c.json: a: expected an integer, found NaN; correct the value");
  EXPECT_EQ(message(object.require_number("b")), "c.json: b: expected a number, found -Infinity; correct the value");
}

TEST_F(JsonObjectTest, RefusesKeysThatItDoesNotKnow) {
  const JsonObject part = text.require_objects("parts").value()[0];
  EXPECT_TRUE(part.refuse_other_keys({"n", "m"}));
  EXPECT_EQ(message(part.refuse_other_keys({"m", "o"})),
            "config.json: text_config.parts[0].n: unknown key; known here: m, o");
}

TEST_F(JsonObjectTest, TheRootMustBeAnObject) {
  EXPECT_EQ(message(JsonObject::root(Json::array(), "x.json")),
            "x.json: expected a JSON object, found an array; give the file that is meant");
  EXPECT_EQ(root.error("", "no model").message(), "config.json: no model");
  EXPECT_EQ(text.error("", "no model", "add one").message(), "config.json: text_config: no model; add one");
}

}  // namespace
}  // namespace flopwatt::io
