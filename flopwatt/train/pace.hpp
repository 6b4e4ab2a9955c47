#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/quantity.hpp"
#include "flopwatt/work/ledger.hpp"

/// How long one optimizer step takes on one device.

namespace flopwatt::train {

/// What the device can do.
struct Hardware {
  units::FlopRate peak;                       ///< dense, of the run's dtype
  std::optional<units::Bandwidth> bandwidth;  ///< of its memory
};

/// The rate was measured.
struct MeasuredRate {
  units::TokenRate tokens;
};
/// The rate follows from an achieved MFU: step time = model FLOPs / (mfu · peak).
struct AchievedMfu {
  double mfu = 0;  ///< a fraction; not bounded by 1, so that a wrong one is seen
};
/// No rate is known: every operator class takes the longer of its FLOPs over the peak and its bytes over the bandwidth,
/// both times `efficiency`.  The efficiency is an assumption, and the answer says so.
struct Roofline {
  double efficiency = 0.5;
};
using Pace = std::variant<MeasuredRate, AchievedMfu, Roofline>;
/// "tokens_per_second", "mfu", "roofline".
[[nodiscard]] std::string_view name(const Pace& pace) noexcept;

/// The work of one optimizer step of `micro_batches` micro-batches on one device: forward and backward rows run once a
/// micro-batch, the update once.
[[nodiscard]] work::Ledger optimizer_step(const work::Ledger& micro_batch, std::int64_t micro_batches);

struct StepTime {
  units::Duration total;
  units::Duration optimizer;                    ///< the update's part of `total`: its bytes over the bandwidth
  std::optional<units::Duration> memory_bound;  ///< bytes of the step over the bandwidth: nothing can be faster

  /// The stated rate is faster than the memory allows.
  [[nodiscard]] bool faster_than_memory() const noexcept { return memory_bound && *memory_bound > total; }
};

/// Errors: Errc::usage for a rate, MFU or efficiency that is not above zero, a time that no double holds, and for a
/// roofline of a device whose bandwidth is unknown.
[[nodiscard]] Result<StepTime> step_time(const work::Ledger& step, const Hardware& hardware, const Pace& pace);

}  // namespace flopwatt::train
