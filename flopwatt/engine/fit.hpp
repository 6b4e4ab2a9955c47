#pragma once

#include <string>
#include <vector>

#include "flopwatt/answers/fit.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/facts.hpp"

namespace flopwatt::engine {

struct FitRequest {
  std::vector<std::string> files;
  std::string device;              ///< of files that do not name theirs
  std::string peaks = "recorded";  ///< recorded, catalogue, audited, or a file
  fit::FitOptions options;         ///< its peaks are filled from the above
};

/// Errors: Errc::bad_data at FILE:LINE for what cannot be read, and for a device that is left without enough rows.
[[nodiscard]] Result<answers::Fit> fit(const Facts& facts, const FitRequest& request);

}  // namespace flopwatt::engine
