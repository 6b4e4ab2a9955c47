#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flopwatt::io {

/// Writes one JSON value, in the order of the calls, into a string.
///
///   JsonWriter json;
///   json.begin_object().member("flops", Integer).member("power_watts", 212.5).key("notes").begin_array()…
///
/// Integers are written as integers however large; doubles in the shortest form that reads back to the same double;
/// an empty optional as null.  A NaN or infinite double is a bug of the caller and stops the program: what may be
/// missing is an optional.  Strings are escaped; bytes that are no UTF-8 become U+FFFD.  Calls out of order (a value
/// without its key, an end without its begin) stop the program as well.
class JsonWriter {
 public:
  enum class Style : std::uint8_t {
    pretty,   ///< one member or element a line, two spaces a level
    compact,  ///< no blanks at all: one line
  };
  explicit JsonWriter(Style style = Style::pretty) : style_{style} {}

  JsonWriter& begin_object() { return begin('{', false); }
  JsonWriter& end_object() { return end('{'); }
  JsonWriter& begin_array() { return begin('[', false); }
  /// An array that stays on one line in the pretty style: intervals, matrix rows.
  JsonWriter& begin_row() { return begin('[', true); }
  JsonWriter& end_array() { return end('['); }
  JsonWriter& key(std::string_view name);

  JsonWriter& null();
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view{text}); }
  JsonWriter& value(const std::string& text) { return value(std::string_view{text}); }
  JsonWriter& value(double number);
  JsonWriter& value(__int128 number);
  JsonWriter& value(unsigned __int128 number);
  template <std::same_as<bool> T>
  JsonWriter& value(T flag) {
    return literal(flag ? "true" : "false");
  }
  template <std::signed_integral T>
    requires(sizeof(T) <= sizeof(std::int64_t) && !std::same_as<T, char>)
  JsonWriter& value(T number) {
    return value(static_cast<__int128>(number));
  }
  template <std::unsigned_integral T>
    requires(sizeof(T) <= sizeof(std::uint64_t) && !std::same_as<T, bool> && !std::same_as<T, char>)
  JsonWriter& value(T number) {
    return value(static_cast<unsigned __int128>(number));
  }
  template <class T>
  JsonWriter& value(const std::optional<T>& maybe) {
    return maybe ? value(*maybe) : null();
  }

  template <class T>
  JsonWriter& member(std::string_view name, const T& content) {
    key(name);
    return value(content);
  }

  /// The finished text; in the pretty style it ends with a newline.  The value must be complete.
  [[nodiscard]] std::string take() &&;

 private:
  struct Frame {
    char bracket;
    bool one_line;
    bool empty = true;
  };
  JsonWriter& begin(char bracket, bool one_line);
  JsonWriter& end(char bracket);
  JsonWriter& literal(std::string_view text);
  void before_value();
  void separate();
  void append_string(std::string_view text);

  Style style_;
  std::string out_;
  std::vector<Frame> open_;
  bool after_key_ = false;
};

}  // namespace flopwatt::io
