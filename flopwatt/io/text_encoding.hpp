#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "flopwatt/base/result.hpp"

namespace flopwatt::io {

/// Text as UTF-8 without a byte order mark.
///
/// The encoding is told by the byte order mark: UTF-8, UTF-16LE and UTF-16BE; without one the bytes must be UTF-8.
/// The answer is a view of `bytes` where they are UTF-8 already, else of `storage`, which then holds the converted
/// text; it lives as long as the one it views.  Invalid UTF-8, an unpaired surrogate, half a code unit and UTF-32 are
/// Errc::bad_data at "WHERE:LINE:COLUMN"; nothing is replaced silently.  A NUL is valid text here: parsers refuse it.
[[nodiscard]] Result<std::string_view> decode_text(std::string_view bytes, std::string_view where,
                                                   std::string& storage);

/// A place in a text, both counted from 1.  A line ends with LF, CR or CRLF; a column is one code point.
struct TextPosition {
  std::size_t line = 1;
  std::size_t column = 1;
  bool operator==(const TextPosition&) const = default;
};

/// Where byte `offset` of `text` stands.  Costs a scan of the text before it: for error messages.
[[nodiscard]] TextPosition position_of(std::string_view text, std::size_t offset) noexcept;

/// "WHERE:LINE:COLUMN" of byte `offset` of `text`.
[[nodiscard]] std::string place_of(std::string_view where, std::string_view text, std::size_t offset);

/// Offset of the first byte that is not well-formed UTF-8 (overlong forms, surrogates and values beyond U+10FFFF are
/// not), or `text.size()` when all of it is.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view text) noexcept;

/// Appends `code_point` (at most U+10FFFF, no surrogate) to `out`.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace flopwatt::io
