#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"

namespace flopwatt::io {

struct CsvOptions {
  std::size_t max_bytes = std::size_t{256} << 20U;  ///< a longer text is refused unread
  std::size_t max_columns = 4096;
  char delimiter = '\0';  ///< '\0': the commonest of comma, semicolon and tab in the header row
  /// For append logs, whose writer ends every row with a line break: a last row without one was torn by a kill and is
  /// left out (torn_tail() tells), even if it looks whole, since its last number may be cut.  Otherwise such a row is
  /// read like any other and must have all its fields.
  bool tolerate_torn_tail = false;
};

/// A table with a header row, as in RFC 4180, in any of the encodings of text_encoding.hpp.
///
/// Lines end with LF, CRLF or CR; a quoted field may hold delimiters, line breaks and doubled quotes; blank lines are
/// skipped.  Names in the header are trimmed; a name may be empty (an index column), but not appear twice.  Errc::
/// bad_data at "WHERE:LINE" for: empty text, a row with more or fewer fields than the header, an open quote, text after
/// a closing quote, a NUL byte, invalid text.  A table may have no rows.
///
/// Our own, since no CSV library of the distribution knows byte order marks, UTF-16, CR line ends and where a row
/// stood.  Cells are views into one buffer; a parse is one pass and allocates nothing per cell.
class CsvTable {
 public:
  [[nodiscard]] static Result<CsvTable> parse(std::string_view text, std::string_view where,
                                              const CsvOptions& options = {});

  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] std::size_t row_count() const { return lines_.size(); }
  [[nodiscard]] char delimiter() const { return delimiter_; }
  [[nodiscard]] bool torn_tail() const { return torn_tail_; }
  [[nodiscard]] const std::string& where() const { return where_; }

  [[nodiscard]] std::optional<std::size_t> find_column(std::string_view name) const;
  /// The same, or an error that names the columns which exist.
  [[nodiscard]] Result<std::size_t> require_column(std::string_view name) const;

  /// Line of the text on which the row begins, from 1.
  [[nodiscard]] std::size_t line(std::size_t row) const { return lines_[row]; }
  /// The field as written, without its quotes.
  [[nodiscard]] std::string_view cell(std::size_t row, std::size_t column) const;

  /// The field as a number.  Empty, and in any case of letters nan, na, n/a, null and none, with blanks around, are
  /// missing (an empty optional).  A decimal or thousands comma, a unit or any other text, inf, and what no double can
  /// hold are errors: nothing is guessed.
  [[nodiscard]] Result<std::optional<double>> number(std::size_t row, std::size_t column) const;
  /// The same for an integer; 128.0 is one (some writers turn integer columns with gaps into floats), 128.5 is not.
  [[nodiscard]] Result<std::optional<std::int64_t>> integer(std::size_t row, std::size_t column) const;

  /// The error that `what` is wrong with a cell: "WHERE:LINE: column "NAME": WHAT; REMEDY".
  [[nodiscard]] Error error(std::size_t row, std::size_t column, std::string_view what, std::string remedy = {}) const;

 private:
  friend class CsvParser;
  struct Cell {
    std::uint32_t begin;
    std::uint32_t size;
  };
  CsvTable() = default;

  std::string where_;
  std::string buffer_;
  std::vector<std::string> columns_;
  std::vector<Cell> cells_;  // row by row
  std::vector<std::uint32_t> lines_;
  char delimiter_ = ',';
  bool torn_tail_ = false;
};

}  // namespace flopwatt::io
