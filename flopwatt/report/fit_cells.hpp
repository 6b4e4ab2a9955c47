#pragma once

#include <optional>
#include <vector>

#include "flopwatt/fit/fit.hpp"
#include "flopwatt/report/document.hpp"

/// Cells that the tables of a fit share.

namespace flopwatt::report {

/// A number and its text; a dash where there is none.
[[nodiscard]] Cell number(double value, int decimals);
[[nodiscard]] Cell number(const std::optional<double>& value, int decimals);
/// "0.74 ± 0.03": the half-width of the bootstrap interval.
[[nodiscard]] Cell with_ci(const std::optional<double>& value, const std::optional<fit::Interval>& ci, int decimals);
/// "tensor dense"; where the path is not known, why.
[[nodiscard]] std::string path_text(const power::Peak& peak);
/// Where the rows went that were read and not used: "160 samples averaged over 9 runs; left out: 1 × idle row
/// (baseline)".
[[nodiscard]] std::string rows_lost(const fit::DeviceFit& device);
/// Which rows the fits of power on MFU used, by device, and what was left out.
[[nodiscard]] std::vector<Fact> rows_of(const fit::FitResult& result);

}  // namespace flopwatt::report
