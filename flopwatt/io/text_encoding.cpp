#include "flopwatt/io/text_encoding.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace flopwatt::io {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kHighBits = 0x8080808080808080U;

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// Length of the well-formed sequence that starts at `i` with a non-ASCII byte, or 0 (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text, std::size_t i) {
  const unsigned lead = byte_at(text, i);
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0 || text.size() - i < length) return 0;
  const unsigned second = byte_at(text, i + 1);
  const unsigned lowest = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned highest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < lowest || second > highest) return 0;
  for (std::size_t k = 2; k < length; ++k) {
    if ((byte_at(text, i + k) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

Result<void> decode_utf16(std::string_view bytes, bool big_endian, std::string_view where, std::string& out) {
  const auto unit_at = [&](std::size_t i) {
    const unsigned first = byte_at(bytes, i);
    const unsigned second = byte_at(bytes, i + 1);
    return static_cast<char32_t>(big_endian ? (first << 8U | second) : (second << 8U | first));
  };
  out.clear();
  out.reserve(bytes.size() / 2 + bytes.size() / 8);
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    if (bytes.size() - i < 2) {
      return fail(Errc::bad_data, "the UTF-16 text ends in the middle of a character", place_of(where, out, out.size()),
                  "the file seems cut short: get it again");
    }
    char32_t code = unit_at(i);
    if (code >= 0xD800 && code <= 0xDFFF) {
      const char32_t low = bytes.size() - i >= 4 ? unit_at(i + 2) : 0;
      if (code >= 0xDC00 || low < 0xDC00 || low > 0xDFFF) {
        return fail(Errc::bad_data, "invalid UTF-16 (unpaired surrogate)", place_of(where, out, out.size()),
                    "save the file as UTF-8");
      }
      code = 0x10000 + ((code - 0xD800) << 10U) + (low - 0xDC00);
      i += 2;
    }
    append_utf8(out, code);
  }
  return {};
}

// A file that went through several programs may begin with several marks.
std::string_view without_marks(std::string_view utf8) {
  while (utf8.starts_with("\xEF\xBB\xBF"sv)) utf8.remove_prefix(3);
  return utf8;
}

}  // namespace

Result<std::string_view> decode_text(std::string_view bytes, std::string_view where, std::string& storage) {
  if (bytes.starts_with("\xFF\xFE\0\0"sv) || bytes.starts_with("\0\0\xFE\xFF"sv)) {
    return fail(Errc::bad_data, "UTF-32 text is not supported", std::string{where}, "save the file as UTF-8");
  }
  if (bytes.starts_with("\xFF\xFE"sv) || bytes.starts_with("\xFE\xFF"sv)) {
    FLOPWATT_TRY_VOID(decode_utf16(bytes.substr(2), bytes[0] == '\xFE', where, storage));
    return without_marks(storage);
  }
  bytes = without_marks(bytes);
  const std::size_t bad = find_invalid_utf8(bytes);
  if (bad < bytes.size()) {
    return fail(Errc::bad_data, fmt::format("not valid UTF-8 (byte 0x{:02x})", byte_at(bytes, bad)),
                place_of(where, bytes, bad), "save the file as UTF-8, or as UTF-16 with a byte order mark");
  }
  return bytes;
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  std::size_t i = 0;
  while (i < text.size()) {
    std::uint64_t block = 0;
    while (text.size() - i >= sizeof block) {  // ASCII, eight bytes at a time
      std::memcpy(&block, text.data() + i, sizeof block);
      if ((block & kHighBits) != 0) break;
      i += sizeof block;
    }
    while (i < text.size() && byte_at(text, i) < 0x80) ++i;
    while (i < text.size() && byte_at(text, i) >= 0x80) {
      const std::size_t length = sequence_length(text, i);
      if (length == 0) return i;
      i += length;
    }
  }
  return text.size();
}

TextPosition position_of(std::string_view text, std::size_t offset) noexcept {
  TextPosition at;
  const std::size_t end = offset < text.size() ? offset : text.size();
  for (std::size_t i = 0; i < end; ++i) {
    const char c = text[i];
    if (c == '\n' || (c == '\r' && (i + 1 >= text.size() || text[i + 1] != '\n'))) {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
      ++at.column;
    }
  }
  return at;
}

std::string place_of(std::string_view where, std::string_view text, std::size_t offset) {
  const TextPosition at = position_of(text, offset);
  return fmt::format("{}:{}:{}", where, at.line, at.column);
}

void append_utf8(std::string& out, char32_t code_point) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xC0U | code_point >> 6U);
    put(0x80U | (code_point & 0x3FU));
  } else if (code_point < 0x10000) {
    put(0xE0U | code_point >> 12U);
    put(0x80U | (code_point >> 6U & 0x3FU));
    put(0x80U | (code_point & 0x3FU));
  } else {
    put(0xF0U | code_point >> 18U);
    put(0x80U | (code_point >> 12U & 0x3FU));
    put(0x80U | (code_point >> 6U & 0x3FU));
    put(0x80U | (code_point & 0x3FU));
  }
}

}  // namespace flopwatt::io
