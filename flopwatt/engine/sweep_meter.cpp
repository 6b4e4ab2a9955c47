#include "flopwatt/engine/sweep_meter.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "flopwatt/sweep/telemetry_meter.hpp"
#include "flopwatt/telemetry/open_all.hpp"
#include "flopwatt/telemetry/replay.hpp"

namespace flopwatt::engine {
namespace {

/// The same error, at the plan.
tl::unexpected<Error> at_plan(Error error, const std::string& plan_file) {
  error.what = "power: " + error.what;
  if (error.where.empty()) error.where = plan_file;
  return fail(std::move(error));
}

Result<std::unique_ptr<sweep::Meter>> recorded_meter(const sweep::Plan& plan, const std::string& plan_file) {
  namespace fs = std::filesystem;
  const std::string path = fs::path{plan.power.file}.is_absolute()
                               ? plan.power.file
                               : (fs::path{plan_file}.parent_path() / plan.power.file).string();
  telemetry::OpenedSource opened = telemetry::open_recorded(path, {.repeat = true});
  if (!opened) {
    return fail(Errc::bad_data, "power.file: " + opened.error().detail, plan_file, opened.error().remedy);
  }
  std::vector<std::unique_ptr<telemetry::Source>> sources;
  sources.push_back(*std::move(opened));
  auto devices = sweep::metered_devices(sources, plan.device, "");
  if (!devices) return at_plan(devices.error(), plan_file);
  return sweep::telemetry_meter(std::move(sources), *std::move(devices));
}

}  // namespace

Result<std::unique_ptr<sweep::Meter>> open_meter(const sweep::Plan& plan, const std::string& plan_file) {
  using Source = sweep::PowerPlan::Source;
  if (plan.power.source == Source::none) return sweep::no_meter();
  if (plan.power.source == Source::recorded) return recorded_meter(plan, plan_file);
  if (plan.power.source == Source::synthetic) {
    return sweep::synthetic_meter(plan.power, static_cast<std::uint64_t>(plan.seed));
  }
  telemetry::OpenedSources opened = telemetry::open_all();
  const std::string wanted = plan.power.source == Source::named ? plan.power.name : "";
  for (const telemetry::SourceAbsence& absence : opened.absent) {
    if (!wanted.empty() && absence.source == wanted) return at_plan(absence.error(), plan_file);
  }
  std::vector<std::string> names{"auto", "recorded", "synthetic", "none"};
  for (const auto& source : opened.sources) names.emplace_back(source->name());
  for (const telemetry::SourceAbsence& absence : opened.absent) names.push_back(absence.source);
  if (!wanted.empty() && std::ranges::find(names, wanted) == names.end()) {
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return fail(Errc::bad_data, "power.source: no source is called \"" + base::excerpt(wanted) + "\"", plan_file,
                "use one of " + list);
  }
  auto devices = sweep::metered_devices(opened.sources, plan.device, wanted);
  if (!devices) {
    Error error = devices.error();
    for (const telemetry::SourceAbsence& absence : opened.absent) {
      error.remedy += "; " + absence.source + ": " + absence.detail;
    }
    error.remedy += "; [power] source = \"none\" measures without power";
    return at_plan(std::move(error), plan_file);
  }
  // The others would only be read in vain.
  const std::size_t used = devices->front().source;
  std::vector<std::unique_ptr<telemetry::Source>> sources;
  sources.push_back(std::move(opened.sources[used]));
  for (telemetry::SampledDevice& device : *devices) device.source = 0;
  return sweep::telemetry_meter(std::move(sources), *std::move(devices));
}

}  // namespace flopwatt::engine
