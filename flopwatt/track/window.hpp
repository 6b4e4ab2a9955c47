#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/units/quantity.hpp"

/// What the tracker found: of the last few steps, and of the run so far.

namespace flopwatt::track {

/// Tokens of a step, three numbers that are often taken for one another.
struct Tokens {
  std::int64_t slots = 0;                   ///< positions that the tensors hold, padding included
  std::optional<std::int64_t> non_padding;  ///< of which are no padding; absent: not told
  std::optional<std::int64_t> labels;       ///< of which count in the loss; absent: not told
};

/// What makes a figure impossible or weaker than it looks.
enum class Doubt : std::uint8_t {
  above_peak,       ///< MFU or HFU came out at 1 or more: it is withheld, and stands in `evidence` only
  above_bandwidth,  ///< MBU came out above 1
  unsynchronized,   ///< nobody waits for the device before the clock is read: times may be those of launches
  slots_counted,    ///< no padding was told: every position counts as a token
  estimated_flops,  ///< the FLOPs are an estimate of a formula, not a count
};
inline constexpr std::size_t kDoubtCount = 5;
/// "above_peak", …
[[nodiscard]] std::string_view key(Doubt doubt) noexcept;
/// One sentence with what to check.
[[nodiscard]] std::string_view text(Doubt doubt) noexcept;

/// A ratio that may be withheld.
struct Ratio {
  std::optional<double> value;       ///< below 1; absent: no peak is known, or `impossible` says why
  std::optional<double> impossible;  ///< the value that was withheld
};

/// One stretch of steps on one rank.  All rates and ratios are of this rank; ratios are per device.
struct Window {
  std::int64_t first_step = 0, last_step = 0;  ///< counted from 0, warm-up included
  std::int64_t steps = 0;
  std::int64_t micro_batches = 0;
  units::Duration in_steps;  ///< inside the steps, synchronisation included
  units::Duration wall;      ///< from the end of the stretch before (or of the warm-up) to the end of this one
  Tokens tokens;             ///< sums; a part that any step did not tell is absent
  units::FlopCount model_flops;

  units::TokenRate slots_per_second;                  ///< in steps
  std::optional<units::TokenRate> tokens_per_second;  ///< non-padding, in steps
  Ratio mfu, hfu, mbu;                                ///< over the time in steps
  Ratio run_mfu;                                      ///< over the wall clock: evaluation, checkpoints, waits for data

  /// Of the rank's devices over the wall time of the stretch, when telemetry is there.
  std::vector<telemetry::WindowEnergy> energy;
  std::optional<units::Energy> total_energy;              ///< sum; absent when any device's is
  std::optional<units::EnergyPerToken> energy_per_token;  ///< non-padding tokens, or slots when padding is not told

  std::array<bool, kDoubtCount> doubts{};
  [[nodiscard]] bool has(Doubt doubt) const noexcept { return doubts[static_cast<std::size_t>(doubt)]; }
  void raise(Doubt doubt) noexcept { doubts[static_cast<std::size_t>(doubt)] = true; }
  [[nodiscard]] units::Duration step_time() const noexcept { return in_steps / static_cast<double>(steps); }
};

/// Who speaks: stands in every line that leaves the process.
struct Identity {
  std::int64_t rank = 0, ranks = 1;
  std::int64_t devices = 1;             ///< that this rank keeps busy
  std::string device;                   ///< name
  std::optional<units::FlopRate> peak;  ///< of one device; absent: no MFU
  std::string peak_source;              ///< "NVIDIA A100 datasheet, bfloat16 tensor, dense"; "measured"
  std::string work_origin;
};

}  // namespace flopwatt::track
