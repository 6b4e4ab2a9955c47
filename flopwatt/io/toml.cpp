#include "flopwatt/io/toml.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "flopwatt/io/text_encoding.hpp"

// The distribution's shared library of toml++ throws; this build of it, private to this source, does not.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#define TOML_MAX_NESTED_VALUES 16
#include <toml++/toml.h>

namespace flopwatt::io {
namespace {

constexpr std::size_t kMaxKeyParts = 16;

// Offset of the dot that makes a dotted key too long.  toml++ bounds the nesting of values, but not of dotted keys, and
// it destroys a tree recursively: half a megabyte of "a.a.a…" would overflow the stack.
std::optional<std::size_t> find_too_deep_key(std::string_view text) {
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    switch (const char c = text[i]) {
      case '"':
      case '\'': {  // a string: one line, or any number of lines between triple quotes
        const bool multiline = text.substr(i, 3) == std::string(3, c);
        i += multiline ? 3 : 1;
        const std::string close(multiline ? 3 : 1, c);
        for (; i < text.size() && text.substr(i, close.size()) != close; ++i) {
          if (!multiline && text[i] == '\n') break;
          if (c == '"' && text[i] == '\\') ++i;
        }
        i += multiline ? 2 : 0;
        break;
      }
      case '#':
        while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
        break;
      case '.':
        if (++dots >= kMaxKeyParts) return i;
        break;
      case '\n':
      case '\r':
      case '=':
      case ',':
      case '[':
      case ']':
      case '{':
      case '}':
        dots = 0;
        break;
      default:
        break;
    }
  }
  return std::nullopt;
}

class Converter {
 public:
  explicit Converter(std::string_view where) : where_{where} {}

  // NOLINTNEXTLINE(misc-no-recursion): as deep as the two limits above allow
  Result<Json> convert(const toml::node& node) const {
    if (const auto* table = node.as_table()) {
      Json object = Json::object();
      for (const auto& [key, value] : *table) {
        FLOPWATT_TRY(object[std::string{key.str()}], convert(value));
      }
      return wrapped(std::move(object));
    }
    if (const auto* list = node.as_array()) {
      Json array = Json::array();
      for (const toml::node& element : *list) {
        FLOPWATT_TRY(Json value, convert(element));
        array.push_back(std::move(value));
      }
      return wrapped(std::move(array));
    }
    if (const auto* text = node.as_string()) return wrapped(Json(text->get()));
    if (const auto* integer = node.as_integer()) return wrapped(Json(integer->get()));
    if (const auto* flag = node.as_boolean()) return wrapped(Json(flag->get()));
    if (const auto* number = node.as_floating_point()) {
      if (std::isfinite(number->get())) return wrapped(Json(number->get()));
      return fail(Errc::bad_data, "inf and nan are no values here", place(node.source()), "leave the key out");
    }
    return fail(Errc::bad_data, "dates and times are not used here", place(node.source()), "put it in quotes");
  }

  [[nodiscard]] std::string place(const toml::source_region& source) const {
    return fmt::format("{}:{}:{}", where_, source.begin.line, source.begin.column);
  }

 private:
  // A Json converts to anything, also to a Result of itself: say which constructor is meant.
  static Result<Json> wrapped(Json&& value) { return Result<Json>{tl::in_place, std::move(value)}; }

  std::string_view where_;
};

}  // namespace

Result<Json> parse_toml(std::string_view text, std::string_view where, const TomlOptions& options) {
  if (text.size() > options.max_bytes) {
    return fail(Errc::bad_data,
                fmt::format("{} bytes are too many for this kind of file (at most {})", text.size(), options.max_bytes),
                std::string{where}, "this is not the file that is meant");
  }
  std::string storage;
  FLOPWATT_TRY(const std::string_view decoded, decode_text(text, where, storage));
  if (decoded.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(Errc::bad_data, decoded.empty() ? "the file is empty" : "the file holds only blanks",
                std::string{where}, "give a TOML file");
  }
  if (const std::size_t nul = decoded.find('\0'); nul != std::string_view::npos) {
    return fail(Errc::bad_data, "a NUL byte is no TOML", place_of(where, decoded, nul), "this is not a text file");
  }
  if (const auto deep = find_too_deep_key(decoded)) {
    return fail(Errc::bad_data, fmt::format("a key of more than {} parts", kMaxKeyParts),
                place_of(where, decoded, *deep), "this is not the file that is meant");
  }
  const toml::parse_result result = toml::parse(decoded);
  const Converter converter{where};
  if (!result) {
    const toml::parse_error& error = result.error();
    return fail(Errc::bad_data, "not valid TOML: " + base::excerpt(error.description(), 160),
                converter.place(error.source()), "correct the file");
  }
  return converter.convert(result.table());
}

}  // namespace flopwatt::io
