#include "flopwatt/model/architecture.hpp"

namespace flopwatt::model {
namespace {

constexpr std::array<std::string_view, kComponentCount> kComponentNames{
    "embedding", "lm_head", "attention", "mlp", "experts", "router", "norm", "vision", "other"};

void add(Census& census, const Tensor& tensor, const std::optional<Routing>& routing, units::Count layers) noexcept {
  const units::Count held = parameters(tensor) * layers;
  census.by_component[static_cast<std::size_t>(tensor.component)] += held;
  census.total += held;
  const bool routed = routing && tensor.component == Component::experts;
  census.active += routed ? held * routing->top_k / units::Count{routing->experts} : held;
}

}  // namespace

std::string_view name(Component component) noexcept { return kComponentNames[static_cast<std::size_t>(component)]; }

units::Count elements(const Tensor& tensor) noexcept {
  units::Count product = 1;
  for (std::uint8_t axis = 0; axis < tensor.rank; ++axis) product *= tensor.dims[axis];
  return product;
}

units::Count parameters(const Tensor& tensor) noexcept {
  return tensor.tied ? units::Count{0} : elements(tensor) * tensor.copies;
}

Census census(const Architecture& architecture) noexcept {
  Census result;
  for (const Stack& stack : architecture.stacks) {
    for (const Tensor& tensor : stack.outside) add(result, tensor, std::nullopt, 1);
    for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
      for (const Tensor& tensor : stack.blocks[i].tensors) {
        add(result, tensor, stack.blocks[i].routing, stack.block_counts[i]);
      }
    }
  }
  result.body = result.total - result[Component::embedding] - result[Component::lm_head];
  return result;
}

}  // namespace flopwatt::model
