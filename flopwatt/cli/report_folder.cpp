#include "flopwatt/cli/report_folder.hpp"

#include <fmt/format.h>

#include <optional>

#include "flopwatt/io/file.hpp"
#include "flopwatt/io/process.hpp"
#include "flopwatt/report/report_page.hpp"

namespace flopwatt::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kAssets = "report-assets";
/// In the order in which a page must run them.
constexpr std::string_view kScripts[] = {"vega.min.js", "vega-lite.min.js", "vega-embed.min.js"};
constexpr std::string_view kRenderer = "render.cjs";

/// The folder with the chart scripts: the caller's, the build's, the installed one; empty where there is none.
std::string find_assets(const std::vector<std::string>& data_folders) {
  std::vector<std::string> candidates;
  for (auto folder = data_folders.rbegin(); folder != data_folders.rend(); ++folder)
    candidates.push_back(fmt::format("{}/{}", *folder, kAssets));
  if (const std::string here = io::program_folder(); !here.empty()) {
    candidates.push_back(fmt::format("{}/{}", here, kAssets));
    candidates.push_back(fmt::format("{}/../share/flopwatt/{}", here, kAssets));
  }
  for (const std::string& candidate : candidates) {
    if (io::exists(fmt::format("{}/{}", candidate, kScripts[0]))) return candidate;
  }
  return {};
}

Result<report::ChartScripts> read_assets(const std::string& folder) {
  report::ChartScripts out;
  for (const std::string_view name : kScripts) {
    FLOPWATT_TRY(std::string text, io::read_file(fmt::format("{}/{}", folder, name)));
    out.scripts.push_back({std::string{name}, std::move(text)});
  }
  FLOPWATT_TRY(out.licences, io::read_file(folder + "/LICENSES.txt"));
  return out;
}

/// One SVG a figure; or why there are none.
Result<void> render(const std::string& assets, const std::string& folder, const report::FigureSet& figures) {
  std::vector<std::string> words{"node", fmt::format("{}/{}", assets, kRenderer), folder};
  for (const report::Figure& figure : figures.figures) words.push_back(figure.name);
  FLOPWATT_TRY(const std::string said, io::run_program(words, 120s));
  static_cast<void>(said);
  return {};
}

}  // namespace

Result<std::vector<std::string>> write_report(const answers::Fit& answer, const std::string& folder,
                                              const std::vector<std::string>& data_folders) {
  std::vector<std::string> notes;
  const report::FigureSet figures = report::figures(answer);
  const std::string assets = find_assets(data_folders);
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
    if (const auto rendered = render(assets, folder, figures)) {
      drawn = true;
    } else {
      notes.push_back(fmt::format("report: no SVG, node {}; node 18 or later draws them", rendered.error().what));
    }
  }
  notes.insert(notes.begin(),
               fmt::format("report: {}/{} ({:.1f} MB), {} figures as Vega-Lite and CSV{}", folder, report::kReportPage,
                           static_cast<double>(page_bytes) / 1e6, figures.figures.size(), drawn ? " and SVG" : ""));
  return notes;
}

}  // namespace flopwatt::cli
