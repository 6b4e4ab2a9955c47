#pragma once

#include <array>
#include <optional>
#include <span>

#include "flopwatt/units/quantity.hpp"
#include "flopwatt/work/ledger.hpp"

/// Denominators' counterparts: the bytes that MBU counts, and the peak of work in mixed precision.

namespace flopwatt::work {

/// Bytes of one device under the definition `weights`: parameter bytes a forward pass, and in decode the cache.
/// (The definition `step` is Totals::bytes.total.)  All parameters count, embedding included, but for experts that no
/// token of the pass can reach: min(experts, tokens · top_k) of them are taken as read.
struct WeightTraffic {
  units::Count weights;       ///< of one pass, a decode step's if there is one
  units::Count passes;        ///< train, prefill, encode, decode: 1; generate: new_tokens
  units::Count cache;         ///< positions that the decode steps attend to, in bytes, the new ones included
  units::Count total;         ///< all passes
  units::Count decode_steps;  ///< decode: 1; generate with a cache: new_tokens − 1, without: new_tokens
  /// weights + cache / decode_steps: for generation from P tokens W + (P + N/2)·(bytes a position), where nothing is
  /// windowed.  Absent without a decode step.
  std::optional<double> decode_step_mean;
};
[[nodiscard]] Result<WeightTraffic> weight_traffic(const model::Architecture& architecture, const Workload& workload);

/// Model FLOPs of a ledger by the precision of their operands, in the order of units::kPrecisions.
[[nodiscard]] std::array<units::Count, units::kPrecisions.size()> flops_by_precision(const Ledger& ledger) noexcept;

/// The peak that a mix of precisions is held against, weighted by its FLOPs: ΣF / Σ(F_i / P_i).  `peaks` in the order
/// of units::kPrecisions; the peak of a precision without work is not asked for.  Errors: Errc::usage (`where`
/// "--dtype") for work in a precision that the device lacks, or no work at all.
[[nodiscard]] Result<units::FlopRate> mixed_peak(
    const Ledger& ledger, std::span<const std::optional<units::FlopRate>, units::kPrecisions.size()> peaks);

}  // namespace flopwatt::work
