#include "flopwatt/io/csv_writer.hpp"

#include <utility>

#include "flopwatt/base/check.hpp"
#include "flopwatt/io/number_text.hpp"

namespace flopwatt::io {

CsvWriter::CsvWriter(const std::vector<std::string>& columns) : columns_{columns.size()} {
  FLOPWATT_CHECK(!columns.empty());
  for (const std::string& name : columns) field(name);
  end_row();
}

CsvWriter& CsvWriter::field(std::string_view text) {
  separate();
  // Blanks at the ends are kept by readers that trim only when they are quoted; tab and semicolon would confuse the
  // guess of the delimiter; a byte order mark at the very beginning would be taken for one.
  const bool quote = text.find_first_of(",;\t\"\r\n") != std::string_view::npos || text.starts_with(' ') ||
                     text.ends_with(' ') || text.starts_with("\xEF\xBB\xBF") || (text.empty() && columns_ == 1);
  if (!quote) {
    out_ += text;
    return *this;
  }
  out_ += '"';
  for (const char c : text) {
    if (c == '"') out_ += '"';
    out_ += c;
  }
  out_ += '"';
  return *this;
}

CsvWriter& CsvWriter::field(double number) {
  separate();
  append_number(out_, number);
  return *this;
}

CsvWriter& CsvWriter::field(__int128 number) {
  separate();
  append_integer(out_, number);
  return *this;
}

CsvWriter& CsvWriter::missing() { return field(std::string_view{}); }

CsvWriter& CsvWriter::end_row() {
  FLOPWATT_CHECK(fields_ == columns_);
  out_ += '\n';
  fields_ = 0;
  return *this;
}

std::string CsvWriter::take() && {
  FLOPWATT_CHECK(fields_ == 0);
  return std::move(out_);
}

void CsvWriter::separate() {
  FLOPWATT_CHECK(fields_ < columns_);
  if (fields_++ > 0) out_ += ',';
}

}  // namespace flopwatt::io
