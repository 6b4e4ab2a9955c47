#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/precision.hpp"

/// Readers of the words of a command line.  Every error is Errc::usage without `where`: the option adds its name.

namespace flopwatt::cli {

/// Sizes beyond this are typing mistakes, not workloads: the longest context and the largest batch in print are below
/// 10^8.
inline constexpr std::int64_t kMaxSize = 1'000'000'000;
/// Tokens of a whole run: the largest in print are below 10^14.
inline constexpr std::int64_t kMaxTokens = 1'000'000'000'000'000'000;

/// Both ends included.
struct WholeRange {
  std::int64_t min = 1, max = kMaxSize;
};
/// A whole number, decimal or in the form 1e9 where that is exact.
[[nodiscard]] Result<std::int64_t> read_whole(std::string_view text, WholeRange range);

/// Numbers x with min < x ≤ max, or min ≤ x where `min_included`.
struct RealRange {
  double min = 0, max = 1e30;
  bool min_included = false;
};
/// A finite decimal number, with a point whatever the locale.
[[nodiscard]] Result<double> read_real(std::string_view text, RealRange range);

/// Whole numbers separated by commas: "1024,1024,2048".
[[nodiscard]] Result<std::vector<std::int64_t>> read_whole_list(std::string_view text, WholeRange range);
/// Words separated by commas; an empty word is an error.
[[nodiscard]] Result<std::vector<std::string>> read_word_list(std::string_view text);

[[nodiscard]] Result<units::Precision> read_precision(std::string_view text);

/// Which of `names` the text is, without case; the error lists them.
[[nodiscard]] Result<std::size_t> read_choice(std::string_view text, std::span<const std::string_view> names);

}  // namespace flopwatt::cli
