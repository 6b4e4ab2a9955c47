#pragma once

#include <string>
#include <vector>

#include "flopwatt/power/predict.hpp"

namespace flopwatt::answers {

/// A warning that programs can match on, with the sentence for people.
struct Flag {
  /// "extrapolates", "above_peak", "faster_than_memory", …; docs/cli.md lists them.  "peak_path_differs": the peak that
  /// normalises an MFU is of another path (vector units, tensor cores) than the calibration was measured on.
  std::string code;
  std::string text;  ///< one sentence with the numbers and what to check
};

/// The flags of a power prediction.
[[nodiscard]] std::vector<Flag> flags_of(const power::Prediction& prediction);

}  // namespace flopwatt::answers
