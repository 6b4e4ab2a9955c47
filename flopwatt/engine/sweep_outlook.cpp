#include "flopwatt/engine/sweep_outlook.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/engine/sweep_meter.hpp"
#include "flopwatt/engine/workload_program.hpp"
#include "flopwatt/io/file.hpp"

namespace flopwatt::engine {
namespace {

/// Learned positions end with their table; computed ones (rotary) go on beyond what the model was built for.
bool has_position_table(const model::Architecture& architecture) {
  return std::ranges::any_of(architecture.text().outside, [&](const model::Tensor& tensor) {
    return tensor.use == model::Use::lookup && tensor.rank > 0 && tensor.dims[0] == *architecture.max_positions &&
           tensor.dims[0] != architecture.vocabulary;
  });
}

/// Device nodes of the drivers: NVIDIA's, that of Windows' Linux, that of Jetson; AMD's.
bool may_have(workload::Place::Type type) {
  constexpr std::array kCuda{"/dev/nvidiactl", "/dev/dxg", "/dev/nvmap"};
  constexpr std::array kHip{"/dev/kfd", "/dev/dxg"};
  const auto there = [](const char* node) { return io::exists(node); };
  switch (type) {
    case workload::Place::Type::cuda:
      return std::ranges::any_of(kCuda, there);
    case workload::Place::Type::hip:
      return std::ranges::any_of(kHip, there);
    case workload::Place::Type::cpu:
      break;
  }
  return true;
}

}  // namespace

std::vector<std::string> sweep_outlook(const sweep::Plan& plan, std::span<const sweep::Model> models,
                                       std::span<const model::Architecture> architectures,
                                       std::span<const sweep::Configuration> configurations) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const model::Architecture& architecture = architectures[i];
    if (!architecture.max_positions || plan.padding == workload::Padding::none) continue;
    const std::int64_t positions = *architecture.max_positions;
    const auto longer = std::ranges::count_if(configurations, [&](const sweep::Configuration& one) {
      return one.model == models[i].name && one.sequence > positions;
    });
    if (longer == 0) continue;
    notes.push_back(
        fmt::format("{} has {}: {} of the configurations {} longer sequences{}", models[i].name,
                    base::counted(positions, "position"), longer, base::noun(longer, "has", "have"),
                    has_position_table(architecture) ? " and will fail." : ", beyond what the model was built for."));
  }
  if (!may_have(plan.device.type)) {
    notes.push_back(fmt::format("This machine shows no device of {}: its runs will fail where there is none.",
                                workload::to_string(plan.device)));
  }
  return notes;
}

std::vector<std::string> sweep_obstacles(const sweep::Plan& plan, const std::string& workload) {
  std::vector<std::string> notes;
  const auto add = [&](const Error& error) {
    notes.push_back(fmt::format("A sweep would be refused here: {}.", error.message()));
  };
  if (const auto program = workload_program(workload); !program) add(program.error());
  if (const auto meter = open_meter(plan, plan.where); !meter) add(meter.error());
  return notes;
}

}  // namespace flopwatt::engine
