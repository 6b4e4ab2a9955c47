#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flopwatt::io {

/// Writes a table as RFC 4180 with commas and LF, so that CsvTable reads back what was written.
///
///   CsvWriter csv{{"device", "power_watts"}};
///   csv.field("A100").field(212.5).end_row();
///
/// A field is quoted only where it must be; a missing value is an empty field; numbers are as in number_text.hpp.  A
/// row with more or fewer fields than the header is a bug of the caller and stops the program.
class CsvWriter {
 public:
  explicit CsvWriter(const std::vector<std::string>& columns);

  CsvWriter& field(std::string_view text);
  CsvWriter& field(const char* text) { return field(std::string_view{text}); }
  CsvWriter& field(const std::string& text) { return field(std::string_view{text}); }
  CsvWriter& field(double number);
  CsvWriter& field(__int128 number);
  template <std::integral T>
    requires(sizeof(T) <= sizeof(std::int64_t) && !std::same_as<T, bool> && !std::same_as<T, char>)
  CsvWriter& field(T number) {
    return field(static_cast<__int128>(number));
  }
  template <class T>
  CsvWriter& field(const std::optional<T>& maybe) {
    return maybe ? field(*maybe) : missing();
  }
  CsvWriter& missing();
  CsvWriter& end_row();

  /// The finished text; no row may be open.
  [[nodiscard]] std::string take() &&;

 private:
  void separate();

  std::string out_;
  std::size_t columns_;
  std::size_t fields_ = 0;  // of the row being written
};

}  // namespace flopwatt::io
