#pragma once

#include <string>
#include <string_view>

#include "flopwatt/answers/fit.hpp"
#include "flopwatt/report/figures.hpp"

/// The parts of the page of a fit that are neither table nor figure, as HTML.

namespace flopwatt::report {

[[nodiscard]] std::string report_title(const answers::Fit& answer);
/// What was fitted and how far it may be wrong, a card a device.
[[nodiscard]] std::string summary_html(const answers::Fit& answer);
/// The findings of the audit, by device, worst first.
[[nodiscard]] std::string findings_html(const answers::Fit& answer);
/// Options, sampling, figures that are not there, notes.
[[nodiscard]] std::string provenance_html(const answers::Fit& answer, const FigureSet& figures);
/// What made the page, and the licences of the scripts in it.
[[nodiscard]] std::string footer_html(std::string_view licences);

}  // namespace flopwatt::report
