#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flopwatt::report {

inline constexpr std::size_t kTerminalColumns = 80;

/// Code points of a UTF-8 text: the columns it takes on a terminal (no wide or combining characters in our output).
[[nodiscard]] std::size_t columns(std::string_view text) noexcept;

/// The text padded with blanks to `width` columns, on the right or on the left.
[[nodiscard]] std::string pad_right(std::string_view text, std::size_t width);
[[nodiscard]] std::string pad_left(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at blanks; a longer word stands alone on its line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace flopwatt::report
