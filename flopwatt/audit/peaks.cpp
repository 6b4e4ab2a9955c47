#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "flopwatt/audit/subject.hpp"
#include "flopwatt/base/counted.hpp"
#include "flopwatt/device/peak.hpp"
#include "flopwatt/stats/error_metrics.hpp"
#include "flopwatt/units/text.hpp"

/// What the recorded MFU was divided by.

namespace flopwatt::audit {
namespace {

using Observations = std::vector<const dataset::Observation*>;

/// Rows that share one exact MFU although their rates differ were cut there.
constexpr std::size_t kClampedRows = 3;

/// One dtype's rows and the denominator that they imply.
struct Denominator {
  Observations rows;
  std::vector<double> implied;  ///< FLOP/s, by row
  double median = 0;
  std::vector<device::PeakMatch> matches;  ///< closest first

  [[nodiscard]] bool matches_path(device::Path path) const {
    return std::any_of(matches.begin(), matches.end(), [&](const auto& match) { return match.peak.path == path; });
  }
};

std::map<units::Precision, Denominator> denominators(const Subject& subject) {
  std::map<units::Precision, Denominator> out;
  for (const Row& row : subject.rows) {
    const dataset::Observation& seen = *row.observation;
    const auto rate = row.rate();
    if (!rate || !seen.mfu || !(*seen.mfu > 0)) continue;
    Denominator& entry = out[*seen.precision];
    entry.rows.push_back(&seen);
    entry.implied.push_back(rate->in(units::flop_per_second) / *seen.mfu);
  }
  for (auto& [precision, entry] : out) {
    entry.median = stats::median(entry.implied).value_or(0);
    if (subject.device) {
      entry.matches = device::matching_peaks(*subject.device, entry.median * units::flop_per_second, kPeakTolerance);
      // Of peaks that are equal, the one of the rows' own dtype explains best.
      std::stable_partition(entry.matches.begin(), entry.matches.end(),
                            [p = precision](const auto& match) { return match.peak.precision == p; });
    }
  }
  return out;
}

std::string teraflops(double flops_per_second) { return fmt::format("{:.4g} TFLOP/s", flops_per_second / 1e12); }

void check_denominator(const Subject& subject, units::Precision precision, const Denominator& entry,
                       Findings& findings) {
  std::vector<Evidence> evidence{{"dtype", std::string{units::name(precision)}},
                                 {"implied_peak_flops_per_second", entry.median}};
  const auto usual = device::peak(*subject.device, precision);
  if (usual) evidence.push_back({"catalogue_peak_flops_per_second", usual->rate.in(units::flop_per_second)});
  if (entry.matches.empty() &&
      !device::matching_peaks(*subject.device, entry.median / 100 * units::flop_per_second, kPeakTolerance).empty()) {
    findings.add("unit_fraction_for_percent", Severity::error, entry.rows, std::move(evidence),
                 "the MFU column holds fractions where its name says percent: it implies a peak 100 times too high",
                 "multiply the column by 100");
    return;
  }
  if (entry.matches.empty()) {
    findings.add("mfu_peak_unexplained", Severity::error, entry.rows, std::move(evidence),
                 fmt::format("the MFU of the {} rows was divided by {}, which is no peak of this device",
                             units::name(precision), teraflops(entry.median)),
                 "normalise by a peak with a source: --peaks catalogue or --peaks FILE");
    return;
  }
  const device::Peak& match = entry.matches.front().peak;
  evidence.push_back({"explained_by", describe(match)});
  const bool is_usual = usual && device::kind(*usual) == device::kind(match);
  const bool sparse = !is_usual && match.path == device::Path::tensor_sparse;
  findings.add(
      is_usual ? "mfu_peak" : "mfu_peak_differs",
      is_usual ? Severity::info : (sparse ? Severity::error : Severity::warning), entry.rows, std::move(evidence),
      fmt::format(
          "the MFU of the {} rows was divided by {}: {}{}", units::name(precision), teraflops(entry.median),
          describe(match),
          is_usual ? ""
                   : fmt::format("; this dtype's own peak is {}",
                                 usual ? teraflops(usual->rate.in(units::flop_per_second)) : std::string{"not known"})),
      is_usual ? "state the peak beside the MFU" : "fit with --peaks audited, which uses the path that ran");
}

/// Dtypes divided by peaks of different kinds: their MFUs do not share an axis.
void check_mixture(const std::map<units::Precision, Denominator>& all, Findings& findings) {
  Observations vector_rows;
  std::string vector_dtypes, tensor_dtypes;
  const auto append = [](std::string& list, units::Precision p) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", units::name(p));
  };
  for (const auto& [precision, entry] : all) {
    if (entry.matches.empty()) continue;
    const bool vector = entry.matches_path(device::Path::vector) && !entry.matches_path(device::Path::tensor_dense);
    append(vector ? vector_dtypes : tensor_dtypes, precision);
    if (vector) vector_rows.insert(vector_rows.end(), entry.rows.begin(), entry.rows.end());
  }
  if (vector_dtypes.empty() || tensor_dtypes.empty()) return;
  findings.add("mfu_peaks_mixed", Severity::warning, vector_rows,
               {{"vector_dtypes", vector_dtypes}, {"tensor_dtypes", tensor_dtypes}},
               fmt::format("the MFU of {} is a fraction of the vector peak, that of {} of the tensor peak",
                           vector_dtypes, tensor_dtypes),
               "regress power on FLOP/s, or on MFU by dtype; one line over both mixes two axes");
}

void check_missing(const Subject& subject, const std::map<units::Precision, Denominator>& all, Findings& findings) {
  for (const auto& [precision, entry] : all) {
    Observations rows;
    double largest = 0;
    for (const Row& row : subject.rows) {
      const auto rate = row.rate();
      if (!rate || row.observation->mfu || row.observation->precision != precision) continue;
      const double mfu = rate->in(units::flop_per_second) / entry.median;
      if (mfu < 1 - kPeakTolerance) continue;
      rows.push_back(row.observation);
      largest = std::max(largest, mfu);
    }
    if (rows.empty()) continue;
    findings.add("mfu_missing_above_one", Severity::warning, rows,
                 {{"dtype", std::string{units::name(precision)}},
                  {"largest_mfu", largest},
                  {"implied_peak_flops_per_second", entry.median}},
                 fmt::format("{} {} {} no MFU; divided by the peak of the others ({}) it would reach {:.1f} %",
                             rows.size(), units::name(precision), base::noun(rows.size(), "row has", "rows have"),
                             teraflops(entry.median), 100 * largest),
                 "the path that ran is faster than that peak: --peaks audited brings these rows back");
  }
}

void check_above_one(const Subject& subject, Findings& findings) {
  Observations above;
  double largest = 0;
  std::map<double, Observations> same;
  for (const Row& row : subject.rows) {
    const dataset::Observation& seen = *row.observation;
    if (!seen.mfu) continue;
    if (*seen.mfu > 1) {
      above.push_back(&seen);
      largest = std::max(largest, *seen.mfu);
    }
    if (*seen.mfu >= 0.99) same[*seen.mfu].push_back(&seen);
  }
  if (!above.empty()) {
    findings.add("mfu_above_one", Severity::error, above, {{"largest_mfu", largest}},
                 fmt::format("{} an MFU above 100 %, up to {:.1f} %",
                             base::counted(above.size(), "row has", "rows have"), 100 * largest),
                 "a wrong peak or a wrong count: see the other findings, and fit with --peaks audited");
  }
  for (const auto& [value, rows] : same) {
    std::set<double> rates;
    for (const dataset::Observation* row : rows) {
      if (row->tokens_per_second) rates.insert(row->tokens_per_second->in(units::token_per_second));
    }
    if (rows.size() < kClampedRows || rates.size() < kClampedRows) continue;
    findings.add("mfu_clamped", Severity::error, rows, {{"mfu", value}},
                 fmt::format("{} rows of different speed share an MFU of exactly {:.6g} %: it was cut there",
                             rows.size(), 100 * value),
                 "recompute MFU from tokens/s: --peaks catalogue or --peaks audited");
  }
}

}  // namespace

void check_peaks(const Subject& subject, Findings& findings) {
  check_above_one(subject, findings);
  if (!subject.device) return;
  const auto all = denominators(subject);
  for (const auto& [precision, entry] : all) check_denominator(subject, precision, entry, findings);
  check_mixture(all, findings);
  check_missing(subject, all, findings);
}

}  // namespace flopwatt::audit
