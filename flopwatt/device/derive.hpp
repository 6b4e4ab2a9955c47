#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/device.hpp"

/// Peaks from arithmetic: units × clock × FLOPs per unit and clock.  The last factor depends on the architecture and on
/// the class of the product (the same chip computes at half rate with fp32 accumulation on GeForce cards), so compute
/// capability alone does not decide it, and neither does the maximum clock: the clock is the one behind the peak.

namespace flopwatt::device {

struct DeriveRequest {
  std::string architecture;   ///< "volta", "turing", "ampere", "ada", "hopper", "blackwell", "cdna2", "cdna3", "cdna4"
  std::string product_class;  ///< "datacenter", "professional", "geforce"; empty: only where the units leave one choice
  std::int64_t units = 0;     ///< SMs or CUs in use
  units::Frequency clock;
  std::optional<units::Bandwidth> memory_bandwidth;
  std::optional<units::Power> board_limit;
};

/// Reads "arch=ampere,class=datacenter,units=108,clock-mhz=1410" with optional mem-bw-gbs= and tdp-w=.
/// Errc::usage for an unknown, repeated, missing or empty key or a number that is not positive and finite.
[[nodiscard]] Result<DeriveRequest> parse_derive(std::string_view text);

/// A device with every peak that the table of rates gives (origin `derived`).  Errc::usage for an architecture or class
/// that is not in the table, more units than its largest chip has, a class left open where several fit.
[[nodiscard]] Result<Device> derive(const DeriveRequest& request);

}  // namespace flopwatt::device
