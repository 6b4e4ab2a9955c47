#include "flopwatt/io/json.hpp"

#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flopwatt/base/check.hpp"
#include "flopwatt/io/text_encoding.hpp"

namespace flopwatt::io {
namespace {

// Hands the text to nlohmann's lexer byte by byte and tells how far it has read, which its event interface does not.
class TrackingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackingIterator(const char* at, const char** progress) : at_{at}, progress_{progress} {}
  reference operator*() const { return *at_; }
  TrackingIterator& operator++() {
    *progress_ = ++at_;
    return *this;
  }
  TrackingIterator operator++(int) {
    TrackingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const TrackingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TrackingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** progress_;
};

// NaN, Infinity and -Infinity outside strings become strings of the same length ("N", "nfinit", "Infinit"), so that
// every offset stays; the builder sees from the original text that they are none.  Empty when there is nothing to do.
std::string quote_nonfinite_literals(std::string_view text) {
  std::string changed;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c != 'N' && c != 'I' && c != '-') continue;
    for (const std::string_view literal : {"NaN", "Infinity", "-Infinity"}) {
      if (!text.substr(i).starts_with(literal)) continue;
      if (changed.empty()) changed = text;
      changed[i] = changed[i + literal.size() - 1] = '"';
      i += literal.size() - 1;
      break;
    }
  }
  return changed;
}

// Builds the document from the parser's events.  Every handler returns false to stop at the first error.
class Builder {
 public:
  Builder(std::string_view text, std::string_view where, const JsonOptions& options, const char* const* progress,
          const char* begin)
      : text_{text}, where_{where}, options_{options}, progress_{progress}, begin_{begin} {}

  Result<Json> finish(bool parsed) && {
    if (error_) return fail(std::move(*error_));
    FLOPWATT_CHECK(parsed && open_.empty());
    return Result<Json>{tl::in_place, std::move(root_)};
  }

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(Json::number_integer_t value) { return add(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return add(value); }
  bool number_float(Json::number_float_t value, const std::string& token) {
    if (token.find_first_of(".eE") == std::string::npos) {
      return stop_at(number_start(), fmt::format("integer {} is beyond 64 bits", base::excerpt(token, 40)),
                     "check the number");
    }
    // An underflow to zero would be a silently wrong number.
    if (value == 0.0 && token.find_first_of("123456789") < token.find_first_of("eE")) {
      return stop_at(number_start(), fmt::format("number {} is too small for a double", base::excerpt(token, 40)),
                     "check the number");
    }
    return add(value);
  }
  bool string(Json::string_t& value) {
    if (const std::size_t at = token_end() - 1; text_[at] != '"') {
      if (options_.nonfinite_numbers) return add(nonfinite(literal()));
      return stop_at(string_start(), fmt::format("{} is not a JSON number", literal()),
                     "write null where there is no value");
    }
    return add(std::move(value));
  }
  bool binary(Json::binary_t&) { return false; }  // never happens in text

  bool start_object(std::size_t) { return open(Json::value_t::object); }
  bool start_array(std::size_t) { return open(Json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(Json::string_t& name) {
    if (text_[token_end() - 1] != '"')
      return stop_at(string_start(), fmt::format("{} is not a key", literal()), "put the key in quotes");
    Frame& frame = open_.back();
    if (is_duplicate(frame, name)) {
      return stop_at(string_start(), fmt::format("key \"{}\" appears twice in one object", base::excerpt(name, 40)),
                     "keep the one that is meant");
    }
    // Past ordered_map::emplace, which would search the whole object again.
    auto& object = *frame.value->get_ptr<Json::object_t*>();
    static_cast<Json::object_t::Container&>(object).emplace_back(std::move(name), nullptr);
    frame.slot = &object.back().second;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    const std::size_t at = position > 0 ? position - 1 : 0;
    if (position >= text_.size() && ends_early(text_, error.what())) {
      return stop_at(text_.size(), "the JSON ends early", "the file seems cut short: get it again");
    }
    if (text_[at < text_.size() ? at : text_.size() - 1] == '\0')
      return stop_at(at, "a NUL byte is no JSON", "this is not a text file");
    std::string reason{error.what()};
    if (error.id == 406) {
      return stop_at(number_start(), "number is too large for a double", "check the number");
    }
    if (const std::size_t dash = reason.find(" - "); dash != std::string::npos) reason.erase(0, dash + 3);
    for (std::size_t semicolon = 0; (semicolon = reason.find(';', semicolon)) != std::string::npos;)
      reason[semicolon] = ',';
    return stop_at(at, "not valid JSON: " + base::excerpt(reason, 160), "correct the file");
  }

 private:
  struct Frame {
    Json* value;
    Json* slot = nullptr;                  // where the value of the last key goes
    std::unordered_set<std::string> keys;  // filled for large objects only
  };
  static constexpr std::size_t kSmallObject = 16;

  // Of an error that was met at the end of the text: would more text have mended it?
  static bool ends_early(std::string_view text, std::string_view reason) {
    for (const std::string_view sign : {"unexpected end of input", "missing closing quote", "after backslash",
                                        "invalid number", "must be followed by"}) {
      if (reason.find(sign) != std::string_view::npos) return true;
    }
    const std::string_view word = text.substr(text.find_last_of(" \t\r\n:,[{") + 1);
    for (const std::string_view name : {"true", "false", "null", "NaN", "Infinity", "-Infinity"}) {
      if (!word.empty() && name.starts_with(word)) return true;
    }
    return false;
  }

  static bool is_duplicate(Frame& frame, const std::string& name) {
    const auto& object = *frame.value->get_ptr<Json::object_t*>();
    if (object.size() < kSmallObject) {
      for (const auto& [key, value] : object) {
        if (key == name) return true;
      }
      return false;
    }
    if (frame.keys.empty()) {
      for (const auto& [key, value] : object) frame.keys.insert(key);
    }
    return !frame.keys.insert(name).second;
  }

  template <class T>
  bool add(T&& value) {
    place(Json(std::forward<T>(value)));
    return true;
  }
  // Puts a value where the document is open; the address holds until the container that it is in grows again.
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Frame& frame = open_.back();
    if (frame.slot != nullptr) {
      *frame.slot = std::move(value);
      return std::exchange(frame.slot, nullptr);
    }
    auto& array = *frame.value->get_ptr<Json::array_t*>();
    array.push_back(std::move(value));
    return &array.back();
  }
  bool open(Json::value_t type) {
    if (open_.size() >= static_cast<std::size_t>(options_.max_depth)) {
      return stop_at(token_end() - 1, fmt::format("nested deeper than {} levels", options_.max_depth),
                     "this is not the file that is meant");
    }
    open_.push_back(Frame{place(Json(type)), nullptr, {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  [[nodiscard]] std::size_t token_end() const { return static_cast<std::size_t>(*progress_ - begin_); }
  // The lexer reads one byte beyond a number, unless the text ends there.
  [[nodiscard]] std::size_t number_start() const {
    constexpr std::string_view kNumber = "+-.0123456789eE";
    std::size_t at = token_end();
    if (at > 0 && kNumber.find(text_[at - 1]) == std::string_view::npos) --at;
    while (at > 0 && kNumber.find(text_[at - 1]) != std::string_view::npos) --at;
    return at;
  }
  // From the closing quote back to the first quote that is not escaped; from the end of a bare literal to its start.
  [[nodiscard]] std::size_t string_start() const {
    std::size_t at = token_end() - 1;
    if (text_[at] != '"') return at + 1 - literal().size();
    while (at > 0) {
      --at;
      if (text_[at] != '"') continue;
      std::size_t backslashes = 0;
      while (backslashes < at && text_[at - 1 - backslashes] == '\\') ++backslashes;
      if (backslashes % 2 == 0) break;
    }
    return at;
  }
  [[nodiscard]] std::string_view literal() const {
    const std::string_view read = text_.substr(0, token_end());
    for (const std::string_view name : {"-Infinity", "Infinity", "NaN"}) {
      if (read.ends_with(name)) return name;
    }
    return "literal";
  }
  static double nonfinite(std::string_view name) {
    using Limits = std::numeric_limits<double>;
    if (name == "NaN") return Limits::quiet_NaN();
    return name == "Infinity" ? Limits::infinity() : -Limits::infinity();
  }

  bool stop_at(std::size_t offset, std::string what, std::string remedy) {
    error_ = Error{Errc::bad_data, std::move(what), place_of(where_, text_, offset), std::move(remedy)};
    return false;
  }

  std::string_view text_;
  std::string_view where_;
  const JsonOptions& options_;
  const char* const* progress_;
  const char* begin_;
  Json root_;
  std::vector<Frame> open_;
  std::optional<Error> error_;
};

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view where, const JsonOptions& options) {
  if (text.size() > options.max_bytes) {
    return fail(Errc::bad_data,
                fmt::format("{} bytes are too many for this kind of file (at most {})", text.size(), options.max_bytes),
                std::string{where}, "this is not the file that is meant");
  }
  std::string storage;
  FLOPWATT_TRY(const std::string_view decoded, decode_text(text, where, storage));
  if (decoded.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return fail(Errc::bad_data, decoded.empty() ? "the file is empty" : "the file holds only blanks",
                std::string{where}, "give a JSON file");
  }
  const std::string quoted = quote_nonfinite_literals(decoded);
  const std::string_view input = quoted.empty() ? decoded : std::string_view{quoted};
  const char* progress = input.data();
  Builder builder{decoded, where, options, &progress, input.data()};
  const bool parsed = Json::sax_parse(TrackingIterator{input.data(), &progress},
                                      TrackingIterator{input.data() + input.size(), &progress}, &builder);
  return std::move(builder).finish(parsed);
}

}  // namespace flopwatt::io
