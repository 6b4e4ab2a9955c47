#include "flopwatt/stats/cross_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "flopwatt/stats/random.hpp"
#include "flopwatt/stats/sample.hpp"

namespace flopwatt::stats {
namespace {

// Group numbers that have rows, ascending.
std::vector<std::size_t> groups_present(std::span<const std::size_t> group_of_row) {
  std::vector<std::size_t> groups(group_of_row.begin(), group_of_row.end());
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

}  // namespace

GroupIndex index_groups(std::span<const std::string> labels) {
  GroupIndex index;
  std::unordered_map<std::string, std::size_t> known;
  for (const std::string& label : labels) {
    const auto [at, is_new] = known.try_emplace(label, index.names.size());
    if (is_new) index.names.push_back(label);
    index.of_row.push_back(at->second);
  }
  return index;
}

Result<std::vector<Fold>> leave_one_group_out(std::span<const std::size_t> group_of_row) {
  const std::vector<std::size_t> groups = groups_present(group_of_row);
  if (groups.size() < 2) {
    return fail(Errc::bad_data, fmt::format("{} group(s): nothing to leave out and still train on", groups.size()), "",
                "give rows of at least two groups");
  }
  std::vector<Fold> folds;
  for (const std::size_t group : groups) {
    Fold fold;
    fold.group = group;
    for (std::size_t row = 0; row < group_of_row.size(); ++row) {
      (group_of_row[row] == group ? fold.test : fold.train).push_back(row);
    }
    folds.push_back(std::move(fold));
  }
  return folds;
}

Result<std::vector<Fold>> leave_one_group_out(std::span<const std::size_t> group_of_row,
                                              std::span<const std::size_t> unit_of_row) {
  FLOPWATT_TRY_VOID(require_same_length(group_of_row.size(), "group", unit_of_row.size(), "unit"));
  std::unordered_map<std::size_t, std::size_t> first_row_of_unit;
  for (std::size_t row = 0; row < unit_of_row.size(); ++row) {
    const auto [at, is_new] = first_row_of_unit.try_emplace(unit_of_row[row], row);
    if (!is_new && group_of_row[at->second] != group_of_row[row]) {
      return fail(Errc::bad_data, fmt::format("rows {} and {} belong together but lie in two groups", at->second, row),
                  "", "group by something that repeats share");
    }
  }
  return leave_one_group_out(group_of_row);
}

Result<std::vector<Fold>> grouped_k_folds(std::span<const std::size_t> group_of_row, std::size_t folds,
                                          std::uint64_t seed) {
  if (folds < 2) return fail(Errc::usage, fmt::format("{} folds are too few", folds), "", "use at least two");
  std::vector<std::size_t> groups = groups_present(group_of_row);
  if (groups.size() < folds) {
    return fail(Errc::bad_data, fmt::format("{} groups cannot be dealt to {} folds", groups.size(), folds), "",
                "use fewer folds");
  }
  Random random(seed);
  for (std::size_t i = groups.size() - 1; i > 0; --i) {
    std::swap(groups[i], groups[random.below(static_cast<std::uint32_t>(i + 1))]);
  }
  std::unordered_map<std::size_t, std::size_t> fold_of_group;
  for (std::size_t i = 0; i < groups.size(); ++i) fold_of_group[groups[i]] = i % folds;
  std::vector<Fold> result(folds);
  for (std::size_t f = 0; f < folds; ++f) {
    result[f].group = f;
    for (std::size_t row = 0; row < group_of_row.size(); ++row) {
      (fold_of_group[group_of_row[row]] == f ? result[f].test : result[f].train).push_back(row);
    }
  }
  return result;
}

}  // namespace flopwatt::stats
