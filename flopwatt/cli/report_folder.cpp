#include "flopwatt/cli/report_folder.hpp"

#include <fmt/format.h>

#include <optional>

#include "flopwatt/engine/chart_assets.hpp"
#include "flopwatt/io/file.hpp"
#include "flopwatt/report/report_page.hpp"

namespace flopwatt::cli {
namespace {

/// In the order in which a page must run them.
constexpr std::string_view kScripts[] = {"vega.min.js", "vega-lite.min.js", "vega-embed.min.js"};

Result<report::ChartScripts> read_assets(const std::string& folder) {
  report::ChartScripts out;
  for (const std::string_view name : kScripts) {
    FLOPWATT_TRY(std::string text, io::read_file(fmt::format("{}/{}", folder, name)));
    out.scripts.push_back({std::string{name}, std::move(text)});
  }
  FLOPWATT_TRY(out.licences, io::read_file(folder + "/LICENSES.txt"));
  return out;
}

}  // namespace

Result<std::vector<std::string>> write_report(const answers::Fit& answer, const std::string& folder,
                                              const std::vector<std::string>& data_folders) {
  std::vector<std::string> notes;
  const report::FigureSet figures = report::figures(answer);
  const std::string assets = engine::find_chart_assets(data_folders);
  std::optional<report::ChartScripts> scripts;
  if (assets.empty()) {
    notes.push_back(
        "report: no figures in the page and no SVG, the chart scripts are not here; build the target report-assets "
        "(needs node and npm), or name a folder that holds report-assets/ with --data");
  } else {
    FLOPWATT_TRY(scripts, read_assets(assets));
  }
  FLOPWATT_TRY_VOID(io::make_folder(folder));
  std::size_t page_bytes = 0;
  for (const report::ReportFile& file : report::fit_report(answer, figures, scripts)) {
    FLOPWATT_TRY_VOID(io::write_file_atomic(folder + '/' + file.name, file.content));
    if (file.name == report::kReportPage) page_bytes = file.content.size();
  }
  // An SVG of an earlier run would show other data.
  for (const report::Figure& figure : figures.figures) {
    FLOPWATT_TRY_VOID(io::remove_file(fmt::format("{}/{}.svg", folder, figure.name)));
  }
  bool drawn = false;
  if (scripts) {
    std::vector<std::string> names;
    for (const report::Figure& figure : figures.figures) names.push_back(figure.name);
    const auto rendered = engine::draw_charts(assets, folder, names);
    drawn = rendered.has_value();
    if (!drawn)
      notes.push_back(fmt::format("report: no SVG, node {}; node 18 or later draws them", rendered.error().what));
  }
  notes.insert(notes.begin(),
               fmt::format("report: {}/{} ({:.1f} MB), {} figures as Vega-Lite and CSV{}", folder, report::kReportPage,
                           static_cast<double>(page_bytes) / 1e6, figures.figures.size(), drawn ? " and SVG" : ""));
  return notes;
}

}  // namespace flopwatt::cli
