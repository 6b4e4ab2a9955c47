#include "flopwatt/engine/chart_assets.hpp"

#include <fmt/format.h>

#include <chrono>

#include "flopwatt/io/file.hpp"
#include "flopwatt/workload/process.hpp"

namespace flopwatt::engine {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kFolder = "report-assets";
constexpr std::string_view kFirstScript = "vega.min.js";
constexpr std::string_view kRenderer = "render.cjs";
constexpr auto kPatience = 120s;

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return base::excerpt(text.substr(text.find_last_of('\n') + 1));
}

}  // namespace

std::string find_chart_assets(const std::vector<std::string>& data_folders) {
  std::vector<std::string> candidates;
  for (auto folder = data_folders.rbegin(); folder != data_folders.rend(); ++folder)
    candidates.push_back(fmt::format("{}/{}", *folder, kFolder));
  if (const std::string here = io::program_folder(); !here.empty()) {
    candidates.push_back(fmt::format("{}/{}", here, kFolder));
    candidates.push_back(fmt::format("{}/../share/flopwatt/{}", here, kFolder));
  }
  for (const std::string& candidate : candidates) {
    if (io::exists(fmt::format("{}/{}", candidate, kFirstScript))) return candidate;
  }
  return {};
}

Result<void> draw_charts(const std::string& assets, const std::string& folder, const std::vector<std::string>& names) {
  std::vector<std::string> command{"node", fmt::format("{}/{}", assets, kRenderer), folder};
  command.insert(command.end(), names.begin(), names.end());
  FLOPWATT_TRY(workload::Process node, workload::Process::start(command));
  node.close_input();
  const auto end = node.wait(kPatience);
  if (!end) return fail(Errc::unavailable, fmt::format("takes longer than {} s", kPatience.count()), "node");
  if (!end->good()) {
    const std::string said = last_line(node.error_output());
    return fail(Errc::unavailable, "ended with " + end->message() + (said.empty() ? "" : ": " + said), "node");
  }
  return {};
}

}  // namespace flopwatt::engine
