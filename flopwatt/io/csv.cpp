#include "flopwatt/io/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "flopwatt/base/text.hpp"
#include "flopwatt/io/text_encoding.hpp"

namespace flopwatt::io {
namespace {

constexpr std::array kDelimiters = {',', ';', '\t'};  // the first wins a tie

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

bool is_missing(std::string_view text) {
  for (const std::string_view word : {"", "nan", "na", "n/a", "null", "none"}) {
    if (equal_ignoring_case(text, word)) return true;
  }
  return false;
}

char commonest_delimiter(std::string_view text) {
  std::array<std::size_t, kDelimiters.size()> count{};
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' || c == '\r') break;
    for (std::size_t k = 0; k < kDelimiters.size(); ++k) count[k] += static_cast<std::size_t>(c == kDelimiters[k]);
  }
  return kDelimiters[static_cast<std::size_t>(std::max_element(count.begin(), count.end()) - count.begin())];
}

bool looks_like_decimal_comma(std::string_view text) {
  return text.find(',') != std::string_view::npos &&
         text.find_first_not_of("+-0123456789.,eE") == std::string_view::npos;
}

}  // namespace

// One pass over the buffer of a table.  Quoted fields are unescaped in place: they only shrink.
class CsvParser {
 public:
  CsvParser(CsvTable& table, const CsvOptions& options)
      : table_{table}, options_{options}, text_{table.buffer_.data()}, size_{table.buffer_.size()} {}

  Result<void> run() {
    skip_blank_lines();
    if (at_ == size_) {
      return fail(Errc::bad_data, size_ == 0 ? "the file is empty" : "the file holds only blank lines", table_.where_,
                  "give a CSV file with a header row");
    }
    std::vector<CsvTable::Cell> header;
    const std::size_t header_line = line_;
    FLOPWATT_TRY_VOID(read_row(header));
    FLOPWATT_TRY_VOID(take_header(header, header_line));
    for (skip_blank_lines(); at_ < size_; skip_blank_lines()) {
      const std::size_t row_line = line_;
      const std::size_t before = table_.cells_.size();
      const Result<void> row = read_row(table_.cells_);
      if (options_.tolerate_torn_tail && at_ == size_ && !line_ended_) {
        table_.cells_.resize(before);
        table_.torn_tail_ = true;
        return {};
      }
      if (!row) return row;
      const std::size_t fields = table_.cells_.size() - before;
      if (fields != header.size()) {
        return fail(
            Errc::bad_data, fmt::format("{} fields where the header has {}", fields, header.size()),
            line_place(row_line),
            at_ == size_ && !line_ended_ ? "the last line seems cut short: complete or delete it" : "correct the line");
      }
      table_.lines_.push_back(static_cast<std::uint32_t>(row_line));
    }
    return {};
  }

 private:
  [[nodiscard]] std::string line_place(std::size_t line) const { return fmt::format("{}:{}", table_.where_, line); }

  // Steps over one line end, if there is one here.
  bool take_line_end() {
    if (at_ == size_ || (text_[at_] != '\n' && text_[at_] != '\r')) return false;
    if (text_[at_] == '\r' && at_ + 1 < size_ && text_[at_ + 1] == '\n') ++at_;
    ++at_;
    ++line_;
    return true;
  }

  void skip_blank_lines() {
    for (;;) {
      const std::size_t start = at_;
      while (at_ < size_ && (text_[at_] == ' ' || (text_[at_] == '\t' && table_.delimiter_ != '\t'))) ++at_;
      if (at_ == size_) return;
      if (!take_line_end()) {
        at_ = start;
        return;
      }
    }
  }

  Result<void> read_row(std::vector<CsvTable::Cell>& cells) {
    const std::size_t limit = cells.size() + options_.max_columns;
    for (;;) {
      if (cells.size() == limit) {
        return fail(Errc::bad_data, fmt::format("more than {} fields", options_.max_columns), line_place(line_),
                    "this is not the file that is meant");
      }
      if (at_ < size_ && text_[at_] == '"') {
        FLOPWATT_TRY(const CsvTable::Cell cell, read_quoted());
        cells.push_back(cell);
      } else {
        const std::size_t begin = at_;
        while (at_ < size_ && text_[at_] != table_.delimiter_ && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
        cells.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_ - begin)});
      }
      if (at_ < size_ && text_[at_] == table_.delimiter_) {
        ++at_;
        continue;
      }
      line_ended_ = take_line_end();
      return {};
    }
  }

  Result<CsvTable::Cell> read_quoted() {
    const std::size_t opened = line_;
    const std::size_t begin = ++at_;
    std::size_t out = begin;
    for (;;) {
      if (at_ == size_) {
        line_ended_ = false;
        return fail(Errc::bad_data, "a quote is opened and never closed", line_place(opened),
                    "close the quote, or complete the file if it is cut short");
      }
      char c = text_[at_++];
      if (c == '"') {
        if (at_ == size_ || text_[at_] != '"') break;
        ++at_;
      } else if (c == '\n' || (c == '\r' && (at_ == size_ || text_[at_] != '\n'))) {
        ++line_;
      }
      text_[out++] = c;
    }
    if (at_ < size_ && text_[at_] != table_.delimiter_ && text_[at_] != '\n' && text_[at_] != '\r') {
      return fail(Errc::bad_data, "text after a closing quote", line_place(line_),
                  "double a quote inside a quoted field");
    }
    return CsvTable::Cell{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(out - begin)};
  }

  Result<void> take_header(const std::vector<CsvTable::Cell>& header, std::size_t line) {
    for (const CsvTable::Cell& cell : header) {
      const std::string_view name = base::trimmed(std::string_view{text_ + cell.begin, cell.size});
      if (!name.empty() && table_.find_column(name)) {
        return fail(Errc::bad_data, fmt::format("column \"{}\" appears twice", base::excerpt(name, 40)),
                    line_place(line), "rename or delete one");
      }
      table_.columns_.emplace_back(name);
    }
    return {};
  }

  CsvTable& table_;
  const CsvOptions& options_;
  char* text_;
  std::size_t size_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool line_ended_ = true;  // did the row read last end with a line break?
};

Result<CsvTable> CsvTable::parse(std::string_view text, std::string_view where, const CsvOptions& options) {
  const std::size_t limit = std::min<std::size_t>(options.max_bytes, std::numeric_limits<std::uint32_t>::max());
  if (text.size() > limit) {
    return fail(Errc::bad_data, fmt::format("{} bytes are too many for a CSV file (at most {})", text.size(), limit),
                std::string{where}, "split the file");
  }
  CsvTable table;
  table.where_ = where;
  FLOPWATT_TRY(const std::string_view decoded, decode_text(text, where, table.buffer_));
  if (const std::size_t nul = decoded.find('\0'); nul != std::string_view::npos) {
    return fail(Errc::bad_data, "a NUL byte is no CSV", place_of(where, decoded, nul),
                "this is not a text file, or it is UTF-16 without a byte order mark: save it as UTF-8");
  }
  table.buffer_ = std::string{decoded};  // a copy even of the buffer's own end, after a mark
  table.delimiter_ = options.delimiter != '\0' ? options.delimiter : commonest_delimiter(table.buffer_);
  FLOPWATT_TRY_VOID(CsvParser(table, options).run());
  return table;
}

std::optional<std::size_t> CsvTable::find_column(std::string_view name) const {
  const auto found = std::find(columns_.begin(), columns_.end(), name);
  if (found == columns_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns_.begin());
}

Result<std::size_t> CsvTable::require_column(std::string_view name) const {
  if (const auto column = find_column(name)) return *column;
  return fail(Errc::bad_data, fmt::format("column \"{}\" is missing", name), where_,
              fmt::format("the file has: {}", base::excerpt(fmt::format("{}", fmt::join(columns_, ", ")), 200)));
}

std::string_view CsvTable::cell(std::size_t row, std::size_t column) const {
  const Cell& cell = cells_[row * columns_.size() + column];
  return std::string_view{buffer_}.substr(cell.begin, cell.size);
}

Result<std::optional<double>> CsvTable::number(std::size_t row, std::size_t column) const {
  const std::string_view text = base::trimmed(cell(row, column));
  if (is_missing(text)) return std::optional<double>{};
  const std::string_view digits = text.front() == '+' ? text.substr(1) : text;
  double value = 0.0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = end == digits.data() + digits.size() && !(text.front() == '+' && digits.starts_with('-'));
  if (status == std::errc{} && whole && std::isfinite(value)) return std::optional<double>{value};

  const std::string found = fmt::format("found \"{}\"", base::excerpt(text, 40));
  if (status == std::errc::result_out_of_range) {
    return fail(error(row, column, "the number is too large or too small for a double, " + found, "check the number"));
  }
  if (looks_like_decimal_comma(text)) {
    return fail(error(row, column, "expected a number with a decimal point, " + found,
                      "write a decimal point and no thousands separators"));
  }
  if (status == std::errc{} && whole)
    return fail(
        error(row, column, "expected a finite number, " + found, "leave the cell empty where there is no value"));
  if (status == std::errc{} && end != digits.data()) {
    return fail(
        error(row, column, "expected a bare number, " + found, "a unit belongs in the column's name, not in the cell"));
  }
  return fail(error(row, column, "expected a number, " + found, "leave the cell empty where there is no value"));
}

Result<std::optional<std::int64_t>> CsvTable::integer(std::size_t row, std::size_t column) const {
  const std::string_view text = base::trimmed(cell(row, column));
  std::int64_t exact = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), exact);
  if (status == std::errc{} && end == text.data() + text.size()) return std::optional<std::int64_t>{exact};
  FLOPWATT_TRY(const std::optional<double> value, number(row, column));
  if (!value) return std::optional<std::int64_t>{};
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double no longer tells its neighbours apart
  if (std::trunc(*value) != *value || std::abs(*value) > kExact) {
    return fail(error(row, column, fmt::format("expected an integer, found \"{}\"", base::excerpt(text, 40)),
                      "check the number"));
  }
  return std::optional<std::int64_t>{static_cast<std::int64_t>(*value)};
}

Error CsvTable::error(std::size_t row, std::size_t column, std::string_view what, std::string remedy) const {
  return Error{Errc::bad_data, fmt::format("column \"{}\": {}", base::excerpt(columns_[column], 60), what),
               fmt::format("{}:{}", where_, lines_[row]), std::move(remedy)};
}

}  // namespace flopwatt::io
