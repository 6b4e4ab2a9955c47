#include "flopwatt/io/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace flopwatt::io {
namespace {

using namespace std::string_view_literals;
using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const CsvTable& table) {
  Rows rows;
  for (std::size_t r = 0; r < table.row_count(); ++r) {
    std::vector<std::string>& row = rows.emplace_back();
    for (std::size_t c = 0; c < table.columns().size(); ++c) row.emplace_back(table.cell(r, c));
  }
  return rows;
}

CsvTable parsed(std::string_view text, const CsvOptions& options = {}) {
  Result<CsvTable> table = CsvTable::parse(text, "a.csv", options);
  if (!table) ADD_FAILURE() << table.error().message();
  return std::move(table).value();
}

std::string failure(std::string_view text, const CsvOptions& options = {}) {
  const Result<CsvTable> table = CsvTable::parse(text, "a.csv", options);
  return table ? "no error" : table.error().message();
}

TEST(Csv, ReadsHeaderRowsAndLineNumbers) {
  const CsvTable table = parsed("model, batch ,power\ngpt2,1,61.5\n\nQwen,128,290\n");
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"model", "batch", "power"}));
  EXPECT_EQ(rows_of(table), (Rows{{"gpt2", "1", "61.5"}, {"Qwen", "128", "290"}}));
  EXPECT_EQ(table.line(0), 2U);
  EXPECT_EQ(table.line(1), 4U);  // the blank line counts, but is no row
  EXPECT_EQ(table.find_column("power"), 2U);
  EXPECT_EQ(table.find_column("Power"), std::nullopt);
  EXPECT_EQ(table.require_column("watts").error().message(),
            "a.csv: column \"watts\" is missing; the file has: model, batch, power");
}

TEST(Csv, EveryLineEndAndEncodingReadsTheSame) {
  const Rows expected{{"1", "é"}, {"3", "4"}};
  EXPECT_EQ(rows_of(parsed("a,b\n1,é\n3,4\n")), expected);
  EXPECT_EQ(rows_of(parsed("a,b\r\n1,é\r\n3,4\r\n")), expected);
  EXPECT_EQ(rows_of(parsed("a,b\r1,é\r3,4\r")), expected);
  EXPECT_EQ(rows_of(parsed("a,b\n1,é\n3,4")), expected);
  EXPECT_EQ(rows_of(parsed("\xEF\xBB\xBF"
                           "a,b\n1,é\n3,4\n")),
            expected);
  EXPECT_EQ(parsed("\xEF\xBB\xBF"
                   "a,b\n")
                .columns()
                .front(),
            "a");
  const CsvTable wide = parsed(
      "\xFF\xFE"
      "a\0,\0b\0\r\0\n\0001\0,\0\xE9\0\r\0\n\0003\0,\0004\0"sv);
  EXPECT_EQ(rows_of(wide), expected);
  EXPECT_EQ(wide.line(1), 3U);
  EXPECT_EQ(rows_of(parsed("\xFE\xFF"
                           "\0a\0,\0b\0\n\0001\0,\0\xE9\0\n\0003\0,\0004"sv)),
            expected);
}

TEST(Csv, QuotedFieldsHoldAnything) {
  const CsvTable table = parsed("\"a\",\"b\"\"b\"\n\"x,y\",\"line 1\nline 2\"\n\"\",\"\"\"\"\n5\" disk,z\n");
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"a", "b\"b"}));
  EXPECT_EQ(rows_of(table), (Rows{{"x,y", "line 1\nline 2"}, {"", "\""}, {"5\" disk", "z"}}));
  EXPECT_EQ(table.line(1), 4U);  // the row before covers lines 2 and 3
  EXPECT_EQ(failure("a,b\n1,\"x\n2,3\n"),
            "a.csv:2: a quote is opened and never closed; close the quote, or complete the file if it is cut short");
  EXPECT_EQ(failure("a,b\n1,\"x\"y\n"), "a.csv:2: text after a closing quote; double a quote inside a quoted field");
}

TEST(Csv, TellsTheDelimiterFromTheHeader) {
  EXPECT_EQ(parsed("a;b;c,d\n1;2;3\n").delimiter(), ';');
  EXPECT_EQ(parsed("a\tb\n1\t\n").delimiter(), '\t');
  EXPECT_EQ(rows_of(parsed("a\tb\n\t\n")), (Rows{{"", ""}}));
  EXPECT_EQ(parsed("\"a;b;c\",d\n1,2\n").delimiter(), ',');
  EXPECT_EQ(parsed("only\n1\n").delimiter(), ',');
  CsvOptions comma;
  comma.delimiter = ',';
  EXPECT_EQ(parsed("a;b\n1;2\n", comma).columns(), (std::vector<std::string>{"a;b"}));
}

TEST(Csv, WhatIsNoTableIsRefusedWithItsLine) {
  EXPECT_EQ(failure(""), "a.csv: the file is empty; give a CSV file with a header row");
  EXPECT_EQ(failure("\xEF\xBB\xBF"), "a.csv: the file is empty; give a CSV file with a header row");
  EXPECT_EQ(failure("\r\n \n"), "a.csv: the file holds only blank lines; give a CSV file with a header row");
  EXPECT_EQ(failure("a,b\n1,2,3\n"), "a.csv:2: 3 fields where the header has 2; correct the line");
  EXPECT_EQ(failure("a,b\n1,2\n\n3\n4,5\n"), "a.csv:4: 1 fields where the header has 2; correct the line");
  EXPECT_EQ(failure("a,b\n1,2\n3"),
            "a.csv:3: 1 fields where the header has 2; the last line seems cut short: complete or delete it");
  EXPECT_EQ(failure("a,b,a\n"), "a.csv:1: column \"a\" appears twice; rename or delete one");
  EXPECT_EQ(
      failure("a,b\n1,\0\n"sv),
      "a.csv:2:3: a NUL byte is no CSV; this is not a text file, or it is UTF-16 without a byte order mark: save it "
      "as UTF-8");
  EXPECT_THAT(failure("a\n\xE9\n"), testing::StartsWith("a.csv:2:1: not valid UTF-8 "));
  EXPECT_EQ(failure(std::string(5000, ',')), "a.csv:1: more than 4096 fields; this is not the file that is meant");
  CsvOptions small;
  small.max_bytes = 3;
  EXPECT_EQ(failure("a,b\n", small), "a.csv: 4 bytes are too many for a CSV file (at most 3); split the file");
}

TEST(Csv, AFileOfZerosIsOneErrorAtOnce) {
  const std::string zeros(std::size_t{200} << 20U, '\0');
  EXPECT_THAT(failure(zeros), testing::StartsWith("a.csv:1:1: a NUL byte"));
}

TEST(Csv, HeaderOnlyIsATableWithoutRows) {
  EXPECT_EQ(parsed("a,b").row_count(), 0U);
  EXPECT_EQ(parsed("a,b\n\n").row_count(), 0U);
  const CsvTable index = parsed(",a,\n0,1,2\n");  // index columns have no name
  EXPECT_EQ(index.columns().size(), 3U);
  EXPECT_EQ(index.find_column("a"), 1U);
}

TEST(Csv, AnAppendLogLosesItsTornTailOnly) {
  CsvOptions log;
  log.tolerate_torn_tail = true;
  for (const std::string_view text :
       {"a,b\n1,2\n3"sv, "a,b\n1,2\n3,4"sv, "a,b\n1,2\n3,\"x"sv, "a,b\n1,2\n3,\"x\n4,5\n"sv}) {
    const CsvTable table = parsed(text, log);
    EXPECT_EQ(rows_of(table), (Rows{{"1", "2"}})) << text;
    EXPECT_TRUE(table.torn_tail()) << text;
  }
  EXPECT_FALSE(parsed("a,b\n1,2\n", log).torn_tail());
  EXPECT_EQ(failure("a,b\n1\n3,4", log), "a.csv:2: 1 fields where the header has 2; correct the line");
}

TEST(Csv, NumbersAreReadExactlyOrMissing) {
  const CsvTable table = parsed("a;b\n 61.5 ;+2\n1e-3;-0.25\n;NaN\nN/A; \nnull;None\n.5;5.\n");
  EXPECT_EQ(table.number(0, 0).value(), 61.5);
  EXPECT_EQ(table.number(0, 1).value(), 2.0);
  EXPECT_EQ(table.number(1, 0).value(), 0.001);
  EXPECT_EQ(table.number(1, 1).value(), -0.25);
  for (const std::size_t row : {2U, 3U, 4U}) {
    EXPECT_EQ(table.number(row, 0).value(), std::nullopt) << row;
    EXPECT_EQ(table.number(row, 1).value(), std::nullopt) << row;
    EXPECT_EQ(table.integer(row, 1).value(), std::nullopt) << row;
  }
  EXPECT_EQ(table.number(5, 0).value(), 0.5);
  EXPECT_EQ(table.number(5, 1).value(), 5.0);
}

TEST(Csv, WhatIsNoNumberIsRefusedWithFileLineAndColumn) {
  const auto complaint = [](std::string_view cell) {
    const CsvTable table = parsed("model;power\nx;1\ny;" + std::string{cell} + "\n");
    const auto number = table.number(1, 1);
    return number ? "no error" : number.error().message();
  };
  EXPECT_EQ(
      complaint("61,5"),
      "a.csv:3: column \"power\": expected a number with a decimal point, found \"61,5\"; write a decimal point and no "
      "thousands separators");
  EXPECT_EQ(
      complaint("1,234.5"),
      "a.csv:3: column \"power\": expected a number with a decimal point, found \"1,234.5\"; write a decimal point and "
      "no thousands separators");
  EXPECT_EQ(
      complaint("250 W"),
      "a.csv:3: column \"power\": expected a bare number, found \"250 W\"; a unit belongs in the column's name, not in "
      "the cell");
  EXPECT_THAT(complaint("40%"), testing::StartsWith("a.csv:3: column \"power\": expected a bare numbe"));
  EXPECT_EQ(complaint("inf"),
            "a.csv:3: column \"power\": expected a finite number, found \"inf\"; leave the cell empty where there is "
            "no value");
  EXPECT_THAT(complaint("-Infinity"), testing::StartsWith("a.csv:3: column \"power\": expected a finite numb"));
  EXPECT_EQ(
      complaint("abc"),
      "a.csv:3: column \"power\": expected a number, found \"abc\"; leave the cell empty where there is no value");
  EXPECT_EQ(complaint("1e999"),
            "a.csv:3: column \"power\": the number is too large or too small for a double, found \"1e999\"; check the "
            "number");
  EXPECT_THAT(complaint("1e-999"), testing::StartsWith("a.csv:3: column \"power\": the number is too lar"));
  for (const std::string_view bad :
       {"+-1", "--1", "1 2", "0x10", "1_000", "-", "+", ".", "e5", "nan(1)", "-nan", "1e"}) {
    EXPECT_NE(complaint(bad), "no error") << bad;
  }
}

TEST(Csv, IntegersAreExact) {
  const CsvTable table = parsed("n\n128\n128.0\n1e3\n128.5\n9223372036854775807\n9223372036854775808\n-3\n12x\n");
  EXPECT_EQ(table.integer(0, 0).value(), 128);
  EXPECT_EQ(table.integer(1, 0).value(), 128);
  EXPECT_EQ(table.integer(2, 0).value(), 1000);
  EXPECT_EQ(table.integer(3, 0).error().message(),
            "a.csv:5: column \"n\": expected an integer, found \"128.5\"; check the number");
  EXPECT_EQ(table.integer(4, 0).value(), 9223372036854775807);
  EXPECT_FALSE(table.integer(5, 0));
  EXPECT_EQ(table.integer(6, 0).value(), -3);
  EXPECT_FALSE(table.integer(7, 0));
}

// Any table, written by the rules of RFC 4180 with any delimiter and line end, reads back as it was.
TEST(Csv, RandomTablesReadBack) {
  std::mt19937 random{3};
  constexpr std::array kPieces = {"a", "1", ",", ";", "\t", "\"", "\n", "\r\n", "é", " "};
  for (int i = 0; i < 500; ++i) {
    const char delimiter = ",;\t"[random() % 3];
    const std::string line_end = std::array{"\n", "\r\n", "\r"}[random() % 3];
    const std::size_t columns = 1 + random() % 5;
    std::string text;
    Rows rows;
    for (std::size_t r = 0; r < 1 + random() % 6; ++r) {
      std::vector<std::string>& row = rows.emplace_back();
      for (std::size_t c = 0; c < columns; ++c) {
        std::string cell;
        for (auto n = random() % 4; n > 0; --n) cell += kPieces[random() % kPieces.size()];
        if (r == 0) cell = "c" + std::to_string(c) + "x" + (cell.find('\n') == std::string::npos ? cell : "") + "x";
        std::string quoted = "\"";
        for (const char ch : cell) quoted += ch == '"' ? "\"\"" : std::string(1, ch);
        if (c > 0) text += delimiter;
        text.append(quoted).append("\"");
        row.push_back(cell);
      }
      text += line_end;
    }
    CsvOptions options;
    options.delimiter = delimiter;
    const CsvTable table = parsed(text, options);
    ASSERT_EQ(table.columns(), rows.front()) << text;
    rows.erase(rows.begin());
    ASSERT_EQ(rows_of(table), rows) << text;
  }
}

}  // namespace
}  // namespace flopwatt::io
