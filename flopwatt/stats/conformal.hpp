#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "flopwatt/base/result.hpp"

/// Split-conformal prediction intervals: from scores of held-out observations (errors of predictions that did not see
/// them), a bound that the score of a new observation stays under with at least the stated probability, whatever its
/// distribution, as long as it is exchangeable with the held-out ones (Vovk, Gammerman and Shafer 2005; Lei et al.
/// 2018).
///
/// A bound that the sample is too small to give is absent, never a large number: n scores bound a new one at a level up
/// to n / (n + 1), so 90 % needs 9 scores and 95 % needs 19.
namespace flopwatt::stats {

/// How repeats of a configuration count.  They resemble each other, so they are not exchangeable one by one; whole
/// groups are.
enum class GroupScores {
  /// Each group weighs the same, each row an equal part of its group; the bound is the quantile of that weighted sample
  /// plus one unit group at infinity.  Holds for one new row of a new group, and is the tightest of the rules that do
  /// (Lee, Barber and Willett 2023, "Distribution-free inference with hierarchical data").  With groups of one row it
  /// is
  /// the ordinary split-conformal quantile.
  pooled,
  /// One score per group, its largest.  Holds for all rows of a new group of the same size at once, and so for one row
  /// with room to spare.  (The mean of a group would not do: a single row strays farther than a mean.)
  largest,
};

/// The ⌈(n + 1) level⌉-th smallest of n scores; absent where that exceeds n.  Errc::bad_data for scores that are empty
/// or not finite, Errc::usage for a level outside (0, 1).
[[nodiscard]] Result<std::optional<double>> conformal_bound(std::span<const double> scores, double level);

/// The same for scores in groups (any numbers, one per row).
[[nodiscard]] Result<std::optional<double>> conformal_bound(std::span<const double> scores,
                                                            std::span<const std::size_t> group_of_row, double level,
                                                            GroupScores rule = GroupScores::pooled);

/// Offsets to a prediction, in the units of the errors (absolute or relative); absent where unbounded.
struct ConformalInterval {
  std::optional<double> lower;  ///< usually negative
  std::optional<double> upper;
  std::size_t groups = 0;  ///< how many groups it rests on
};

/// Prediction ± the bound of |error|.  `errors` are measured - predicted, in watts or as a fraction of the prediction.
[[nodiscard]] Result<ConformalInterval> symmetric_interval(std::span<const double> errors,
                                                           std::span<const std::size_t> group_of_row, double level,
                                                           GroupScores rule = GroupScores::pooled);

/// Each side bounded on its own at (1 + level) / 2, for errors that lean to one side (Romano, Patterson and Candès
/// 2019, theorem 2).  Needs twice as many groups as the symmetric one: 19 for 90 %.
[[nodiscard]] Result<ConformalInterval> asymmetric_interval(std::span<const double> errors,
                                                            std::span<const std::size_t> group_of_row, double level,
                                                            GroupScores rule = GroupScores::pooled);

/// The fewest groups that give a finite bound at `level`: the least n with ⌈(n + 1) level⌉ ≤ n.
[[nodiscard]] Result<std::size_t> groups_needed(double level);

}  // namespace flopwatt::stats
