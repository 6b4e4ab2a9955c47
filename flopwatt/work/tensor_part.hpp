#pragma once

#include "flopwatt/model/architecture.hpp"

namespace flopwatt::work {

/// What part of a layer a tensor is of.  All parameters of a vision stack are accounted as `vision`; what they do is
/// told by their labels, which are those of the other stacks.
[[nodiscard]] inline model::Component part_of(const model::Tensor& tensor) noexcept {
  using model::Component;
  if (tensor.component != Component::vision) return tensor.component;
  if (tensor.label == "norm") return Component::norm;
  if (tensor.label.starts_with("attention.")) return Component::attention;
  if (tensor.label.starts_with("mlp.")) return Component::mlp;
  return Component::vision;
}

}  // namespace flopwatt::work
