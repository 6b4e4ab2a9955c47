#include "flopwatt/fit/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flopwatt/stats/error_metrics.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::fit {
namespace {

/// Peaks that rows of one dtype imply agree to this much where they were divided by one number.
constexpr double kPeakAgreement = 0.01;

void drop(Selection& selection, std::string_view reason) {
  for (power::DroppedRows& entry : selection.dropped) {
    if (entry.reason == reason) {
      ++entry.rows;
      return;
    }
  }
  selection.dropped.push_back({std::string{reason}, 1});
}

/// Powers and MFUs beyond these are no measurement of a device, whatever the unit; sums of their squares would
/// overflow.
constexpr double kLeastWatts = 1e-3, kMostWatts = 1e6;
constexpr double kMostMfu = 1e6;

/// What a row needs for any fit, or why it lacks it.
std::optional<std::string> unusable(const dataset::Observation& row) {
  if (!row.power) return "no power";
  const double watts = row.power->in(units::watt);
  if (!(watts > 0)) return "power not positive";
  if (watts < kLeastWatts || watts > kMostWatts) return "power not between a milliwatt and a megawatt";
  if (!row.precision) return fmt::format("dtype \"{}\" not known", base::excerpt(row.dtype));
  if (!row.batch || !(*row.batch >= 1)) return "no positive batch size";
  if (*row.batch != std::floor(*row.batch) || *row.batch > 1e15) return "batch size not a whole number";
  return std::nullopt;
}

/// The peak that the recorded MFU of a dtype was divided by: the median over its rows, since each row has the rounding
/// of its means.
Result<power::Peak> recorded_peak(const dataset::Dataset& dataset, units::Precision dtype, Selection& selection) {
  std::vector<double> implied;
  for (const dataset::Observation& row : dataset.rows) {
    if (row.precision != dtype || unusable(row)) continue;
    const auto peak = dataset::implied_peak(row);
    if (peak && std::isfinite(peak->in(units::flop_per_second)) && peak->in(units::flop_per_second) >= 1)
      implied.push_back(peak->in(units::flop_per_second));
  }
  if (implied.empty()) {
    return fail(
        Errc::bad_data,
        fmt::format("the {} rows of {} do not tell what their MFU was divided by (that needs tokens_per_second, "
                    "calflops_total, sequence_length and batch_size)",
                    units::name(dtype), dataset.device),
        dataset.files.front().name, "name the peaks with --peaks catalogue or --peaks FILE");
  }
  FLOPWATT_TRY(const double median, stats::median(implied));
  power::Peak peak;
  peak.dtype = dtype;
  peak.known_by = "recorded";
  peak.rate = median * units::flop_per_second;
  peak.source = fmt::format("counted FLOP/s over recorded MFU, median of {} rows", implied.size());
  const auto [low, high] = std::minmax_element(implied.begin(), implied.end());
  if (*high > *low * (1 + kPeakAgreement)) {
    selection.notes.push_back(fmt::format("the {} rows were not all divided by one peak: they imply {} to {}",
                                          units::name(dtype), units::to_text(*low * units::flop_per_second),
                                          units::to_text(*high * units::flop_per_second)));
  }
  return peak;
}

units::FlopRate fastest(const dataset::Dataset& dataset, units::Precision dtype) {
  units::FlopRate rate;
  for (const dataset::Observation& row : dataset.rows) {
    if (row.precision != dtype || unusable(row)) continue;
    if (const auto achieved = dataset::counted_flop_rate(row); achieved && *achieved > rate) rate = *achieved;
  }
  return rate;
}

Result<power::Peak> peak_of(const dataset::Dataset& dataset, units::Precision dtype, const DeviceFacts& facts,
                            const FitOptions& options, Selection& selection) {
  switch (options.peaks_from) {
    case PeaksFrom::recorded: {
      FLOPWATT_TRY(power::Peak peak, recorded_peak(dataset, dtype, selection));
      explain(peak, facts);
      return peak;
    }
    case PeaksFrom::catalogue:
      return catalogue_peak(facts, dtype);
    case PeaksFrom::audited:
      return executed_peak(facts, dtype, fastest(dataset, dtype));
    case PeaksFrom::file:
      break;
  }
  for (const std::string& name : {dataset.device, facts.name}) {
    if (const auto rate = find_peak(options.peaks, name, dtype)) {
      return power::Peak{dtype, *rate, {}, {}, "file", options.peaks.source};
    }
  }
  return fail(Errc::bad_data, fmt::format("no peak for {} in {}", dataset.device, units::name(dtype)),
              options.peaks.source, "add it to the table");
}

/// The MFU in percent that the options ask for, or why the row has none.
struct Mfu {
  double pct = 0;
  std::string_view why_not;
};
Mfu mfu_of(const dataset::Observation& row, const power::Peak& peak, PeaksFrom from) {
  if (from == PeaksFrom::recorded) {
    if (!row.mfu) return {0, "no MFU recorded"};
    if (!(*row.mfu > 0)) return {0, "MFU not positive"};
    if (*row.mfu > kMostMfu) return {0, "MFU above a million"};
    return {100 * *row.mfu, {}};
  }
  const auto rate = dataset::counted_flop_rate(row);
  if (!rate) return {0, "no FLOP rate (tokens per second, counted FLOPs, batch or sequence missing)"};
  const double mfu = *rate / peak.rate;
  if (!(mfu <= kMostMfu)) return {0, "MFU above a million"};
  return {100 * mfu, {}};
}

}  // namespace

Result<Selection> select(const dataset::Dataset& dataset, const DeviceFacts& facts, const FitOptions& options) {
  Selection selection;
  const dataset::Groups groups = dataset::configurations(dataset.rows);

  std::map<units::Precision, power::Peak> peaks;
  for (const dataset::Observation& row : dataset.rows) {
    if (unusable(row) || peaks.contains(*row.precision)) continue;
    if (options.peaks_from == PeaksFrom::recorded && !row.mfu) continue;
    FLOPWATT_TRY(peaks[*row.precision], peak_of(dataset, *row.precision, facts, options, selection));
  }
  for (const auto& [dtype, peak] : peaks) selection.peaks.push_back(peak);

  for (std::size_t i = 0; i < dataset.idle.size(); ++i) drop(selection, "idle row (baseline)");
  for (const dataset::Dropped& entry : dataset.dropped) {
    for (std::size_t i = 0; i < entry.lines.size(); ++i) drop(selection, entry.reason);
  }
  for (std::size_t i = 0; i < dataset.rows.size(); ++i) {
    const dataset::Observation& row = dataset.rows[i];
    if (const auto why = unusable(row)) {
      drop(selection, *why);
      continue;
    }
    Sample sample{.observation = &row,
                  .configuration = groups.of_row[i],
                  .dtype = *row.precision,
                  .batch = static_cast<std::int64_t>(*row.batch),
                  .mfu_pct = 0,
                  .power_watts = row.power->in(units::watt)};
    const auto peak = peaks.find(*row.precision);
    const Mfu mfu = peak == peaks.end() ? Mfu{0, "no MFU recorded"} : mfu_of(row, peak->second, options.peaks_from);
    if (mfu.why_not.empty()) {
      sample.mfu_pct = mfu.pct;
      selection.samples.push_back(sample);
    } else {
      drop(selection, mfu.why_not);
    }
    selection.usable.push_back(sample);
  }
  return selection;
}

}  // namespace flopwatt::fit
