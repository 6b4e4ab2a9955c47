#include "flopwatt/fit/saturating.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/stats/error_metrics.hpp"
#include "flopwatt/stats/nls.hpp"

namespace flopwatt::fit {
namespace {

/// A relative error of this size is expected of a right model; larger ones pull with a constant force (soft L1).
constexpr double kExpectedError = 0.03;

// The priors: centre and standard deviation, of the logarithm where not said otherwise.
constexpr double kFloorOverIdle = 2.0, kFloorSd = 0.3;
constexpr double kIdleOverLimit = 0.13, kIdleUnknownSd = 0.6;  // of the four devices of the public study
constexpr double kCapSd = 0.1, kCapSdUnknownLimit = 0.2;       // of the limit, not of the logarithm
constexpr double kSoftness = 0.05, kSoftnessSd = 0.7;
constexpr double kActivationFactor = 1.25, kActivationSd = 0.3;
constexpr double kByteFactorSd = 0.2;

/// Places of the parameters in the vector of the search: ln P0, ln(c · largest byte rate), cap / scale, ln(τ / scale),
/// ln κ, then for every dtype ln(a_p · largest FLOP rate of the dtype) and ln s_p.
enum Place : std::size_t { kFloor, kByte, kCap, kTau, kActivation, kFirstDtype };

/// The rows as columns, scaled so that every parameter is of the order of the watts it explains.
struct Problem {
  std::vector<units::Precision> dtypes;
  double scale = 0;                // the board limit, or what the rows say of it
  double byte_scale = 0;           // largest byte rate
  std::vector<double> flop_scale;  // of each dtype
  std::vector<std::size_t> dtype_of;
  std::vector<double> flops, parameter_bytes, activation_bytes;  // in units of the scales
  std::vector<double> power, weight;

  [[nodiscard]] std::size_t parameters() const { return kFirstDtype + 2 * dtypes.size(); }
  [[nodiscard]] std::size_t compute(std::size_t dtype) const { return kFirstDtype + 2 * dtype; }
  [[nodiscard]] std::size_t factor(std::size_t dtype) const { return kFirstDtype + 2 * dtype + 1; }
  [[nodiscard]] std::size_t rows() const { return power.size(); }
};

Problem make_problem(std::span<const RateSample> samples, const SaturatingPrior& prior) {
  Problem problem;
  std::map<units::Precision, double> largest;
  std::map<std::size_t, double> repeats;
  double largest_power = 0;
  for (const RateSample& row : samples) {
    double& rate = largest[row.sample->dtype];
    rate = std::max(rate, row.flops.in(units::flop_per_second));
    const power::Traffic& traffic = row.traffic;
    problem.byte_scale =
        std::max(problem.byte_scale, (traffic.parameters + traffic.activations).in(units::byte_per_second));
    largest_power = std::max(largest_power, row.power_watts);
    repeats[row.sample->configuration] += 1;
  }
  problem.scale = prior.limit_watts.value_or(largest_power / kCapOverLimit);
  for (const auto& [dtype, rate] : largest) {
    problem.dtypes.push_back(dtype);
    problem.flop_scale.push_back(rate);
  }
  for (const RateSample& row : samples) {
    const auto at = std::lower_bound(problem.dtypes.begin(), problem.dtypes.end(), row.sample->dtype);
    const auto dtype = static_cast<std::size_t>(at - problem.dtypes.begin());
    problem.dtype_of.push_back(dtype);
    problem.flops.push_back(row.flops.in(units::flop_per_second) / problem.flop_scale[dtype]);
    problem.parameter_bytes.push_back(row.traffic.parameters.in(units::byte_per_second) / problem.byte_scale);
    problem.activation_bytes.push_back(row.traffic.activations.in(units::byte_per_second) / problem.byte_scale);
    problem.power.push_back(row.power_watts);
    problem.weight.push_back(1 / std::sqrt(repeats[row.sample->configuration]));
  }
  return problem;
}

/// ∂ softmin / ∂x, ∂cap and ∂τ.
struct Slopes {
  double x, cap, tau;
};
Slopes slopes(double x, double cap, double tau) {
  const double distance = (x - cap) / tau;
  const double share_of_cap = 1 / (1 + std::exp(-distance));  // e^(−cap/τ) over the sum of both
  const double log_sum = std::log1p(std::exp(-std::abs(distance)));
  // softmin = min − τ·log_sum; its τ-slope is −log_sum − |distance| · (weight of the larger).
  const double of_larger = distance < 0 ? share_of_cap : 1 - share_of_cap;
  return {1 - share_of_cap, share_of_cap, -log_sum - std::abs(distance) * of_larger};
}

struct Terms {
  double floor, compute, bytes, activations, cap, tau;  // watts
  [[nodiscard]] double demand() const { return floor + compute + bytes + activations; }
};
Terms terms(const Problem& problem, std::span<const double> p, std::size_t row) {
  const std::size_t dtype = problem.dtype_of[row];
  const double per_byte = std::exp(p[kByte] + p[problem.factor(dtype)]);
  return {.floor = std::exp(p[kFloor]),
          .compute = std::exp(p[problem.compute(dtype)]) * problem.flops[row],
          .bytes = per_byte * problem.parameter_bytes[row],
          .activations = per_byte * std::exp(p[kActivation]) * problem.activation_bytes[row],
          .cap = p[kCap] * problem.scale,
          .tau = std::exp(p[kTau]) * problem.scale};
}

void residuals(const Problem& problem, std::span<const double> p, std::span<double> out) {
  for (std::size_t row = 0; row < problem.rows(); ++row) {
    const Terms t = terms(problem, p, row);
    const double predicted = power::softmin(t.demand(), t.cap, t.tau);
    out[row] = (predicted / problem.power[row] - 1) / kExpectedError * problem.weight[row];
  }
}

void jacobian(const Problem& problem, std::span<const double> p, std::span<double> out) {
  std::fill(out.begin(), out.end(), 0.0);
  const std::size_t n = problem.rows();
  for (std::size_t row = 0; row < n; ++row) {
    const Terms t = terms(problem, p, row);
    const Slopes s = slopes(t.demand(), t.cap, t.tau);
    const double unit = problem.weight[row] / (kExpectedError * problem.power[row]);
    const std::size_t dtype = problem.dtype_of[row];
    const auto set = [&](std::size_t parameter, double slope) { out[parameter * n + row] = slope * unit; };
    set(kFloor, s.x * t.floor);
    set(kByte, s.x * (t.bytes + t.activations));
    set(kCap, s.cap * problem.scale);
    set(kTau, s.tau * t.tau);
    set(kActivation, s.x * t.activations);
    set(problem.compute(dtype), s.x * t.compute);
    set(problem.factor(dtype), s.x * (t.bytes + t.activations));
  }
}

stats::NlsProblem nls_problem(const Problem& problem, const SaturatingPrior& prior) {
  stats::NlsProblem nls;
  nls.residuals = problem.rows();
  nls.residual_function = [&problem](auto p, auto out) { residuals(problem, p, out); };
  nls.jacobian_function = [&problem](auto p, auto out) { jacobian(problem, p, out); };
  nls.loss = stats::Loss::soft_l1;
  nls.loss_scale = *std::max_element(problem.weight.begin(), problem.weight.end());

  const double scale = problem.scale;
  const double floor = kFloorOverIdle * prior.idle_watts.value_or(kIdleOverLimit * scale);
  nls.start.assign(problem.parameters(), 0.0);
  nls.bounds.assign(problem.parameters(), {std::log(1e-3 * scale), std::log(20 * scale)});
  nls.start[kFloor] = std::log(std::clamp(floor, 2e-3 * scale, 0.8 * scale));
  nls.bounds[kFloor] = {std::log(1e-3 * scale), std::log(0.9 * scale)};
  nls.start[kByte] = std::log(0.2 * scale);
  nls.start[kCap] = kCapOverLimit;
  nls.bounds[kCap] = {0.8, 1.4};
  nls.start[kTau] = std::log(kSoftness);
  nls.bounds[kTau] = {std::log(0.003), std::log(0.2)};
  nls.start[kActivation] = std::log(kActivationFactor);
  nls.bounds[kActivation] = {-3, 3};
  nls.priors = {{kFloor, std::log(floor), prior.idle_watts ? kFloorSd : kIdleUnknownSd},
                {kCap, kCapOverLimit, prior.limit_watts ? kCapSd : kCapSdUnknownLimit},
                {kTau, std::log(kSoftness), kSoftnessSd},
                {kActivation, std::log(kActivationFactor), kActivationSd}};
  for (std::size_t dtype = 0; dtype < problem.dtypes.size(); ++dtype) {
    nls.start[problem.compute(dtype)] = std::log(0.3 * scale);
    nls.bounds[problem.factor(dtype)] = {-2, 2};
    nls.priors.push_back({problem.factor(dtype), 0, kByteFactorSd});
  }
  return nls;
}

/// The natural parameters: value and its slope on the parameter of the search.
struct Natural {
  std::string name;
  double value, slope;
};
std::vector<Natural> natural(const Problem& problem, std::span<const double> p) {
  const auto exponential = [&](std::string name, std::size_t place, double unit) {
    const double value = std::exp(p[place]) * unit;
    return Natural{std::move(name), value, value};
  };
  std::vector<Natural> out;
  out.push_back(exponential("floor_watts", kFloor, 1));
  out.push_back(exponential("joules_per_byte", kByte, 1 / problem.byte_scale));
  out.push_back({"cap_watts", p[kCap] * problem.scale, problem.scale});
  out.push_back(exponential("softness_watts", kTau, problem.scale));
  out.push_back(exponential("activation_factor", kActivation, 1));
  for (std::size_t dtype = 0; dtype < problem.dtypes.size(); ++dtype) {
    const std::string_view name = units::name(problem.dtypes[dtype]);
    out.push_back(
        exponential(fmt::format("joules_per_flop.{}", name), problem.compute(dtype), 1 / problem.flop_scale[dtype]));
    out.push_back(exponential(fmt::format("byte_factor.{}", name), problem.factor(dtype), 1));
  }
  return out;
}

power::Saturating to_model(const Problem& problem, const stats::NlsFit& fit) {
  power::Saturating model;
  const std::vector<Natural> parameters = natural(problem, fit.parameters);
  model.floor_watts = parameters[kFloor].value;
  model.joules_per_byte = parameters[kByte].value;
  model.cap_watts = parameters[kCap].value;
  model.softness_watts = parameters[kTau].value;
  model.activation_factor = parameters[kActivation].value;
  for (std::size_t dtype = 0; dtype < problem.dtypes.size(); ++dtype) {
    model.joules_per_flop[problem.dtypes[dtype]] = parameters[problem.compute(dtype)].value;
    model.byte_factor[problem.dtypes[dtype]] = parameters[problem.factor(dtype)].value;
  }
  for (const Natural& parameter : parameters) model.parameter_names.push_back(parameter.name);
  if (fit.covariance) {
    const std::size_t n = parameters.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        model.covariance.push_back(parameters[i].slope * parameters[j].slope * (*fit.covariance)[i * n + j]);
      }
    }
  }
  return model;
}

}  // namespace

Result<SaturatingFit> fit_saturating(std::span<const RateSample> samples, const SaturatingPrior& prior) {
  const Problem problem = make_problem(samples, prior);
  if (samples.size() < problem.parameters()) {
    return fail(Errc::bad_data, fmt::format("the saturating model has {} parameters, and {} can be used",
                                            problem.parameters(), base::counted(samples.size(), "row")));
  }
  FLOPWATT_TRY(const stats::NlsFit fit, stats::fit_nls(nls_problem(problem, prior)));
  SaturatingFit out;
  out.model = to_model(problem, fit);
  out.model.rows = samples.size();
  out.converged = fit.converged();
  if (!fit.converged()) {
    out.notes.push_back(fmt::format("the saturating fit did not converge ({})", stats::name(fit.status)));
  }
  std::vector<double> measured, predicted, ratio;
  for (const RateSample& row : samples) {
    measured.push_back(row.power_watts);
    predicted.push_back(out.model.watts(row.sample->dtype, row.flops, row.traffic));
    ratio.push_back((row.traffic.parameters + row.traffic.activations).in(units::byte_per_second) /
                    row.fused_bytes_per_second);
  }
  FLOPWATT_TRY(out.model.mape_pct, stats::mape_pct(measured, predicted));
  FLOPWATT_TRY(out.model.traffic_per_mbu_byte, stats::median(ratio));
  return out;
}

double watts(const power::Saturating& model, const RateSample& sample,
             const std::map<units::Precision, units::FlopRate>& peaks) {
  const units::Precision dtype = sample.sample->dtype;
  if (model.joules_per_flop.contains(dtype)) return model.watts(dtype, sample.flops, sample.traffic);
  double at_peak = 0, factor = 0, n = 0;
  for (const auto& [other, joules] : model.joules_per_flop) {
    const auto peak = peaks.find(other);
    if (peak == peaks.end() || !(joules > 0)) continue;
    at_peak += std::log(joules * peak->second.in(units::flop_per_second));
    factor += std::log(model.byte_factor.at(other));
    n += 1;
  }
  power::Saturating widened = model;
  const auto own_peak = peaks.find(dtype);
  if (n > 0 && own_peak != peaks.end()) {
    widened.joules_per_flop[dtype] = std::exp(at_peak / n) / own_peak->second.in(units::flop_per_second);
    widened.byte_factor[dtype] = std::exp(factor / n);
  }
  return widened.watts(dtype, sample.flops, sample.traffic);
}

std::map<std::string, double> named_parameters(const power::Saturating& model) {
  std::map<std::string, double> out{{"floor_watts", model.floor_watts},
                                    {"joules_per_byte", model.joules_per_byte},
                                    {"cap_watts", model.cap_watts},
                                    {"softness_watts", model.softness_watts},
                                    {"activation_factor", model.activation_factor}};
  for (const auto& [dtype, value] : model.joules_per_flop) {
    out[fmt::format("joules_per_flop.{}", units::name(dtype))] = value;
  }
  for (const auto& [dtype, value] : model.byte_factor) out[fmt::format("byte_factor.{}", units::name(dtype))] = value;
  return out;
}

}  // namespace flopwatt::fit
