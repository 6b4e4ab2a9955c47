#include "flopwatt/work/stored_weights.hpp"

#include "flopwatt/work/ledger.hpp"

namespace flopwatt::work {

std::optional<units::Count> quantized_weight_bytes(const model::Architecture& architecture, const Workload& workload) {
  const bool trained = workload.phase == Phase::train && workload.trainable.kind == Trainable::Kind::all;
  if (!architecture.quantization || workload.weight_precision || trained) return std::nullopt;
  // The weights do not depend on what runs: the least that does.
  const bool decoder = architecture.text().role == model::StackRole::decoder;
  const Workload least{
      .phase = decoder ? Phase::prefill : Phase::encode, .sequence = 1, .precision = workload.precision};
  const Result<Memory> held = memory(architecture, least);
  if (!held) return std::nullopt;
  return held->weights;
}

}  // namespace flopwatt::work
