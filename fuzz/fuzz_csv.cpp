// Any bytes: a table or an error; every cell of a table lies inside it and is a number, missing, or an error.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/io/csv.hpp"
#include "flopwatt/io/csv_writer.hpp"

namespace {

using namespace flopwatt;

void check_cells(const io::CsvTable& table) {
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    FLOPWATT_CHECK(table.line(row) > (row == 0 ? 1 : table.line(row - 1)));
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      const auto number = table.number(row, column);
      FLOPWATT_CHECK(!number || !*number || std::isfinite(**number));
      const auto integer = table.integer(row, column);
      FLOPWATT_CHECK(!integer || number);
    }
  }
}

void check_round_trip(const io::CsvTable& table) {
  io::CsvWriter writer{table.columns()};
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    for (std::size_t column = 0; column < table.columns().size(); ++column) writer.field(table.cell(row, column));
    writer.end_row();
  }
  const Result<io::CsvTable> again = io::CsvTable::parse(std::move(writer).take(), "again.csv", {.delimiter = ','});
  FLOPWATT_CHECK(again && again->columns() == table.columns() && again->row_count() == table.row_count());
  for (std::size_t row = 0; row < table.row_count(); ++row) {
    for (std::size_t column = 0; column < table.columns().size(); ++column) {
      FLOPWATT_CHECK(again->cell(row, column) == table.cell(row, column));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  for (const bool log : {false, true}) {
    const Result<io::CsvTable> table = io::CsvTable::parse(text, "fuzz.csv", {.tolerate_torn_tail = log});
    if (!table) {
      FLOPWATT_CHECK(table.error().code == Errc::bad_data && table.error().message().starts_with("fuzz.csv:"));
      continue;
    }
    check_cells(*table);
    check_round_trip(*table);
  }
  return 0;
}
