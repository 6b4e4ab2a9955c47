#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace flopwatt::libtorch {

using Segment = std::function<at::Tensor(const at::Tensor&)>;

/// Activation checkpointing (arXiv 1604.06174): runs `segment` without recording, keeps its input only, and runs it
/// again, recorded, when the backward pass arrives.  Random numbers (dropout) are the same both times.  Gradients of
/// parameters that `segment` uses are accumulated as by any backward pass; `input` must require a gradient, or the
/// segment's parameters get none.
[[nodiscard]] at::Tensor checkpointed(Segment segment, const at::Tensor& input);

}  // namespace flopwatt::libtorch
