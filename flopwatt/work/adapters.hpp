#pragma once

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/work/workload.hpp"

/// Low-rank adapters (LoRA, arXiv 2106.09685): beside a frozen product [k × n] stand A [k × r] and B [r × n].

namespace flopwatt::work {

/// "q_proj" of "model.layers.{layer}.self_attn.q_proj.weight".
[[nodiscard]] std::string_view module_part(std::string_view tensor_name) noexcept;

/// Whether `trainable` puts an adapter beside this tensor of a block.
[[nodiscard]] bool adapted(const Trainable& trainable, const model::Tensor& tensor) noexcept;

/// Parameters that are trained, over all layers and experts: all of them, the head's (the tied embedding's), the
/// adapters', or none.
[[nodiscard]] units::Count trained_parameters(const model::Architecture& architecture, const Trainable& trainable);

/// Refuses a rank below 1 and a target that no block has (naming those there are), and a head that is not there.
/// Where "--trainable".
[[nodiscard]] Result<void> check_trainable(const model::Architecture& architecture, const Trainable& trainable);

}  // namespace flopwatt::work
