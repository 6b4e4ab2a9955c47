#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "flopwatt/audit/subject.hpp"
#include "flopwatt/stats/error_metrics.hpp"

/// Configured lengths against what the tensors held.

namespace flopwatt::audit {
namespace {

using Observations = std::vector<const dataset::Observation*>;

/// A sequence shorter than this share of the configured window was not padded to it; prompts that fill a window come
/// within a few tokens.
constexpr double kUnpadded = 0.5;
/// Step times closer than this are the same work: repeats of one configuration scatter by one to three percent.
constexpr double kSameSpeed = 0.03;

void check_padding(const Subject& subject, Findings& findings) {
  Observations rows;
  double shortest = 0, longest = 0;
  std::set<double> windows;
  for (const Row& row : subject.rows) {
    const dataset::Observation& seen = *row.observation;
    if (!seen.sequence || !seen.context_window || !(*seen.sequence > 0)) continue;
    if (*seen.sequence >= kUnpadded * *seen.context_window) continue;
    shortest = rows.empty() ? *seen.sequence : std::min(shortest, *seen.sequence);
    longest = std::max(longest, *seen.sequence);
    rows.push_back(&seen);
    windows.insert(*seen.context_window);
  }
  if (rows.empty()) return;
  const std::string lengths =
      shortest == longest ? fmt::format("{:g}", shortest) : fmt::format("{:g} to {:g}", shortest, longest);
  findings.add("sequence_not_context", Severity::warning, rows,
               {{"sequence_min_tokens", shortest},
                {"sequence_max_tokens", longest},
                {"context_window_min_tokens", *windows.begin()},
                {"context_window_max_tokens", *windows.rbegin()}},
               fmt::format("the tensors held {} tokens a sequence where {:g}{} were configured", lengths,
                           *windows.begin(), windows.size() > 1 ? fmt::format(" to {:g}", *windows.rbegin()) : ""),
               "count with the effective length; these rows say nothing about sequences of the configured one");
}

/// Does the context window change anything?  Compared where all else is equal.
void check_axis(const Subject& subject, Findings& findings) {
  using Key = std::tuple<std::string, std::string, double>;
  std::map<Key, std::map<double, std::vector<double>>> speeds;
  std::set<double> windows, sequences;
  Observations rows;
  for (const Row& row : subject.rows) {
    const dataset::Observation& seen = *row.observation;
    if (!seen.context_window || !seen.batch || !seen.tokens_per_second || !seen.sequence) continue;
    speeds[{seen.model, seen.dtype, *seen.batch}][*seen.context_window].push_back(
        seen.tokens_per_second->in(units::token_per_second));
    windows.insert(*seen.context_window);
    sequences.insert(*seen.sequence);
    rows.push_back(&seen);
  }
  if (windows.size() < 2 || sequences.size() != 1) return;
  std::vector<double> changes;
  for (const auto& [key, by_window] : speeds) {
    if (by_window.size() < 2) continue;
    const double first = stats::mean(by_window.begin()->second).value_or(0);
    const double last = stats::mean(by_window.rbegin()->second).value_or(0);
    if (first > 0) changes.push_back(std::abs(last / first - 1));
  }
  const auto median = stats::median(changes);
  if (!median || *median > kSameSpeed) return;
  findings.add(
      "axis_without_effect", Severity::warning, rows,
      {{"axis", std::string{"context_window"}},
       {"levels", static_cast<double>(windows.size())},
       {"median_change_of_tokens_per_second", *median},
       {"sequence_tokens", *sequences.begin()}},
      fmt::format("context_window has {} values and changes tokens/s by {:.1f} % (median): every row held {:g} "
                  "tokens whatever it says",
                  windows.size(), 100 * *median, *sequences.begin()),
      "treat its levels as repeats; \"no effect of the context window\" cannot be concluded");
}

}  // namespace

void check_sequence(const Subject& subject, Findings& findings) {
  check_padding(subject, findings);
  check_axis(subject, findings);
}

}  // namespace flopwatt::audit
