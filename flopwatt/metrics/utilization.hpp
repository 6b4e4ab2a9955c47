#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/quantity.hpp"
#include "flopwatt/work/ledger.hpp"

/// MFU, HFU and MBU: a ledger, a measured time and the device's peaks make ratios.  No ratio is clamped: above 1 means
/// a wrong peak, a wrong count or a wrong clock, and the reader must see it.

namespace flopwatt::metrics {

/// Which bytes the MBU counts.
enum class MbuDefinition : std::uint8_t {
  step,     ///< all bytes of the ledger: weights, gradients, optimizer state, activations, logits, KV cache
  weights,  ///< parameters once a forward pass, and in decode the KV cache (work::weight_traffic)
};
/// "step", "weights".
[[nodiscard]] std::string_view name(MbuDefinition definition) noexcept;

/// What the ratios are divided by, of one device.
struct Denominator {
  units::FlopRate peak;                       ///< dense, of the precision and path that the work runs on
  std::optional<units::Bandwidth> bandwidth;  ///< of the device's memory; absent: no MBU
};

struct Utilization {
  units::FlopRate model_flops;     ///< achieved, model FLOPs a second
  units::FlopRate hardware_flops;  ///< achieved, executed FLOPs a second
  units::Bandwidth bytes;          ///< achieved, by the definition of the MBU
  units::TokenRate tokens;
  double mfu = 0, hfu = 0;
  std::optional<double> mbu;

  /// The two ways to be impossible, each a flag of the answer.
  [[nodiscard]] bool above_peak() const noexcept { return mfu > 1 || hfu > 1; }
  [[nodiscard]] bool above_bandwidth() const noexcept { return mbu && *mbu > 1; }
};

/// The ratios of work that took `elapsed` on one device, `bytes` by the definition of the MBU.  Work of n devices over
/// n times the time is the mean device.  Errors: Errc::usage for a time or a peak that is not above zero, or ratios
/// beyond the range of a double.
[[nodiscard]] Result<Utilization> utilization(const work::Totals& totals, units::DataSize bytes,
                                              units::Duration elapsed, const Denominator& denominator);

/// Energy of one token at a mean power.
[[nodiscard]] constexpr units::EnergyPerToken energy_per_token(units::Power power, units::TokenRate rate) noexcept {
  return power / rate;
}

}  // namespace flopwatt::metrics
