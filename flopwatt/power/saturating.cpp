#include <cmath>

#include "flopwatt/power/calibration.hpp"

namespace flopwatt::power {

double softmin(double x, double cap, double tau) noexcept {
  // The smaller of the two, less τ·ln(1 + e^(−distance/τ)): no overflow whatever the distance.
  const double smaller = x < cap ? x : cap;
  return smaller - tau * std::log1p(std::exp(-std::abs(x - cap) / tau));
}

double Saturating::watts(units::Precision dtype, units::FlopRate flops, const Traffic& traffic) const noexcept {
  const auto compute = joules_per_flop.find(dtype);
  const auto factor = byte_factor.find(dtype);
  const double per_flop = compute == joules_per_flop.end() ? 0 : compute->second;
  const double per_byte = joules_per_byte * (factor == byte_factor.end() ? 1 : factor->second);
  const double bytes = traffic.parameters.in(units::byte_per_second) +
                       activation_factor * traffic.activations.in(units::byte_per_second);
  const double demand = floor_watts + per_flop * flops.in(units::flop_per_second) + per_byte * bytes;
  return softmin(demand, cap_watts, softness_watts);
}

}  // namespace flopwatt::power
