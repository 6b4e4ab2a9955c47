#include "flopwatt/fit/across_devices.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "flopwatt/stats/error_metrics.hpp"

namespace flopwatt::fit {
namespace {

/// Geometric mean of what was added; absent for nothing.
class GeometricMean {
 public:
  void add(double value) {
    if (!(value > 0)) return;
    sum_ += std::log(value);
    ++n_;
  }
  [[nodiscard]] std::optional<double> value() const {
    if (n_ == 0) return std::nullopt;
    return std::exp(sum_ / n_);
  }

 private:
  double sum_ = 0;
  int n_ = 0;
};

Result<power::DevicePrior> common(std::span<const Measured* const> devices) {
  GeometricMean idle, floor, compute, memory, activation, cap, softness, traffic;
  power::DevicePrior prior;
  for (const Measured* device : devices) {
    const power::Saturating& model = device->model;
    prior.devices.push_back(device->name);
    if (device->idle_watts) {
      idle.add(*device->idle_watts / device->limit_watts);
      floor.add(model.floor_watts / *device->idle_watts);
    }
    // A device weighs once, however many dtypes it was measured in.
    GeometricMean own_compute, own_factor;
    for (const auto& [dtype, joules] : model.joules_per_flop) {
      const auto peak = device->peaks.find(dtype);
      if (peak == device->peaks.end()) continue;
      own_compute.add(joules * peak->second.in(units::flop_per_second) / device->limit_watts);
      own_factor.add(model.byte_factor.at(dtype));
    }
    compute.add(own_compute.value().value_or(0));
    if (device->bytes_per_second) {
      memory.add(model.joules_per_byte * own_factor.value().value_or(1) * *device->bytes_per_second /
                 device->limit_watts);
    }
    activation.add(model.activation_factor);
    cap.add(model.cap_watts / device->limit_watts);
    softness.add(model.softness_watts / device->limit_watts);
    traffic.add(model.traffic_per_mbu_byte.value_or(0));
  }
  const std::pair<const GeometricMean*, double*> figures[] = {
      {&idle, &prior.idle_over_limit},         {&floor, &prior.floor_over_idle},
      {&compute, &prior.compute_over_limit},   {&memory, &prior.memory_over_limit},
      {&activation, &prior.activation_factor}, {&cap, &prior.cap_over_limit},
      {&softness, &prior.softness_over_limit}, {&traffic, &prior.traffic_per_mbu_byte}};
  for (const auto& [mean, place] : figures) {
    const auto value = mean->value();
    if (!value) return fail(Errc::bad_data, "no device tells every figure of the prior (idle power, bandwidth, peaks)");
    *place = *value;
  }
  return prior;
}

double watts(const power::DevicePrior& prior, const Measured& device, const RateSample& row) {
  const units::Precision dtype = row.sample->dtype;
  power::Saturating model;
  model.floor_watts = prior.floor_over_idle * device.idle_watts.value_or(prior.idle_over_limit * device.limit_watts);
  model.joules_per_flop[dtype] =
      prior.compute_over_limit * device.limit_watts / device.peaks.at(dtype).in(units::flop_per_second);
  if (device.bytes_per_second) {
    model.joules_per_byte = prior.memory_over_limit * device.limit_watts / *device.bytes_per_second;
  }
  model.activation_factor = prior.activation_factor;
  model.cap_watts = prior.cap_over_limit * device.limit_watts;
  model.softness_watts = prior.softness_over_limit * device.limit_watts;
  return model.watts(dtype, row.flops, row.traffic);
}

/// Value below which `share` of the weight lies.
double weighted_quantile(const std::vector<std::pair<double, double>>& ascending, double share) {
  double total = 0;
  for (const auto& [value, weight] : ascending) total += weight;
  double sum = 0;
  for (const auto& [value, weight] : ascending) {
    sum += weight;
    if (sum >= share * total * (1 - 1e-12)) return value;
  }
  return ascending.back().first;
}

}  // namespace

Result<power::DevicePrior> fit_prior(std::span<const Measured> devices) {
  if (devices.size() < 3) return fail(Errc::bad_data, "a prior over devices needs three of them");
  std::vector<std::pair<double, double>> errors;  // percent of the prediction, weight
  for (const Measured& left_out : devices) {
    std::vector<const Measured*> others;
    for (const Measured& device : devices) {
      if (&device != &left_out) others.push_back(&device);
    }
    FLOPWATT_TRY(const power::DevicePrior prior, common(others));
    for (const RateSample& row : left_out.rows) {
      if (!left_out.peaks.contains(row.sample->dtype)) continue;
      const double predicted = watts(prior, left_out, row);
      errors.emplace_back(100 * std::abs(row.power_watts / predicted - 1),
                          1.0 / static_cast<double>(left_out.rows.size()));
    }
  }
  std::vector<const Measured*> all;
  for (const Measured& device : devices) all.push_back(&device);
  FLOPWATT_TRY(power::DevicePrior prior, common(all));
  std::sort(errors.begin(), errors.end());
  for (int percent = 1; percent <= 100; ++percent) {
    prior.error_percentiles_pct.push_back(weighted_quantile(errors, percent / 100.0));
  }
  return prior;
}

}  // namespace flopwatt::fit
