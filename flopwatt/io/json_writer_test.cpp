#include "flopwatt/io/json_writer.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "flopwatt/io/json.hpp"

namespace flopwatt::io {
namespace {

using namespace std::string_view_literals;
using Style = JsonWriter::Style;

template <class T>
std::string compact(const T& value) {
  JsonWriter json{Style::compact};
  json.value(value);
  return std::move(json).take();
}

TEST(JsonWriter, PrettyHasTwoSpacesALevelAndRowsOnOneLine) {
  JsonWriter json;
  json.begin_object().member("a", 1).key("b").begin_array().value(true).null().begin_object().end_object().end_array();
  json.key("ci").begin_row().value(1.5).value(-2).begin_row().value(3).end_array().end_array();
  json.key("empty").begin_array().end_array().end_object();
  EXPECT_EQ(std::move(json).take(), R"({
  "a": 1,
  "b": [
    true,
    null,
    {}
  ],
  "ci": [1.5, -2, [3]],
  "empty": []
}
)");
}

TEST(JsonWriter, CompactHasNoBlanks) {
  JsonWriter json{Style::compact};
  json.begin_object().member("a", "x").key("b").begin_row().value(1).value(2).end_array().end_object();
  EXPECT_EQ(std::move(json).take(), R"({"a":"x","b":[1,2]})");
}

TEST(JsonWriter, IntegersOfEveryWidth) {
  constexpr auto kMax128 = static_cast<__int128>(~static_cast<unsigned __int128>(0) >> 1);
  EXPECT_EQ(compact(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(compact(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(compact(kMax128), "170141183460469231731687303715884105727");        // 2^127 - 1
  EXPECT_EQ(compact(-kMax128 - 1), "-170141183460469231731687303715884105728");  // -2^127
  EXPECT_EQ(compact(~static_cast<unsigned __int128>(0)), "340282366920938463463374607431768211455");
  EXPECT_EQ(compact(std::size_t{7}), "7");
  EXPECT_EQ(compact(short{-7}), "-7");
  EXPECT_EQ(compact(false), "false");
  EXPECT_EQ(compact(-5), "-5");
  JsonWriter list{Style::compact};
  list.begin_array().value(-1).value(-2).end_array();
  EXPECT_EQ(std::move(list).take(), "[-1,-2]");
}

TEST(JsonWriter, DoublesAreShortestAndOptionalsMayBeNull) {
  EXPECT_EQ(compact(0.1), "0.1");
  EXPECT_EQ(compact(2048000.0), "2048000");
  EXPECT_EQ(compact(1e22), "1e+22");
  EXPECT_EQ(compact(123456789012345680000.0), "1.2345678901234568e+20");  // not a row of digits: that is an integer
  EXPECT_EQ(compact(-0.0), "-0");
  EXPECT_EQ(compact(5e-324), "5e-324");
  EXPECT_EQ(compact(std::optional<double>{}), "null");
  EXPECT_EQ(compact(std::optional<double>{2.5}), "2.5");
}

TEST(JsonWriter, StringsAreEscapedAndMadeValid) {
  EXPECT_EQ(compact("q\" b\\ n\n r\r t\t \x01\x7f é"), R"("q\" b\\ n\n r\r t\t \u0001\u007f é")");
  EXPECT_EQ(compact("a\xE9z\x80\xE2\x82"sv), "\"a\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(compact("\0"sv), R"("\u0000")");
}

TEST(JsonWriter, RandomDoublesAndIntegersReadBackBitForBit) {
  std::mt19937_64 random{7};
  JsonWriter json{Style::compact};
  std::vector<double> doubles;
  std::vector<std::int64_t> integers;
  while (doubles.size() < 20'000) {
    const auto value = std::bit_cast<double>(random());
    if (std::isfinite(value)) doubles.push_back(value);
  }
  while (integers.size() < 1000) integers.push_back(static_cast<std::int64_t>(random()) >> (random() % 64));
  json.begin_object().key("d").begin_array();
  for (const double value : doubles) json.value(value);
  json.end_array().key("i").begin_array();
  for (const std::int64_t value : integers) json.value(value);
  json.end_array().end_object();
  const Json back = parse_json(std::move(json).take(), "t").value();
  for (std::size_t i = 0; i < doubles.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back["d"][i].get<double>()), std::bit_cast<std::uint64_t>(doubles[i]));
  }
  for (std::size_t i = 0; i < integers.size(); ++i) ASSERT_EQ(back["i"][i].get<std::int64_t>(), integers[i]);
}

// A random tree, written by us and read by the parser, equals the tree; so does its pretty form.
void write_tree(JsonWriter& json, const Json& tree) {
  if (tree.is_object()) {
    json.begin_object();
    for (const auto& [key, value] : tree.items()) {
      json.key(key);
      write_tree(json, value);
    }
    json.end_object();
  } else if (tree.is_array()) {
    tree.size() % 2 == 0 ? json.begin_array() : json.begin_row();
    for (const Json& value : tree) write_tree(json, value);
    json.end_array();
  } else if (tree.is_string()) {
    json.value(tree.get<std::string>());
  } else if (tree.is_boolean()) {
    json.value(tree.get<bool>());
  } else if (tree.is_number_float()) {
    json.value(tree.get<double>());
  } else if (tree.is_number()) {
    json.value(tree.get<std::int64_t>());
  } else {
    json.null();
  }
}

Json random_tree(std::mt19937_64& random, int depth) {
  const auto text = [&random] {
    constexpr std::array kPieces = {"a", "\"", "\\", "\n", "é", "😀", "NaN", "\x01", "Infinity", "{", "]"};
    std::string out;
    for (std::uint64_t n = random() % 5; n > 0; --n) out += kPieces[random() % kPieces.size()];
    return out;
  };
  switch (random() % (depth > 0 ? 7 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0;
    case 2:
      return static_cast<std::int64_t>(random());
    case 3:
      return static_cast<double>(random()) * 1e-3 + 0.5e-3;
    case 4:
      return text();
    case 5: {
      Json array = Json::array();
      for (std::uint64_t n = random() % 5; n > 0; --n) array.push_back(random_tree(random, depth - 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (std::uint64_t n = random() % 25; n > 0; --n)
        object[text() + std::to_string(n)] = random_tree(random, depth - 1);
      return object;
    }
  }
}

TEST(JsonWriter, RandomTreesReadBackEqual) {
  std::mt19937_64 random{11};
  for (int i = 0; i < 300; ++i) {
    const Json tree = random_tree(random, 4);
    for (const Style style : {Style::pretty, Style::compact}) {
      JsonWriter json{style};
      write_tree(json, tree);
      const std::string text = std::move(json).take();
      const Result<Json> back = parse_json(text, "t");
      ASSERT_TRUE(back) << back.error().message() << text;
      // A double that is integral is written as an integer: numbers compare by value.
      ASSERT_EQ(*back, tree) << text;
    }
  }
}

TEST(JsonWriterDeathTest, MisuseIsABug) {
  EXPECT_DEATH(compact(std::nan("")), "isfinite");
  EXPECT_DEATH(compact(std::numeric_limits<double>::infinity()), "isfinite");
  EXPECT_DEATH(JsonWriter{}.begin_object().value(1), "bracket");
  EXPECT_DEATH(JsonWriter{}.begin_object().end_array(), "bracket");
  EXPECT_DEATH(JsonWriter{}.begin_array().key("a"), "bracket");
  EXPECT_DEATH(JsonWriter{}.begin_object().key("a").end_object(), "after_key");
  EXPECT_DEATH(JsonWriter{}.value(1).value(2), "empty");
  EXPECT_DEATH(static_cast<void>(JsonWriter{}.take()), "empty");
}

}  // namespace
}  // namespace flopwatt::io
