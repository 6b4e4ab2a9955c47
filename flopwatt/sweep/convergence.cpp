#include "flopwatt/sweep/convergence.hpp"

#include <cmath>

namespace flopwatt::sweep {

void Spread::add(double value) noexcept {
  ++count_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(count_);
  squares_ += before * (value - mean_);
}

std::optional<double> Spread::mean() const noexcept {
  if (count_ == 0) return std::nullopt;
  return mean_;
}

std::optional<double> Spread::standard_deviation() const noexcept {
  if (count_ < 2) return std::nullopt;
  return std::sqrt(squares_ / static_cast<double>(count_ - 1));
}

std::optional<double> Spread::half_width() const noexcept {
  const auto deviation = standard_deviation();
  if (!deviation) return std::nullopt;
  if (*deviation == 0) return 0;
  if (mean_ == 0) return std::nullopt;
  return 1.96 * *deviation / std::sqrt(static_cast<double>(count_)) / std::abs(mean_);
}

std::string_view name(Stop stop) noexcept {
  switch (stop) {
    case Stop::converged:
      return "converged";
    case Stop::capped:
      return "capped";
    case Stop::no:
      break;
  }
  return "no";
}

Stop judge(const Spread& mfu, const Spread& utilization, const Protocol& protocol) noexcept {
  const auto within = [&](const Spread& spread) {
    const auto half_width = spread.half_width();
    return half_width && *half_width <= protocol.half_width;
  };
  if (mfu.count() < protocol.min_samples) return Stop::no;
  const bool both = utilization.count() == mfu.count();
  if (within(mfu) && (!both || within(utilization))) return Stop::converged;
  return mfu.count() >= protocol.max_samples ? Stop::capped : Stop::no;
}

}  // namespace flopwatt::sweep
