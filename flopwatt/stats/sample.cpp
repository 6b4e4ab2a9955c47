#include "flopwatt/stats/sample.hpp"

#include <fmt/format.h>

#include <cmath>

namespace flopwatt::stats {

Result<void> require_finite(std::span<const double> values, std::string_view name) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return fail(Errc::bad_data, fmt::format("{}[{}] is {}, not a finite number", name, i, values[i]), "",
                  "drop or repair the row");
    }
  }
  return {};
}

Result<void> require_same_length(std::size_t a, std::string_view a_name, std::size_t b, std::string_view b_name) {
  if (a != b) {
    return fail(Errc::bad_data, fmt::format("{} has {} values, {} has {}", a_name, a, b_name, b), "",
                "give one value of each per row");
  }
  return {};
}

Result<void> require_level(double level) {
  if (!(level > 0 && level < 1)) {
    return fail(Errc::usage, fmt::format("level {} is not between 0 and 1", level), "level", "use a level such as 0.9");
  }
  return {};
}

}  // namespace flopwatt::stats
