#include "flopwatt/stats/bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "flopwatt/stats/error_metrics.hpp"
#include "flopwatt/stats/ols.hpp"
#include "flopwatt/stats/random.hpp"

namespace flopwatt::stats {
namespace {

/// Gathers one statistic over the resamples.
class Collector {
 public:
  explicit Collector(std::size_t resamples) : resamples_(resamples) { values_.reserve(resamples); }

  void add(std::optional<double> value) {
    if (value && std::isfinite(*value)) values_.push_back(*value);
  }

  Result<BootstrapEstimate> finish(double estimate, double level) {
    BootstrapEstimate result;
    result.estimate = estimate;
    result.undefined = resamples_ - values_.size();
    if (values_.size() < 2 || result.undefined > resamples_ / 2) {
      return fail(Errc::bad_data,
                  fmt::format("the statistic does not exist on {} of {} resamples", result.undefined, resamples_), "",
                  "give more rows, or rows that differ");
    }
    FLOPWATT_TRY(result.standard_error, sd(values_));
    // Only the tails up to the two quantiles need their order.
    const double last = static_cast<double>(values_.size() - 1);
    const auto from_low = static_cast<std::ptrdiff_t>(last * (1 - level) / 2);
    const auto from_high = static_cast<std::ptrdiff_t>(last * (1 + level) / 2);
    const auto settle = [this](std::ptrdiff_t from) {
      const auto at = values_.begin() + from;
      std::nth_element(values_.begin(), at, values_.end());
      if (at + 1 != values_.end()) std::iter_swap(at + 1, std::min_element(at + 1, values_.end()));
    };
    settle(from_high);
    const double hi = quantile_of_sorted(values_, (1 + level) / 2);
    settle(from_low);
    result.interval = {quantile_of_sorted(values_, (1 - level) / 2), hi};
    return result;
  }

 private:
  std::size_t resamples_;
  std::vector<double> values_;
};

Result<void> require_plan(std::size_t n, std::size_t resamples, double level) {
  FLOPWATT_TRY_VOID(require_level(level));
  if (resamples < 2) return fail(Errc::usage, fmt::format("{} resamples are too few", resamples), "", "use 2000");
  if (n == 0) return fail(Errc::bad_data, "no rows to resample");
  if (n > std::numeric_limits<std::uint32_t>::max()) return fail(Errc::bad_data, "more than 2^32 rows to resample");
  return {};
}

/// Sum of term(i) over [0, n) in four lanes: the order is fixed by the source, so that compilers may vectorise it and
/// still agree to the last bit.
template <std::size_t kSums, class Term>
std::array<double, kSums> sum_in_lanes(std::size_t n, Term term) {
  constexpr std::size_t kLanes = 4;
  std::array<std::array<double, kLanes>, kSums> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const std::array<double, kSums> terms = term(i + lane);
      for (std::size_t s = 0; s < kSums; ++s) lanes[s][lane] += terms[s];
    }
  }
  for (; i < n; ++i) {
    const std::array<double, kSums> terms = term(i);
    for (std::size_t s = 0; s < kSums; ++s) lanes[s][0] += terms[s];
  }
  std::array<double, kSums> sums{};
  for (std::size_t s = 0; s < kSums; ++s) sums[s] = (lanes[s][0] + lanes[s][1]) + (lanes[s][2] + lanes[s][3]);
  return sums;
}

/// A line through a resample, in coordinates centred on the whole sample of the group.
struct ResampledLine {
  bool exists = false;
  double slope = 0;
  double offset = 0;  ///< of the line at the mean of x, less the mean of y
  double sse = 0;
  double syy = 0;
  double sum_y = 0;  ///< Σ w (y - ȳ)
  std::optional<double> r2;
};

/// The rows of one group, centred, and how often the current resample drew each of them.
class ResampledGroup {
 public:
  ResampledGroup(std::span<const double> x, std::span<const double> y)
      : moments_(PairMoments::of(x, y)), dx_(x.size()), dy_(y.size()), inverse_y_(y.size()), weight_(y.size()) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      dx_[i] = x[i] - moments_.x_mean;
      dy_[i] = y[i] - moments_.y_mean;
      inverse_y_[i] = y[i] == 0 ? 0 : 1 / std::abs(y[i]);
    }
  }

  void draw(Random& random) {
    std::fill(weight_.begin(), weight_.end(), 0.0);
    const auto n = static_cast<std::uint32_t>(weight_.size());
    for (std::uint32_t i = 0; i < n; ++i) weight_[random.below(n)] += 1;
  }
  void take_all() { std::fill(weight_.begin(), weight_.end(), 1.0); }

  [[nodiscard]] ResampledLine fit() const {
    const double* const w = weight_.data();
    const double* const dx = dx_.data();
    const double* const dy = dy_.data();
    const auto [x, y, xx, xy, yy] = sum_in_lanes<5>(size(), [=](std::size_t i) {
      const double wx = w[i] * dx[i];
      const double wy = w[i] * dy[i];
      return std::array{wx, wy, wx * dx[i], wx * dy[i], wy * dy[i]};
    });
    const double n = static_cast<double>(size());
    ResampledLine line;
    const double sxx = xx - x * x / n;
    const double sxy = xy - x * y / n;
    line.syy = yy - y * y / n;
    line.sum_y = y;
    line.exists = sxx > kConstant * xx;
    if (!line.exists) return line;
    line.slope = sxy / sxx;
    line.offset = (y - line.slope * x) / n;
    line.sse = std::max(0.0, line.syy - line.slope * sxy);
    if (line.syy > kConstant * yy) line.r2 = 1 - line.sse / line.syy;
    return line;
  }

  /// Σ w |residual / y|
  [[nodiscard]] double relative_errors(const ResampledLine& line) const {
    const double* const w = weight_.data();
    const double* const dx = dx_.data();
    const double* const dy = dy_.data();
    const double* const inverse_y = inverse_y_.data();
    const double slope = line.slope;
    const double offset = line.offset;
    return sum_in_lanes<1>(size(), [=](std::size_t i) {
      return std::array{w[i] * std::abs(dy[i] - offset - slope * dx[i]) * inverse_y[i]};
    })[0];
  }

  [[nodiscard]] double intercept(const ResampledLine& line) const {
    return moments_.y_mean + line.offset - line.slope * moments_.x_mean;
  }
  [[nodiscard]] std::size_t size() const { return weight_.size(); }
  [[nodiscard]] double y_mean() const { return moments_.y_mean; }

 private:
  // What rounding leaves of n (x - x̄)² less its own mean when every drawn row is the same.
  static constexpr double kConstant = 64 * std::numeric_limits<double>::epsilon();

  PairMoments moments_;
  std::vector<double> dx_;
  std::vector<double> dy_;
  std::vector<double> inverse_y_;
  std::vector<double> weight_;
};

/// The figures of one line over the resamples.
class LineCollector {
 public:
  explicit LineCollector(std::size_t resamples)
      : slope_(resamples), intercept_(resamples), r2_(resamples), mape_(resamples) {}

  void add(const ResampledGroup& group, const ResampledLine& line, double relative_errors) {
    if (!line.exists) return;
    slope_.add(line.slope);
    intercept_.add(group.intercept(line));
    r2_.add(line.r2);
    mape_.add(100 * relative_errors / static_cast<double>(group.size()));
  }

  Result<SimpleOlsBootstrap> finish(const SimpleFit& fit, std::optional<double> mape_of_sample, double level) {
    SimpleOlsBootstrap result;
    FLOPWATT_TRY(result.slope, slope_.finish(fit.slope, level));
    FLOPWATT_TRY(result.intercept, intercept_.finish(fit.intercept, level));
    if (fit.r2) {
      FLOPWATT_TRY(result.r2, r2_.finish(*fit.r2, level));
    }
    if (mape_of_sample) {
      FLOPWATT_TRY(result.mape_pct, mape_.finish(*mape_of_sample, level));
    }
    return result;
  }

 private:
  Collector slope_;
  Collector intercept_;
  Collector r2_;
  Collector mape_;
};

/// Σ w (y - ȳ)² of all groups about the mean of everything drawn, from the sums within the groups.
double total_sum_of_squares(std::span<const ResampledGroup> groups, std::span<const ResampledLine> lines, double n) {
  double mean_y = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    mean_y += (groups[g].y_mean() * static_cast<double>(groups[g].size()) + lines[g].sum_y) / n;
  }
  double total = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double size = static_cast<double>(groups[g].size());
    const double distance = groups[g].y_mean() + lines[g].sum_y / size - mean_y;
    total += lines[g].syy + size * distance * distance;
  }
  return total;
}

/// What all lines say together, on one resample or on the sample itself.
struct Pooled {
  std::optional<double> mape_pct;
  std::optional<double> r2;
  std::optional<double> r2_mean;
};

Pooled pool(std::span<const ResampledGroup> groups, std::span<const ResampledLine> lines, double relative_errors,
            double n) {
  Pooled pooled;
  double sse = 0;
  double r2_sum = 0;
  std::size_t with_r2 = 0;
  for (const ResampledLine& line : lines) {
    if (!line.exists) return pooled;
    sse += line.sse;
    if (line.r2) {
      r2_sum += *line.r2;
      ++with_r2;
    }
  }
  pooled.mape_pct = 100 * relative_errors / n;
  const double total = total_sum_of_squares(groups, lines, n);
  if (total > 0) pooled.r2 = 1 - sse / total;
  if (with_r2 == lines.size()) pooled.r2_mean = r2_sum / static_cast<double>(with_r2);
  return pooled;
}

}  // namespace

Result<std::vector<BootstrapEstimate>> bootstrap(std::size_t n, std::size_t statistics, std::size_t resamples,
                                                 std::uint64_t seed, const Statistic& statistic, double level) {
  FLOPWATT_TRY_VOID(require_plan(n, resamples, level));
  std::vector<std::uint32_t> rows(n);
  std::iota(rows.begin(), rows.end(), 0U);
  std::vector<std::optional<double>> on_sample(statistics);
  statistic(rows, on_sample);
  for (std::size_t s = 0; s < statistics; ++s) {
    if (!on_sample[s] || !std::isfinite(*on_sample[s])) {
      return fail(Errc::bad_data, fmt::format("statistic {} does not exist on the sample", s));
    }
  }
  std::vector<Collector> collectors(statistics, Collector(resamples));
  std::vector<std::optional<double>> out(statistics);
  Random random(seed);
  for (std::size_t b = 0; b < resamples; ++b) {
    for (std::uint32_t& row : rows) row = random.below(static_cast<std::uint32_t>(n));
    std::fill(out.begin(), out.end(), std::nullopt);
    statistic(rows, out);
    for (std::size_t s = 0; s < statistics; ++s) collectors[s].add(out[s]);
  }
  std::vector<BootstrapEstimate> estimates;
  for (std::size_t s = 0; s < statistics; ++s) {
    FLOPWATT_TRY(const BootstrapEstimate estimate, collectors[s].finish(*on_sample[s], level));
    estimates.push_back(estimate);
  }
  return estimates;
}

Result<GroupedOlsBootstrap> bootstrap_grouped_ols(std::span<const double> x, std::span<const double> y,
                                                  std::span<const std::size_t> group, std::size_t groups,
                                                  std::size_t resamples, std::uint64_t seed, double level) {
  FLOPWATT_TRY_VOID(require_same_length(x.size(), "x", y.size(), "y"));
  FLOPWATT_TRY_VOID(require_same_length(x.size(), "x", group.size(), "group"));
  FLOPWATT_TRY_VOID(require_plan(x.size(), resamples, level));
  std::vector<std::vector<double>> xs(groups);
  std::vector<std::vector<double>> ys(groups);
  bool has_zero = false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (group[i] >= groups) {
      return fail(Errc::bad_data, fmt::format("group[{}] is {}, there are {} groups", i, group[i], groups));
    }
    xs[group[i]].push_back(x[i]);
    ys[group[i]].push_back(y[i]);
    has_zero = has_zero || y[i] == 0;
  }
  std::vector<SimpleFit> fits;
  std::vector<ResampledGroup> samples;
  for (std::size_t g = 0; g < groups; ++g) {
    auto fit = fit_simple_ols(xs[g], ys[g]);
    if (!fit) {
      Error error = std::move(fit).error();
      error.what = fmt::format("group {}: {}", g, error.what);
      return fail(std::move(error));
    }
    fits.push_back(*fit);
    samples.emplace_back(xs[g], ys[g]);
  }

  const double n = static_cast<double>(x.size());
  std::vector<ResampledLine> lines(groups);
  std::vector<double> relative(groups);
  const auto evaluate = [&] {
    double sum = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      lines[g] = samples[g].fit();
      relative[g] = samples[g].relative_errors(lines[g]);
      sum += relative[g];
    }
    return pool(samples, lines, sum, n);
  };

  for (ResampledGroup& sample : samples) sample.take_all();
  const Pooled on_sample = evaluate();
  std::vector<std::optional<double>> mape_on_sample(groups);
  for (std::size_t g = 0; g < groups && !has_zero; ++g) {
    mape_on_sample[g] = 100 * relative[g] / static_cast<double>(samples[g].size());
  }

  std::vector<LineCollector> collectors(groups, LineCollector(resamples));
  Collector mape(resamples);
  Collector r2(resamples);
  Collector r2_mean(resamples);
  Random random(seed);
  for (std::size_t b = 0; b < resamples; ++b) {
    for (ResampledGroup& sample : samples) sample.draw(random);
    const Pooled pooled = evaluate();
    for (std::size_t g = 0; g < groups; ++g) collectors[g].add(samples[g], lines[g], relative[g]);
    mape.add(pooled.mape_pct);
    r2.add(pooled.r2);
    r2_mean.add(pooled.r2_mean);
  }

  GroupedOlsBootstrap result;
  for (std::size_t g = 0; g < groups; ++g) {
    FLOPWATT_TRY(auto line, collectors[g].finish(fits[g], mape_on_sample[g], level));
    result.groups.push_back(line);
  }
  if (on_sample.mape_pct && !has_zero) {
    FLOPWATT_TRY(result.mape_pct, mape.finish(*on_sample.mape_pct, level));
  }
  if (on_sample.r2) {
    FLOPWATT_TRY(result.r2, r2.finish(*on_sample.r2, level));
  }
  if (on_sample.r2_mean) {
    FLOPWATT_TRY(result.r2_mean, r2_mean.finish(*on_sample.r2_mean, level));
  }
  return result;
}

Result<SimpleOlsBootstrap> bootstrap_simple_ols(std::span<const double> x, std::span<const double> y,
                                                std::size_t resamples, std::uint64_t seed, double level) {
  const std::vector<std::size_t> one_group(x.size(), 0);
  FLOPWATT_TRY(auto grouped, bootstrap_grouped_ols(x, y, one_group, 1, resamples, seed, level));
  return std::move(grouped.groups[0]);
}

}  // namespace flopwatt::stats
