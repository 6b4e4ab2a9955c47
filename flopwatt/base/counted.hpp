#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace flopwatt::base {

/// The noun (or noun and verb) that goes with a number: "run" with 1, "runs" with any other; `many` where an s does not
/// make it: noun(n, "row draws", "rows draw").
template <std::integral Number>
[[nodiscard]] std::string noun(Number n, std::string_view one, std::string_view many = {}) {
  if (n == 1) return std::string{one};
  return many.empty() ? std::string{one} + 's' : std::string{many};
}

/// "1 run", "2 runs".
template <std::integral Number>
[[nodiscard]] std::string counted(Number n, std::string_view one, std::string_view many = {}) {
  return std::to_string(n) + ' ' + noun(n, one, many);
}

}  // namespace flopwatt::base
