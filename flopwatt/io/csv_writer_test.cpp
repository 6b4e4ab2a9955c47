#include "flopwatt/io/csv_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>

#include "flopwatt/io/csv.hpp"

namespace flopwatt::io {
namespace {

TEST(CsvWriter, QuotesOnlyWhatMustBeQuoted) {
  CsvWriter csv{{"name", "n", "x"}};
  csv.field("A100").field(3).field(0.5).end_row();
  csv.field("a,b \"c\"\n").missing().field(std::optional<double>{}).end_row();
  csv.field(" a").field(std::size_t{18446744073709551615U}).field(-1e300).end_row();
  EXPECT_EQ(std::move(csv).take(),
            "name,n,x\n"
            "A100,3,0.5\n"
            "\"a,b \"\"c\"\"\n\",,\n"
            "\" a\",18446744073709551615,-1e+300\n");
}

TEST(CsvWriter, RandomTablesReadBack) {
  std::mt19937_64 random{5};
  constexpr std::array kPieces = {"a", ",", ";", "\t", "\"", "\n", "\r\n", "\r", "é", " ", "\xEF\xBB\xBF"};
  for (int i = 0; i < 300; ++i) {
    const std::size_t columns = 1 + random() % 4;
    std::vector<std::string> header;
    for (std::size_t c = 0; c < columns; ++c) header.push_back("c;,\t" + std::to_string(c));
    CsvWriter csv{header};
    std::vector<std::string> texts;
    std::vector<double> numbers;
    const std::size_t rows = random() % 6;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        if (c % 2 == 0) {
          std::string& text = texts.emplace_back();
          for (auto n = random() % 4; n > 0; --n) text += kPieces[random() % kPieces.size()];
          csv.field(text);
        } else {
          double number = std::bit_cast<double>(random());
          if (!std::isfinite(number)) number = 0.1;
          numbers.push_back(number);
          csv.field(number);
        }
      }
      csv.end_row();
    }
    const std::string text = std::move(csv).take();
    const Result<CsvTable> table = CsvTable::parse(text, "t", {.delimiter = ','});
    ASSERT_TRUE(table) << table.error().message() << text;
    ASSERT_EQ(table->columns(), header);
    ASSERT_EQ(table->row_count(), rows) << text;
    std::size_t t = 0;
    std::size_t n = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        if (c % 2 == 0) {
          ASSERT_EQ(table->cell(r, c), texts[t++]);
        } else {
          ASSERT_EQ(table->number(r, c).value(), numbers[n++]);
        }
      }
    }
  }
}

TEST(CsvWriterDeathTest, MisuseIsABug) {
  EXPECT_DEATH(CsvWriter({"a", "b"}).field(1).end_row(), "fields_");
  EXPECT_DEATH(CsvWriter({"a"}).field(1).field(2), "fields_");
  EXPECT_DEATH(CsvWriter({"a"}).field(std::nan("")), "isfinite");
}

}  // namespace
}  // namespace flopwatt::io
