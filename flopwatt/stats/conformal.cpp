#include "flopwatt/stats/conformal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flopwatt/stats/sample.hpp"

namespace flopwatt::stats {
namespace {

// Levels such as 0.9 are not exact in binary: (9 + 1) · 0.9 must count as 9, not as a hair more.
constexpr double kRounding = 1e-9;

std::size_t rank_of(std::size_t n, double level) {
  return static_cast<std::size_t>(std::ceil(static_cast<double>(n + 1) * level - kRounding));
}

Result<void> require_scores(std::span<const double> scores, double level) {
  FLOPWATT_TRY_VOID(require_level(level));
  if (scores.empty()) return fail(Errc::bad_data, "no held-out errors to bound new ones with");
  return require_finite(scores, "score");
}

std::optional<double> bound_of(std::vector<double> scores, double level) {
  const std::size_t rank = std::max<std::size_t>(1, rank_of(scores.size(), level));
  if (rank > scores.size()) return std::nullopt;
  const auto at = scores.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(scores.begin(), at, scores.end());
  return *at;
}

std::optional<double> pooled_bound(std::span<const double> scores, std::span<const std::size_t> group_of_row,
                                   double level) {
  std::unordered_map<std::size_t, std::size_t> sizes;
  for (const std::size_t group : group_of_row) ++sizes[group];
  std::vector<std::pair<double, double>> weighted;  // score, weight in groups
  for (std::size_t i = 0; i < scores.size(); ++i) {
    weighted.emplace_back(scores[i], 1 / static_cast<double>(sizes[group_of_row[i]]));
  }
  std::sort(weighted.begin(), weighted.end());
  const double wanted = static_cast<double>(sizes.size() + 1) * level - kRounding;
  double reached = 0;
  for (const auto& [score, weight] : weighted) {
    reached += weight;
    if (reached >= wanted) return score;
  }
  return std::nullopt;
}

std::vector<double> largest_of_groups(std::span<const double> scores, std::span<const std::size_t> group_of_row) {
  std::unordered_map<std::size_t, std::size_t> at;
  std::vector<double> largest;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const auto [entry, is_new] = at.try_emplace(group_of_row[i], largest.size());
    if (is_new) {
      largest.push_back(scores[i]);
    } else {
      largest[entry->second] = std::max(largest[entry->second], scores[i]);
    }
  }
  return largest;
}

std::size_t count_groups(std::span<const std::size_t> group_of_row) {
  std::vector<std::size_t> groups(group_of_row.begin(), group_of_row.end());
  std::sort(groups.begin(), groups.end());
  return static_cast<std::size_t>(std::unique(groups.begin(), groups.end()) - groups.begin());
}

}  // namespace

Result<std::optional<double>> conformal_bound(std::span<const double> scores, double level) {
  FLOPWATT_TRY_VOID(require_scores(scores, level));
  return bound_of({scores.begin(), scores.end()}, level);
}

Result<std::optional<double>> conformal_bound(std::span<const double> scores, std::span<const std::size_t> group_of_row,
                                              double level, GroupScores rule) {
  FLOPWATT_TRY_VOID(require_scores(scores, level));
  FLOPWATT_TRY_VOID(require_same_length(scores.size(), "score", group_of_row.size(), "group"));
  if (rule == GroupScores::largest) return bound_of(largest_of_groups(scores, group_of_row), level);
  return pooled_bound(scores, group_of_row, level);
}

Result<ConformalInterval> symmetric_interval(std::span<const double> errors, std::span<const std::size_t> group_of_row,
                                             double level, GroupScores rule) {
  std::vector<double> scores(errors.begin(), errors.end());
  for (double& score : scores) score = std::abs(score);
  FLOPWATT_TRY(const auto bound, conformal_bound(scores, group_of_row, level, rule));
  ConformalInterval interval;
  interval.groups = count_groups(group_of_row);
  interval.upper = bound;
  if (bound) interval.lower = -*bound;
  return interval;
}

Result<ConformalInterval> asymmetric_interval(std::span<const double> errors, std::span<const std::size_t> group_of_row,
                                              double level, GroupScores rule) {
  FLOPWATT_TRY_VOID(require_level(level));
  const double side = (1 + level) / 2;
  std::vector<double> scores(errors.begin(), errors.end());
  ConformalInterval interval;
  interval.groups = count_groups(group_of_row);
  FLOPWATT_TRY(interval.upper, conformal_bound(scores, group_of_row, side, rule));
  for (double& score : scores) score = -score;
  FLOPWATT_TRY(const auto below, conformal_bound(scores, group_of_row, side, rule));
  if (below) interval.lower = -*below;
  return interval;
}

Result<std::size_t> groups_needed(double level) {
  FLOPWATT_TRY_VOID(require_level(level));
  // ⌈(n + 1) level⌉ ≤ n  ⇔  n ≥ level / (1 - level)
  auto n = static_cast<std::size_t>(std::max(0.0, std::floor(level / (1 - level)) - 1));
  while (n < 1 || rank_of(n, level) > n) ++n;
  return n;
}

}  // namespace flopwatt::stats
