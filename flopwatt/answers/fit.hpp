#pragma once

#include <string>
#include <vector>

#include "flopwatt/fit/fit.hpp"

namespace flopwatt::answers {

/// `flopwatt fit`: measured rows turned into calibrations.
struct Fit {
  std::vector<std::string> files;  ///< that were read, as the caller named them
  fit::FitOptions options;
  fit::FitResult result;
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
