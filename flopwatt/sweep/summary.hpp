#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/store.hpp"

namespace flopwatt::sweep {

/// What a store says of one configuration on one device, over all samples of its finished runs.  Figures are totals
/// over totals, so that they agree with each other: tokens, steps, FLOPs and bytes over the samples' device time.
struct Summary {
  std::string id;
  Configuration configuration;
  std::string device_name, peak_source, power_source, power_kind, power_scope;
  double peak_flops_per_second = 0;
  std::optional<double> bandwidth_bytes_per_second;
  std::int64_t tensor_sequence = 0;                        ///< 0 where nothing was measured
  std::int64_t finished = 0, failed = 0, interrupted = 0;  ///< runs
  std::int64_t capped = 0;                      ///< finished runs that took max_samples without reaching the half-width
  std::map<std::string, std::int64_t> reasons;  ///< of the runs that did not finish
  std::string detail;                           ///< of the last of them

  std::int64_t samples = 0;
  std::optional<double> mfu, hfu, mbu;  ///< Σ(ratio · time) / Σ time: achieved over what the peak allows in that time
  std::optional<double> tokens_per_second, step_seconds;
  std::optional<double>
      half_width;  ///< 1.96 · SEM / mean of the MFU, over the samples of all finished runs, each alike
  std::optional<double> utilization;  ///< mean of the samples
  /// Energy over the time between the samples' begin and end, and over their tokens; samples without energy left out.
  std::optional<double> power_watts, joules_per_token;
  std::string power_missing;  ///< why, where there is none
  std::optional<std::int64_t> peak_memory_bytes;
  bool above_peak = false;  ///< a sample with an MFU or HFU above 1: a wrong peak, count or clock
};

/// In the order of the configurations; runs of several devices stand apart.
[[nodiscard]] Result<std::vector<Summary>> summarize(Store& store);

}  // namespace flopwatt::sweep
