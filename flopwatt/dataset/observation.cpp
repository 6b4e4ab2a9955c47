#include "flopwatt/dataset/observation.hpp"

namespace flopwatt::dataset {

std::optional<units::TokenCount> tokens_per_step(const Observation& o) noexcept {
  if (!o.batch || !o.sequence || !(*o.batch > 0) || !(*o.sequence > 0)) return std::nullopt;
  return *o.batch * *o.sequence * units::token;
}

std::optional<units::Duration> step_time(const Observation& o) noexcept {
  const auto tokens = tokens_per_step(o);
  if (!tokens || !o.tokens_per_second || !(o.tokens_per_second->in(units::token_per_second) > 0)) return std::nullopt;
  return *tokens / *o.tokens_per_second;
}

std::optional<units::FlopRate> counted_flop_rate(const Observation& o) noexcept {
  const auto time = step_time(o);
  if (!time || !o.counted_flops || !(o.counted_flops->in(units::flop) > 0)) return std::nullopt;
  return *o.counted_flops / *time;
}

std::optional<units::FlopRate> implied_peak(const Observation& o) noexcept {
  const auto rate = counted_flop_rate(o);
  if (!rate || !o.mfu || !(*o.mfu > 0)) return std::nullopt;
  return *rate / *o.mfu;
}

}  // namespace flopwatt::dataset
