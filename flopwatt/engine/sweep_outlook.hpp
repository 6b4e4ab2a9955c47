#pragma once

#include <span>
#include <string>
#include <vector>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/sweep/configuration.hpp"
#include "flopwatt/sweep/plan.hpp"

/// What can be told of a plan before anything runs: why runs of it would fail.

namespace flopwatt::engine {

/// Sequences that a model has no positions for, and a device that this machine does not have; a sentence each.
/// `models` and `architectures` in the order of plan.models.
[[nodiscard]] std::vector<std::string> sweep_outlook(const sweep::Plan& plan, std::span<const sweep::Model> models,
                                                     std::span<const model::Architecture> architectures,
                                                     std::span<const sweep::Configuration> configurations);

/// What a sweep would be refused for here and now: the program that does the work, and the power source.
[[nodiscard]] std::vector<std::string> sweep_obstacles(const sweep::Plan& plan, const std::string& workload);

}  // namespace flopwatt::engine
