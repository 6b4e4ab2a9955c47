#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "flopwatt/audit/subject.hpp"
#include "flopwatt/base/counted.hpp"
#include "flopwatt/stats/error_metrics.hpp"
#include "flopwatt/stats/ols.hpp"

/// Other sensors: utilisation, the external meter, and drift with temperature and time.

namespace flopwatt::audit {
namespace {

using Observations = std::vector<const dataset::Observation*>;

constexpr std::size_t kEnoughRows = 20;
/// Means of a real utilisation over a run stand at exactly 0 or 100 % in a few rows at most.
constexpr double kBinaryShare = 0.8;
/// A meter of the same machine follows the device: R² above 0.9 in the public study where it does, below 0.1 where not.
constexpr double kFollows = 0.5;
/// Drift counts where it is certain (|t|) and moves power by more than sensors can tell.
constexpr double kCertain = 4;
constexpr double kDriftShare = 0.02;

void check_utilization(const Subject& subject, Findings& findings) {
  Observations rows;
  std::size_t with = 0;
  for (const Row& row : subject.rows) {
    const auto& utilization = row.observation->gpu_utilization;
    if (!utilization) continue;
    ++with;
    if (*utilization == 0 || *utilization == 1) rows.push_back(row.observation);
  }
  if (with < kEnoughRows || static_cast<double>(rows.size()) < kBinaryShare * static_cast<double>(with)) return;
  findings.add(
      "utilization_binary", Severity::warning, rows,
      {{"rows_at_0_or_100_pct", static_cast<double>(rows.size())},
       {"rows_with_utilization", static_cast<double>(with)}},
      fmt::format("GPU utilisation is exactly 0 or 100 % in {} of {} rows: a busy flag, no measure", rows.size(), with),
      "do not regress on it, nor pool it with devices that measure it");
}

void check_meter(const Subject& subject, Findings& findings) {
  std::vector<double> device, meter;
  Observations rows, below;
  for (const Row& row : subject.rows) {
    const dataset::Observation& seen = *row.observation;
    if (!seen.power || !seen.meter_active_power) continue;
    device.push_back(seen.power->in(units::watt));
    meter.push_back(seen.meter_active_power->in(units::watt));
    rows.push_back(&seen);
    if (*seen.meter_active_power < *seen.power) below.push_back(&seen);
  }
  if (rows.size() < kEnoughRows) return;
  const double spread = stats::sd(device).value_or(0) / stats::mean(device).value_or(1);
  if (spread < kDriftShare) return;  // the device did the same all the time: nothing to follow
  const auto line = stats::fit_simple_ols(device, meter);
  const double r2 = line && line->r2 ? *line->r2 : 0;
  if (r2 < kFollows) {
    findings.add("meter_does_not_follow", Severity::warning, rows, {{"r2", r2}, {"device_power_sd_over_mean", spread}},
                 fmt::format("the external meter does not follow the device's power (R² {:.2f}): another machine, or "
                             "another clock",
                             r2),
                 "leave the meter out, or align its clock and check its plug");
  } else if (!below.empty()) {
    findings.add("meter_below_device", Severity::error, below, {{"rows", static_cast<double>(below.size())}},
                 fmt::format("in {} the machine draws less than its device", base::counted(below.size(), "row")),
                 "check unit and scope of the meter");
  }
}

/// Relative deviation of power from its configuration's mean, against the deviation of another quantity.
void check_drift(const Subject& subject, std::string_view code, std::string_view what, std::string_view unit,
                 std::optional<double> (*quantity)(const dataset::Observation&), Findings& findings) {
  struct Mean {
    double x = 0, y = 0;
    std::size_t n = 0;
  };
  std::vector<Mean> means(subject.configurations);
  for (const Row& row : subject.rows) {
    const auto x = quantity(*row.observation);
    if (!x || !row.observation->power) continue;
    Mean& mean = means[row.configuration];
    mean.x += *x;
    mean.y += row.observation->power->in(units::watt);
    ++mean.n;
  }
  std::vector<double> x, y;
  Observations rows;
  for (const Row& row : subject.rows) {
    const auto value = quantity(*row.observation);
    const Mean& mean = means[row.configuration];
    if (!value || !row.observation->power || mean.n < 2) continue;
    const auto n = static_cast<double>(mean.n);
    x.push_back(*value - mean.x / n);
    y.push_back(row.observation->power->in(units::watt) / (mean.y / n) - 1);
    rows.push_back(row.observation);
  }
  if (rows.size() < kEnoughRows) return;
  const auto line = stats::fit_simple_ols(x, y);
  if (!line || !(line->slope_se > 0)) return;
  const double effect = std::abs(line->slope) * 2 * stats::sd(x).value_or(0);
  if (std::abs(line->slope / line->slope_se) < kCertain || effect < kDriftShare) return;
  findings.add(
      code, Severity::warning, rows,
      {{"power_change_per_unit", line->slope}, {"unit", std::string{unit}}, {"t", line->slope / line->slope_se}},
      fmt::format("between repeats of one configuration power moves with {}: {:+.2f} % per {}", what, 100 * line->slope,
                  unit),
      "warm the device up before sampling, and interleave the repeats");
}

}  // namespace

void check_sensors(const Subject& subject, Findings& findings) {
  check_utilization(subject, findings);
  check_meter(subject, findings);
  check_drift(
      subject, "drift_temperature", "temperature", "kelvin",
      [](const dataset::Observation& row) { return row.temperature_celsius; }, findings);
  check_drift(
      subject, "drift_time", "the order of the rows", "row",
      [](const dataset::Observation& row) -> std::optional<double> { return static_cast<double>(row.line); }, findings);
}

}  // namespace flopwatt::audit
