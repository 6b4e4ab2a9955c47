#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/sampler.hpp"

namespace flopwatt::track {

/// What TrackerOptions::energy asks for, from a running sampler: the energy of its `devices` (indices of
/// Sampler::devices(); none stands for all that are part of no other) over each stretch.  Every device is read once
/// more at the end of a stretch, so that the stretch is covered; that takes as long as the drivers take, and at most
/// once as long as the sampler's patience: a device that hangs is not waited for again.
[[nodiscard]] std::function<std::vector<telemetry::WindowEnergy>(telemetry::SteadyTime, telemetry::SteadyTime)>
sampled_energy(std::shared_ptr<telemetry::Sampler> sampler, std::vector<std::size_t> devices = {});

}  // namespace flopwatt::track
