#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "flopwatt/audit/subject.hpp"
#include "flopwatt/stats/error_metrics.hpp"

/// Steps that take as long for one sequence as for many: the host is what they wait for.

namespace flopwatt::audit {
namespace {

using Observations = std::vector<const dataset::Observation*>;

/// Step times within this of the shortest batch's are flat: repeats scatter by a few percent.
constexpr double kFlat = 0.10;
/// The bytes alone must take less than this share of the step, or it may wait for memory.
constexpr double kBytesShare = 0.5;

struct Batch {
  std::vector<double> seconds;
  double bytes = 0;
  Observations rows;
};

}  // namespace

void check_host_bound(const Subject& subject, Findings& findings) {
  if (!subject.bandwidth) return;
  std::map<std::string, std::map<std::string, std::map<double, Batch>>> series;  // dtype, model, batch
  for (const Row& row : subject.rows) {
    const dataset::Observation& seen = *row.observation;
    if (!row.step || !row.step_time) continue;
    Batch& batch = series[seen.dtype][seen.model][*seen.batch];
    batch.seconds.push_back(row.step_time->in(units::second));
    batch.bytes = row.step->bytes.total.to_double();
    batch.rows.push_back(&seen);
  }
  for (const auto& [dtype, models] : series) {
    Observations rows;
    std::set<double> largest;
    double share = 0;
    for (const auto& [model, batches] : models) {
      const double first = stats::median(batches.begin()->second.seconds).value_or(0);
      Observations flat;
      double last = 0;
      for (const auto& [size, batch] : batches) {
        const double seconds = stats::median(batch.seconds).value_or(0);
        const double bytes_seconds = batch.bytes * units::byte / *subject.bandwidth / units::second;
        if (seconds > (1 + kFlat) * first || bytes_seconds > kBytesShare * seconds) break;
        flat.insert(flat.end(), batch.rows.begin(), batch.rows.end());
        share = std::max(share, bytes_seconds / seconds);
        last = size;
      }
      // One batch alone is not flat against anything; twice the work in the same time is.
      if (last < 2 * batches.begin()->first) continue;
      rows.insert(rows.end(), flat.begin(), flat.end());
      largest.insert(last);
    }
    if (rows.empty()) continue;
    findings.add(
        "host_bound", Severity::warning, rows,
        {{"dtype", dtype},
         {"largest_batch_min", *largest.begin()},
         {"largest_batch_max", *largest.rbegin()},
         {"bytes_time_over_step_time_max", share}},
        fmt::format("in {} the step takes as long at batch {:g}{} as at the smallest, and its bytes need at most "
                    "{:.0f} % of it: the host sets the pace",
                    dtype, *largest.begin(),
                    largest.size() > 1 ? fmt::format(" to {:g} (by model)", *largest.rbegin()) : "", 100 * share),
        "MFU of these rows measures the host; use larger steps or graph capture to measure the device");
  }
}

}  // namespace flopwatt::audit
