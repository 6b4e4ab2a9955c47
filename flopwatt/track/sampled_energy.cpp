#include "flopwatt/track/sampled_energy.hpp"

#include <algorithm>
#include <utility>

namespace flopwatt::track {
namespace {

/// Of every source those devices that are part of no other.
std::vector<std::size_t> outermost_of(const telemetry::Sampler& sampler) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < sampler.devices().size(); ++i) {
    if (!sampler.info(i).part_of) kept.push_back(i);
  }
  return kept;
}

}  // namespace

std::function<std::vector<telemetry::WindowEnergy>(telemetry::SteadyTime, telemetry::SteadyTime)> sampled_energy(
    std::shared_ptr<telemetry::Sampler> sampler, std::vector<std::size_t> devices) {
  if (devices.empty()) devices = outermost_of(*sampler);
  return [sampler = std::move(sampler), devices = std::move(devices)](telemetry::SteadyTime from,
                                                                      telemetry::SteadyTime to) {
    const bool hangs = std::any_of(devices.begin(), devices.end(), [&](std::size_t i) { return sampler->hangs(i); });
    if (!hangs) sampler->read_now();
    std::vector<telemetry::WindowEnergy> energy;
    energy.reserve(devices.size());
    for (const std::size_t device : devices) energy.push_back(sampler->energy_over(device, from, to));
    return energy;
  };
}

}  // namespace flopwatt::track
