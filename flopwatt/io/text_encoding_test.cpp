#include "flopwatt/io/text_encoding.hpp"

#include <gtest/gtest.h>

namespace flopwatt::io {
namespace {

using namespace std::string_view_literals;

Result<std::string> decoded(std::string_view bytes) {
  std::string storage;
  FLOPWATT_TRY(const std::string_view text, decode_text(bytes, "f.txt", storage));
  return std::string{text};
}

TEST(DecodeText, ReadsEveryEncodingByItsMark) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";  // a é € 😀
  EXPECT_EQ(decoded(text).value(), text);
  EXPECT_EQ(decoded("\xEF\xBB\xBF" + text).value(), text);
  // U+1F600 - U+10000 = 0xF600: surrogates D800 + (0xF600 >> 10) = D83D and DC00 + (0xF600 & 0x3FF) = DE00.
  EXPECT_EQ(decoded("\xFF\xFE"
                    "a\0\xE9\0\xAC\x20\x3D\xD8\x00\xDE"sv)
                .value(),
            text);
  EXPECT_EQ(decoded("\xFE\xFF"
                    "\0a\0\xE9\x20\xAC\xD8\x3D\xDE\x00"sv)
                .value(),
            text);
  EXPECT_EQ(decoded("\xEF\xBB\xBF\xEF\xBB\xBF" + text).value(), text);  // marked twice
  EXPECT_EQ(decoded("\xFF\xFE\xFF\xFE"
                    "a\0"sv)
                .value(),
            "a");
  EXPECT_EQ(decoded("").value(), "");
  EXPECT_EQ(decoded("\xFF\xFE").value(), "");
}

TEST(DecodeText, ViewsTheInputWhenNothingNeedsConverting) {
  const std::string_view bytes = "\xEF\xBB\xBFplain";
  std::string storage;
  const std::string_view text = decode_text(bytes, "f", storage).value();
  EXPECT_EQ(text.data(), bytes.data() + 3);
}

TEST(DecodeText, RefusesWhatIsNoText) {
  EXPECT_EQ(decoded("ab\nc\xE9").error().message(),
            "f.txt:2:2: not valid UTF-8 (byte 0xe9); save the file as UTF-8, or as UTF-16 with a byte order mark");
  EXPECT_EQ(decoded("\xFF\xFE"
                    "a\0b"sv)
                .error()
                .where,
            "f.txt:1:2");                                               // half a unit
  EXPECT_EQ(decoded("\xFF\xFE\x3D\xD8"sv).error().where, "f.txt:1:1");  // high surrogate at the end
  EXPECT_EQ(decoded("\xFF\xFE\x00\xDE"
                    "a\0"sv)
                .error()
                .where,
            "f.txt:1:1");  // low surrogate first
  EXPECT_EQ(decoded("\xFF\xFE\0\0a\0\0\0"sv).error().what, "UTF-32 text is not supported");
}

TEST(Utf8, FindsTheFirstBadByte) {
  for (const std::string_view bad :
       {"\x80"sv, "\xC0\x80"sv, "\xC1\xBF"sv,        // stray continuation, overlong two-byte forms
        "\xE0\x80\x80"sv, "\xE0\x9F\xBF"sv,          // overlong three-byte forms
        "\xED\xA0\x80"sv, "\xED\xBF\xBF"sv,          // surrogates
        "\xF0\x8F\xBF\xBF"sv, "\xF4\x90\x80\x80"sv,  // overlong, beyond U+10FFFF
        "\xF5\x80\x80\x80"sv, "\xFE"sv, "\xFF"sv, "\xC3"sv, "\xE2\x82"sv, "\xF0\x9F\x98"sv,  // cut short
        "\xE2\x28\xA1"sv, "\xF0\x9F\x28\x80"sv}) {
    for (const std::string_view before : {""sv, "0123456"sv, "0123456789abcdef"sv, "\xC3\xA9"sv}) {
      const std::string text = std::string{before} + std::string{bad} + "z";
      EXPECT_EQ(find_invalid_utf8(text), before.size()) << testing::PrintToString(text);
    }
  }
}

TEST(Utf8, EveryCodePointReadsBack) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code == 0xD800) code = 0xE000;
    std::string text;
    append_utf8(text, code);
    ASSERT_EQ(text.size(), code < 0x80 ? 1U : code < 0x800 ? 2U : code < 0x10000 ? 3U : 4U);
    ASSERT_EQ(find_invalid_utf8(text), text.size()) << static_cast<unsigned>(code);
  }
}

TEST(TextPosition, CountsEveryLineEndOnceAndCodePointsAsColumns) {
  const std::string_view text = "a\r\nb\rc\n\xC3\xA9x";
  EXPECT_EQ(position_of(text, 0), (TextPosition{1, 1}));
  EXPECT_EQ(position_of(text, 3), (TextPosition{2, 1}));  // b
  EXPECT_EQ(position_of(text, 5), (TextPosition{3, 1}));  // c
  EXPECT_EQ(position_of(text, 9), (TextPosition{4, 2}));  // x, after the two bytes of é
  EXPECT_EQ(position_of(text, 99), (TextPosition{4, 3}));
}

}  // namespace
}  // namespace flopwatt::io
