#pragma once

#include <vector>

#include "flopwatt/cli/command.hpp"

namespace flopwatt::cli {

[[nodiscard]] Verb count_verb();
[[nodiscard]] Verb devices_verb();
[[nodiscard]] Verb mfu_verb();
[[nodiscard]] Verb audit_verb();
[[nodiscard]] Verb fit_verb();
[[nodiscard]] Verb energy_verb();
[[nodiscard]] Verb monitor_verb();
[[nodiscard]] Verb power_verb();
[[nodiscard]] Verb train_verb();
[[nodiscard]] Verb sweep_verb();

/// In the order of the way of a number: facts, measurement, prediction.
[[nodiscard]] std::vector<Verb> all_verbs();

}  // namespace flopwatt::cli
