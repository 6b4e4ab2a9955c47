#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/source.hpp"
#include "flopwatt/telemetry/trace.hpp"

namespace flopwatt::telemetry {

struct ReplayOptions {
  /// Begins again at the end, its counters going on; otherwise readings after the end are stale.
  bool repeat = false;
  double speed = 1;  ///< seconds of the trace for each second of the clock
  /// What time it is; empty: the steady clock.
  std::function<SteadyTime()> clock;
};

/// Plays recorded traces as if they happened now, from the moment of the call on: recorded() is true, and what is made
/// of its readings is labelled so.  Between two snapshots of the trace counter and power are interpolated; where one of
/// the two lacks a reading, the earlier one's stands.
[[nodiscard]] OpenedSource replay(std::vector<Trace> traces, const ReplayOptions& options = {});

/// The same from a file of our own format (trace_csv.hpp).
[[nodiscard]] OpenedSource open_recorded(const std::string& path, const ReplayOptions& options = {});

}  // namespace flopwatt::telemetry
