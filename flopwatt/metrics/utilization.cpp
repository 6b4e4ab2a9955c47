#include "flopwatt/metrics/utilization.hpp"

#include <cmath>

namespace flopwatt::metrics {

using units::flop;
using units::token;

std::string_view name(MbuDefinition definition) noexcept {
  return definition == MbuDefinition::step ? "step" : "weights";
}

Result<Utilization> utilization(const work::Totals& totals, units::DataSize bytes, units::Duration elapsed,
                                const Denominator& denominator) {
  if (!(elapsed > units::Duration{})) return fail(Errc::usage, "the measured time must be above zero");
  if (!(denominator.peak > units::FlopRate{})) return fail(Errc::usage, "the peak must be above zero");
  Utilization result;
  result.model_flops = totals.step.to_double() * flop / elapsed;
  result.hardware_flops = totals.hardware_step.to_double() * flop / elapsed;
  result.bytes = bytes / elapsed;
  result.tokens = totals.tokens.to_double() * token / elapsed;
  result.mfu = result.model_flops / denominator.peak;
  result.hfu = result.hardware_flops / denominator.peak;
  if (denominator.bandwidth) result.mbu = result.bytes / *denominator.bandwidth;
  if (!std::isfinite(result.mfu) || !std::isfinite(result.hfu) || !std::isfinite(result.mbu.value_or(0))) {
    return fail(Errc::usage, "the measured time is so short that the rate has no finite value");
  }
  return result;
}

}  // namespace flopwatt::metrics
