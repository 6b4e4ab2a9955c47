#pragma once

#include <optional>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/work/workload.hpp"

namespace flopwatt::work {

/// Bytes of the whole model's weights as the checkpoint's quantisation stores them, scales included, on however many
/// devices.  Absent where the workload does not count with it: the file has none, its weights are trained, or the
/// workload says in which type weights are stored.
[[nodiscard]] std::optional<units::Count> quantized_weight_bytes(const model::Architecture& architecture,
                                                                 const Workload& workload);

}  // namespace flopwatt::work
