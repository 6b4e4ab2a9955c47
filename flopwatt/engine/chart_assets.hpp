#pragma once

#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"

namespace flopwatt::engine {

/// The folder with the chart scripts (build target `report-assets`): `report-assets` in the last of `data_folders` that
/// has it, beside the running program, or in ../share/flopwatt of it; empty where there is none.
[[nodiscard]] std::string find_chart_assets(const std::vector<std::string>& data_folders);

/// Draws FOLDER/NAME.vl.json as FOLDER/NAME.svg for every name, with node and the renderer among the assets.
/// Errc::unavailable with the reason: no node, one that is too old, one that takes too long.
[[nodiscard]] Result<void> draw_charts(const std::string& assets, const std::string& folder,
                                       const std::vector<std::string>& names);

}  // namespace flopwatt::engine
