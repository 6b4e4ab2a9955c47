#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/fit.hpp"
#include "flopwatt/report/figures.hpp"

/// A fit as one HTML page that needs nothing beside itself, and the files that go with it.

namespace flopwatt::report {

/// The JavaScript that draws (build target `report-assets`), in the order in which it must run.
struct ChartScripts {
  struct Script {
    std::string name;  ///< "vega.min.js"
    std::string text;
  };
  std::vector<Script> scripts;
  std::string licences;  ///< of the scripts; printed into the page
};

struct ReportFile {
  std::string name;  ///< within the report's folder
  std::string content;
};

/// The name of the page in the folder.
inline constexpr const char* kReportPage = "report.html";

/// report.html, NAME.vl.json of every figure and their CSV files.  Without `scripts` the page has the tables and says
/// what its figures lack.  `answer` must have been made with FitOptions::details.
[[nodiscard]] std::vector<ReportFile> fit_report(const answers::Fit& answer, const FigureSet& figures,
                                                 const std::optional<ChartScripts>& scripts);

/// Text for a <script> element: what HTML would take for its end is written otherwise.
[[nodiscard]] std::string inline_script(std::string_view javascript);
/// The same for JSON: no '<' remains.
[[nodiscard]] std::string inline_json(std::string_view json);

}  // namespace flopwatt::report
