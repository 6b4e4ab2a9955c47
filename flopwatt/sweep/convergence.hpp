#pragma once

#include <cstdint>
#include <optional>

#include "flopwatt/sweep/plan.hpp"

/// When a run has been measured well enough.

namespace flopwatt::sweep {

/// Mean and spread of a series, updated sample by sample (Welford 1962).
class Spread {
 public:
  void add(double value) noexcept;
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] std::optional<double> mean() const noexcept;
  /// n − 1 in the denominator; absent below two samples.
  [[nodiscard]] std::optional<double> standard_deviation() const noexcept;
  /// 1.96 · SEM / |mean|: half of the 95 % interval of the mean, relative to it.  0 for a constant series; absent
  /// below two samples, and where the mean is 0 and the values are not all 0.
  [[nodiscard]] std::optional<double> half_width() const noexcept;

 private:
  std::int64_t count_ = 0;
  double mean_ = 0, squares_ = 0;
};

enum class Stop : std::uint8_t {
  no,         ///< go on
  converged,  ///< the half-widths are within the limit
  capped,     ///< max_samples
};
[[nodiscard]] std::string_view name(Stop stop) noexcept;

/// The study's rule: at least min_samples; until the half-widths of MFU and of utilisation are within the limit, or
/// max_samples are taken.  Power is not in the rule.  `utilization` has fewer samples than `mfu` where the source
/// does not know it for all of them: then MFU alone decides.
[[nodiscard]] Stop judge(const Spread& mfu, const Spread& utilization, const Protocol& protocol) noexcept;

}  // namespace flopwatt::sweep
