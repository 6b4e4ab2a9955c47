#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "flopwatt/base/result.hpp"

namespace flopwatt::stats {

/// Closed interval [lo, hi].
struct Interval {
  double lo = 0;
  double hi = 0;
};

/// Errc::bad_data unless every value is finite; the error names `name` and the index of the first that is not.
[[nodiscard]] Result<void> require_finite(std::span<const double> values, std::string_view name);

/// Errc::bad_data unless the two samples have the same length.
[[nodiscard]] Result<void> require_same_length(std::size_t a, std::string_view a_name, std::size_t b,
                                               std::string_view b_name);

/// Errc::usage unless 0 < level < 1.
[[nodiscard]] Result<void> require_level(double level);

}  // namespace flopwatt::stats
