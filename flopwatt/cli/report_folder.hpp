#pragma once

#include <string>
#include <vector>

#include "flopwatt/answers/fit.hpp"
#include "flopwatt/base/result.hpp"

namespace flopwatt::cli {

/// Writes the report of a fit into `folder`, made if it is absent: the page, each figure as Vega-Lite and its data as
/// CSV, and SVG where node and the chart scripts are at hand.  `data_folders` may hold report-assets/, which comes
/// before the one that was built or installed with the program. Returns notes: what was written, and what is missing
/// and how to get it.  Errc::bad_data at the path that could not be written.
[[nodiscard]] Result<std::vector<std::string>> write_report(const answers::Fit& answer, const std::string& folder,
                                                            const std::vector<std::string>& data_folders);

}  // namespace flopwatt::cli
