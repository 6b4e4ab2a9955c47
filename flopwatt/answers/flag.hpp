#pragma once

#include <string>
#include <vector>

#include "flopwatt/power/predict.hpp"

namespace flopwatt::answers {

/// A warning that programs can match on, with the sentence for people.
struct Flag {
  std::string code;  ///< "extrapolates", "above_peak", "faster_than_memory", …
  std::string text;  ///< one sentence with the numbers and what to check
};

/// The flags of a power prediction.
[[nodiscard]] std::vector<Flag> flags_of(const power::Prediction& prediction);

}  // namespace flopwatt::answers
