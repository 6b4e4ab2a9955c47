#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flopwatt/audit/subject.hpp"
#include "flopwatt/base/counted.hpp"
#include "flopwatt/stats/error_metrics.hpp"

/// Values that cannot be, and values in another unit than their column says.

namespace flopwatt::audit {
namespace {

using Observations = std::vector<const dataset::Observation*>;

/// Of the board limit: a thousand times too much is far beyond any node, a thousandth far below any idle board.
constexpr double kMilliAbove = 50;
constexpr double kKiloBelow = 0.02;

std::string impossible(const dataset::Observation& row) {
  if (row.power && !(*row.power > units::Power{})) return "power";
  if (row.tokens_per_second && !(*row.tokens_per_second > units::TokenRate{})) return "tokens per second";
  if (row.mfu && !(*row.mfu >= 0)) return "MFU";
  if (row.sequence && !(*row.sequence >= 1)) return "sequence length";
  if (row.batch && !(*row.batch >= 1)) return "batch size";
  for (const auto& utilization : {row.gpu_utilization, row.memory_utilization}) {
    if (utilization && !(*utilization >= 0 && *utilization <= 1.0001)) return "utilisation";
  }
  // Silicon throttles near 100 °C and boards do not run below freezing.
  if (row.temperature_celsius && !(*row.temperature_celsius > -20 && *row.temperature_celsius < 130)) {
    return "temperature";
  }
  return {};
}

std::optional<double> median_watts(const Subject& subject) {
  std::vector<double> watts;
  for (const Row& row : subject.rows) {
    if (row.observation->power) watts.push_back(row.observation->power->in(units::watt));
  }
  const auto median = stats::median(watts);
  if (!median) return std::nullopt;
  return *median;
}

Observations all_rows(const Subject& subject) {
  Observations rows;
  for (const Row& row : subject.rows) rows.push_back(row.observation);
  return rows;
}

void check_power_unit(const Subject& subject, Findings& findings) {
  const auto median = median_watts(subject);
  if (!median || !subject.limit) return;
  const double limit = subject.limit->in(units::watt);
  const bool milli = *median > kMilliAbove * limit;
  if (!milli && !(*median > 0 && *median < kKiloBelow * limit)) return;
  findings.add(milli ? "unit_milliwatts" : "unit_kilowatts", Severity::error, all_rows(subject),
               {{"median_power_as_read_watts", *median}, {"limit_watts", limit}},
               fmt::format("the median power reads {:.4g} W on a board of {:.0f} W: the column is in {}", *median,
                           limit, milli ? "milliwatts" : "kilowatts"),
               milli ? "divide the column by 1000" : "multiply the column by 1000");
}

}  // namespace

void check_values(const Subject& subject, Findings& findings) {
  Observations rows;
  std::string first;
  for (const Row& row : subject.rows) {
    const std::string what = impossible(*row.observation);
    if (what.empty()) continue;
    if (first.empty()) first = what;
    rows.push_back(row.observation);
  }
  if (rows.empty()) return;
  findings.add("impossible_value", Severity::error, rows, {{"first", first}},
               fmt::format("{} a value that cannot be, the first in {}",
                           base::counted(rows.size(), "row holds", "rows hold"), first),
               "correct or leave out these rows");
}

void check_units(const Subject& subject, Findings& findings) {
  check_power_unit(subject, findings);
  // Utilisation and percent: a column of percent never stays at or below one percent while the device works.
  Observations rows;
  double largest = 0;
  for (const Row& row : subject.rows) {
    const auto& utilization = row.observation->gpu_utilization;
    if (!utilization) continue;
    rows.push_back(row.observation);
    largest = std::max(largest, *utilization);
  }
  if (rows.size() >= 10 && largest > 0 && largest <= 0.01) {
    findings.add("unit_fraction_for_percent", Severity::error, rows, {{"largest_utilization", largest}},
                 "GPU utilisation never passes 1 %: the column holds fractions where its name says percent",
                 "multiply the column by 100");
  }
}

}  // namespace flopwatt::audit
