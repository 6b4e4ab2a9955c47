#pragma once

#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/dataset/dataset.hpp"

namespace flopwatt::engine {

/// Samples files, joined by device.  `device` is what files that do not name theirs speak of.
/// Errc::bad_data at FILE:LINE for what cannot be read.
[[nodiscard]] Result<std::vector<dataset::Dataset>> read_samples_files(const std::vector<std::string>& files,
                                                                       const std::string& device);

}  // namespace flopwatt::engine
