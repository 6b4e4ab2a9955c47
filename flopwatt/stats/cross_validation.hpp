#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"

/// Folds whose test rows share nothing with their training rows that they should not: rows of one group (the repeats of
/// a configuration, the rows of a model) are always on the same side.
namespace flopwatt::stats {

/// Row labels as numbers 0 … names.size() - 1, in order of first appearance.
struct GroupIndex {
  std::vector<std::size_t> of_row;
  std::vector<std::string> names;
};
[[nodiscard]] GroupIndex index_groups(std::span<const std::string> labels);

/// Row numbers, ascending; together they are all rows, once each.
struct Fold {
  std::size_t group = 0;  ///< which group is left out, or the number of the fold
  std::vector<std::size_t> train;
  std::vector<std::size_t> test;
};

/// One fold per group, in the order of the group numbers: its rows are the test rows, all others train.  Numbers
/// without rows make no fold.  Errc::bad_data for fewer than two groups.
[[nodiscard]] Result<std::vector<Fold>> leave_one_group_out(std::span<const std::size_t> group_of_row);

/// The same, and Errc::bad_data where rows of one unit (rows that must stay together, such as repeats) lie in two
/// groups, so that they would straddle a fold.
[[nodiscard]] Result<std::vector<Fold>> leave_one_group_out(std::span<const std::size_t> group_of_row,
                                                            std::span<const std::size_t> unit_of_row);

/// `folds` folds of whole groups, as even in the number of groups as can be, the groups dealt in an order drawn from
/// `seed`.  Errc::bad_data where there are fewer groups than folds, Errc::usage for fewer than two folds.
[[nodiscard]] Result<std::vector<Fold>> grouped_k_folds(std::span<const std::size_t> group_of_row, std::size_t folds,
                                                        std::uint64_t seed);

}  // namespace flopwatt::stats
