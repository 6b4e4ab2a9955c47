#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "flopwatt/audit/subject.hpp"
#include "flopwatt/base/counted.hpp"
#include "flopwatt/stats/error_metrics.hpp"

/// Rows that call themselves repeats of one configuration.

namespace flopwatt::audit {
namespace {

using Observations = std::vector<const dataset::Observation*>;

/// Repeats spread this far apart in speed, and this many times further than those of the typical configuration, did not
/// run the same thing.
constexpr double kSpread = 0.25;
constexpr double kTimesTypical = 8;

std::vector<Observations> configurations(const Subject& subject) {
  std::vector<Observations> groups(subject.configurations);
  for (const Row& row : subject.rows) groups[row.configuration].push_back(row.observation);
  return groups;
}

/// Range of tokens/s over its mean.
std::optional<double> spread(const Observations& rows) {
  std::vector<double> speeds;
  for (const dataset::Observation* row : rows) {
    if (row->tokens_per_second) speeds.push_back(row->tokens_per_second->in(units::token_per_second));
  }
  if (speeds.size() < 2) return std::nullopt;
  const auto [low, high] = std::minmax_element(speeds.begin(), speeds.end());
  const double mean = stats::mean(speeds).value_or(0);
  if (!(mean > 0)) return std::nullopt;
  return (*high - *low) / mean;
}

void check_different(const std::vector<Observations>& groups, Findings& findings) {
  std::vector<double> spreads;
  for (const Observations& rows : groups) {
    if (const auto value = spread(rows)) spreads.push_back(*value);
  }
  const auto typical = stats::median(spreads);
  if (!typical) return;
  Observations outliers;
  double widest = 0;
  for (const Observations& rows : groups) {
    const auto value = spread(rows);
    if (!value || *value < kSpread || *value < kTimesTypical * *typical) continue;
    outliers.insert(outliers.end(), rows.begin(), rows.end());
    widest = std::max(widest, *value);
  }
  if (!outliers.empty()) {
    findings.add(
        "repeats_differ", Severity::warning, outliers,
        {{"widest_spread_of_tokens_per_second", widest}, {"typical_spread", *typical}},
        fmt::format("rows that call themselves repeats differ in tokens/s by up to {:.0f} %, {:.1f} % is usual here",
                    100 * widest, 100 * *typical),
        "look for a throttled, shared or differently configured run among them");
  }

  Observations other_work;
  for (const Observations& rows : groups) {
    std::set<std::tuple<std::optional<double>, std::optional<double>>> shapes;
    for (const dataset::Observation* row : rows) shapes.insert({row->sequence, row->layers});
    if (shapes.size() > 1) other_work.insert(other_work.end(), rows.begin(), rows.end());
  }
  if (!other_work.empty()) {
    findings.add("repeats_of_other_work", Severity::error, other_work, {},
                 "rows of one configuration differ in sequence length or number of layers",
                 "name what differs as an axis of its own");
  }
}

void check_same(const std::vector<Observations>& groups, Findings& findings) {
  Observations copies;
  for (const Observations& rows : groups) {
    std::map<std::tuple<double, double, double>, Observations> by_reading;
    for (const dataset::Observation* row : rows) {
      if (!row->power || !row->tokens_per_second || !row->temperature_celsius) continue;
      by_reading[{row->power->in(units::watt), row->tokens_per_second->in(units::token_per_second),
                  *row->temperature_celsius}]
          .push_back(row);
    }
    for (const auto& [reading, same] : by_reading) {
      if (same.size() > 1) copies.insert(copies.end(), same.begin(), same.end());
    }
  }
  if (copies.empty()) return;
  findings.add("repeats_identical", Severity::error, copies, {},
               fmt::format("{} with a repeat in power, speed and temperature to the last digit: one run, "
                           "written twice",
                           base::counted(copies.size(), "row agrees", "rows agree")),
               "keep one of them; they would count as independent measurements");
}

}  // namespace

void check_repeats(const Subject& subject, Findings& findings) {
  const auto groups = configurations(subject);
  check_different(groups, findings);
  check_same(groups, findings);
}

}  // namespace flopwatt::audit
