#pragma once

#include "flopwatt/base/result.hpp"

namespace flopwatt::stats {

/// t with P(T <= t) = `probability` for Student's distribution with `degrees_of_freedom` > 0 (need not be whole).
/// Errc::usage when the probability is not inside (0, 1) or the degrees of freedom are not positive and finite.
[[nodiscard]] Result<double> students_t_quantile(double probability, double degrees_of_freedom);

/// The factor on a standard error that gives a two-sided interval at `level`: the (1 + level) / 2 quantile.
[[nodiscard]] Result<double> students_t_factor(double level, double degrees_of_freedom);

}  // namespace flopwatt::stats
