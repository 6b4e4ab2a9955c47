#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

/// Lines and fields of logs, which unlike tables may be torn, interrupted and mixed with what else was printed.

namespace flopwatt::telemetry {

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
/// Without regard to the case of ASCII letters.
[[nodiscard]] bool same_letters(std::string_view a, std::string_view b) noexcept;
[[nodiscard]] bool contains_letters(std::string_view text, std::string_view part) noexcept;

struct Line {
  std::string_view text;   ///< without its end
  std::size_t number = 1;  ///< from 1
  bool ended = true;       ///< false: the last one, without a line break: its writer may have been killed
};
/// Lines end with LF, CR or CRLF.  Empty ones are left out.
[[nodiscard]] std::vector<Line> lines_of(std::string_view text);

/// Fields of one line, trimmed and without their quotes; a quote that is not closed ends with the line.
void split_fields(std::string_view line, char delimiter, std::vector<std::string_view>& fields);
/// Words between blanks.
void split_words(std::string_view line, std::vector<std::string_view>& words);

}  // namespace flopwatt::telemetry
