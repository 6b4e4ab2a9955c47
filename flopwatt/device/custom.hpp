#pragma once

#include <optional>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/device.hpp"

namespace flopwatt::device {

/// Figures that the caller states: --peak-tflops (of the precision in question), --mem-bw-gbs, --tdp-w.
struct GivenFigures {
  std::optional<units::FlopRate> peak;
  std::optional<units::Bandwidth> memory_bandwidth;
  std::optional<units::Power> board_limit;

  [[nodiscard]] bool empty() const noexcept { return !peak && !memory_bandwidth && !board_limit; }
};

/// A device that is not in the catalogue, named "custom", from what the caller states.  The peak is the default one of
/// `precision` (peak.hpp).  Errc::usage where nothing is stated or a figure is not positive and finite.
[[nodiscard]] Result<Device> make_custom(units::Precision precision, const GivenFigures& figures);

/// `device` with the caller's figures in place of the catalogue's, and a note that says so.
[[nodiscard]] Result<Device> with_given(Device device, units::Precision precision, const GivenFigures& figures);

}  // namespace flopwatt::device
