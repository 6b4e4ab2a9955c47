#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "flopwatt/audit/subject.hpp"
#include "flopwatt/base/counted.hpp"
#include "flopwatt/stats/error_metrics.hpp"
#include "flopwatt/units/text.hpp"

/// Power that no board can draw, or that no sensor measured.

namespace flopwatt::audit {
namespace {

using Observations = std::vector<const dataset::Observation*>;

/// A regulator holds the mean within a percent or two of the limit.
constexpr double kOverLimit = 1.02;
/// Beyond this a reading is of something larger than the board: hosts and modules draw at least half as much again.
constexpr double kOtherScope = 1.5;
/// Sensors are good to about five percent (NVML's stated accuracy), so that only less is impossible under load.
constexpr double kUnderIdle = 0.95;
/// A board at its limit is a plateau: the busiest tenth of the rows within this of each other.
constexpr double kPlateau = 0.05;
/// Of the rows, with one reading although the work differs: a sensor that does not move.
constexpr double kStuckShare = 0.3;
constexpr std::size_t kStuckRows = 8;
/// Steps this coarse, relative to the mean, hide what fits resolve.
constexpr double kCoarse = 0.02;

struct Reading {
  const dataset::Observation* row;
  double watts;
};

std::vector<Reading> readings(const Subject& subject) {
  std::vector<Reading> out;
  for (const Row& row : subject.rows) {
    if (row.observation->power && *row.observation->power > units::Power{}) {
      out.push_back({row.observation, row.observation->power->in(units::watt)});
    }
  }
  return out;
}

void check_limit(const Subject& subject, std::vector<Reading> all, Findings& findings) {
  if (!subject.limit || all.empty()) return;
  const double limit = subject.limit->in(units::watt);
  Observations over, other_scope;
  double highest = 0;
  for (const Reading& reading : all) {
    if (reading.watts > kOtherScope * limit) {
      other_scope.push_back(reading.row);
    } else if (reading.watts > kOverLimit * limit) {
      over.push_back(reading.row);
    }
    highest = std::max(highest, reading.watts);
  }
  if (!other_scope.empty()) {
    findings.add(
        "power_scope", Severity::error, other_scope, {{"highest_power_watts", highest}, {"limit_watts", limit}},
        fmt::format("{} up to {:.0f} W, {:.1f} times the board limit of {:.0f} W: not this board alone",
                    base::counted(other_scope.size(), "row draws", "rows draw"), highest, highest / limit, limit),
        "read the board's own sensor, or say which module or node this is");
  }
  if (over.empty()) return;
  findings.add("power_above_limit", Severity::warning, over, {{"highest_power_watts", highest}, {"limit_watts", limit}},
               fmt::format("{} more than the board limit of {:.0f} W, up to {:.0f} W",
                           base::counted(over.size(), "row draws", "rows draw"), limit, highest),
               "check the variant and its limit, and that energy and time are of one window");

  // Rows at a plateau above the limit: the board was at its limit, and the energy was divided by too short a time.
  std::sort(all.begin(), all.end(), [](const Reading& a, const Reading& b) { return a.watts > b.watts; });
  const std::size_t top = std::max<std::size_t>(5, all.size() / 10);
  if (all.size() < 2 * top) return;
  const double plateau = all[top / 2].watts;
  if (all[0].watts - all[top - 1].watts > kPlateau * plateau || plateau < kOverLimit * limit) return;
  Observations rows;
  for (std::size_t i = 0; i < top; ++i) rows.push_back(all[i].row);
  findings.add(
      "power_window", Severity::warning, rows,
      {{"plateau_watts", plateau}, {"limit_watts", limit}, {"plateau_over_limit", plateau / limit}},
      fmt::format("the busiest rows level off at {:.0f} W, {:.1f} % above the limit, as if energy were divided by "
                  "less time than it was drawn in",
                  plateau, 100 * (plateau / limit - 1)),
      "divide energy by the wall time of its own window");
}

void check_idle(const Subject& subject, const std::vector<Reading>& all, Findings& findings) {
  if (!subject.idle) return;
  const double idle = subject.idle->in(units::watt);
  Observations rows;
  double lowest = idle;
  for (const Reading& reading : all) {
    if (reading.watts >= kUnderIdle * idle) continue;
    rows.push_back(reading.row);
    lowest = std::min(lowest, reading.watts);
  }
  if (rows.empty()) return;
  findings.add("power_below_idle", Severity::error, rows, {{"lowest_power_watts", lowest}, {"idle_watts", idle}},
               fmt::format("{} less than the idle device ({:.1f} W), down to {:.1f} W",
                           base::counted(rows.size(), "row draws", "rows draw"), idle, lowest),
               "check which device and which sensor both were read from");
}

/// The same reading whatever the device does.
void check_stuck(const std::vector<Reading>& all, Findings& findings) {
  std::map<double, Observations> by_value;
  for (const Reading& reading : all) by_value[reading.watts].push_back(reading.row);
  for (const auto& [watts, rows] : by_value) {
    if (rows.size() < kStuckRows || static_cast<double>(rows.size()) < kStuckShare * static_cast<double>(all.size())) {
      continue;
    }
    std::set<std::pair<std::string, double>> work;
    for (const dataset::Observation* row : rows) work.insert({row->model + row->dtype, row->batch.value_or(0)});
    if (work.size() < 3) continue;
    findings.add("sensor_stuck", Severity::error, rows, {{"power_watts", watts}},
                 fmt::format("{} rows of {} kinds of work read exactly {:g} W", rows.size(), work.size(), watts),
                 "the sensor did not update: leave these rows out");
    return;
  }
  // Coarse steps: few values, evenly spaced.
  if (all.size() < 20 || by_value.size() < 2) return;
  double step = 0;
  for (auto it = std::next(by_value.begin()); it != by_value.end(); ++it) {
    const double gap = it->first - std::prev(it)->first;
    step = step == 0 ? gap : std::min(step, gap);
  }
  const double mean = stats::mean([&] {
                        std::vector<double> watts;
                        for (const Reading& reading : all) watts.push_back(reading.watts);
                        return watts;
                      }())
                          .value_or(0);
  const bool on_grid = std::all_of(by_value.begin(), by_value.end(), [&](const auto& entry) {
    return std::abs(entry.first / step - std::round(entry.first / step)) < 1e-6;
  });
  if (!on_grid || step < kCoarse * mean) return;
  Observations rows;
  for (const Reading& reading : all) rows.push_back(reading.row);
  findings.add("sensor_quantised", Severity::warning, rows, {{"step_watts", step}, {"mean_power_watts", mean}},
               fmt::format("every reading is a multiple of {:g} W, {:.0f} % of the mean", step, 100 * step / mean),
               "average more samples, or read the energy counter");
}

/// A sweep's plan may compute the power from the achieved rates, to try the machinery without a sensor.
void check_synthetic(const Subject& subject, Findings& findings) {
  Observations rows;
  for (const Row& row : subject.rows) {
    if (row.observation->power_source == "synthetic") rows.push_back(row.observation);
  }
  const auto& idle = subject.dataset->idle;
  const bool idle_too = std::any_of(idle.begin(), idle.end(),
                                    [](const dataset::Observation& row) { return row.power_source == "synthetic"; });
  if (rows.empty() && !idle_too) return;
  findings.add("synthetic_power", Severity::warning, rows, {{"power_source", std::string{"synthetic"}}},
               rows.empty() ? std::string{"the idle power is synthetic: computed by a sweep's plan, not measured"}
                            : fmt::format("the power of {} is synthetic: computed by a sweep's plan, not measured",
                                          base::counted(rows.size(), "row")),
               "measure with a sensor: what is fitted to these rows says nothing about the device");
}

}  // namespace

void check_power(const Subject& subject, Findings& findings) {
  const std::vector<Reading> all = readings(subject);
  check_limit(subject, all, findings);
  check_idle(subject, all, findings);
  check_stuck(all, findings);
  check_synthetic(subject, findings);
}

}  // namespace flopwatt::audit
