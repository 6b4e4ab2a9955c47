#include "flopwatt/cli/option_value.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>

#include "flopwatt/cli/suggest.hpp"

namespace flopwatt::cli {
namespace {

/// The whole text as a number, or nothing: no blanks, no '+', no hexadecimal, no locale.
template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> whole_of(std::string_view text) {
  if (const auto whole = number_of<std::int64_t>(text)) return whole;
  const auto real = number_of<double>(text);
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double may not be the number that was written
  if (!real || std::abs(*real) > kExact || std::trunc(*real) != *real) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

Result<std::int64_t> read_whole(std::string_view text, WholeRange range) {
  const auto value = whole_of(text);
  if (!value || *value < range.min || *value > range.max) {
    return fail(Errc::usage,
                fmt::format("'{}' is not a whole number from {} to {}", base::excerpt(text), range.min, range.max));
  }
  return *value;
}

Result<double> read_real(std::string_view text, RealRange range) {
  const auto value = number_of<double>(text);
  const bool above = value && (range.min_included ? *value >= range.min : *value > range.min);
  if (!above || !std::isfinite(*value) || *value > range.max) {
    return fail(Errc::usage, fmt::format("'{}' is not a number {} {:g} and at most {:g}", base::excerpt(text),
                                         range.min_included ? "of at least" : "above", range.min, range.max));
  }
  return *value;
}

Result<std::vector<std::int64_t>> read_whole_list(std::string_view text, WholeRange range) {
  std::vector<std::int64_t> values;
  for (const std::string_view word : split(text)) {
    FLOPWATT_TRY(const std::int64_t value, read_whole(word, range));
    values.push_back(value);
  }
  return values;
}

Result<std::vector<std::string>> read_word_list(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text)) {
    if (word.empty()) return fail(Errc::usage, fmt::format("'{}' has an empty entry", base::excerpt(text)));
    words.emplace_back(word);
  }
  return words;
}

Result<units::Precision> read_precision(std::string_view text) {
  if (const auto precision = units::parse_precision(text)) return *precision;
  std::string known;
  for (const units::Precision precision : units::kPrecisions) {
    known += (known.empty() ? "" : ", ") + std::string{units::name(precision)};
  }
  return fail(Errc::usage, fmt::format("unknown dtype '{}'", base::excerpt(text)), {}, "use one of " + known);
}

Result<std::size_t> read_choice(std::string_view text, std::span<const std::string_view> names) {
  const std::string wanted = lower(text);
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (wanted == names[i]) return i;
    known += (known.empty() ? "" : ", ") + std::string{names[i]};
  }
  return fail(Errc::usage, fmt::format("unknown value '{}'", base::excerpt(text)), {}, "use one of " + known);
}

}  // namespace flopwatt::cli
