#include "flopwatt/audit/audit.hpp"

#include <algorithm>
#include <utility>

#include "flopwatt/audit/subject.hpp"

namespace flopwatt::audit {

std::string_view name(Severity severity) noexcept {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      break;
  }
  return "error";
}

AuditResult audit(std::span<const dataset::Dataset> datasets, const device::Catalogue& devices,
                  const model::Catalogue& models) {
  AuditResult result;
  for (const dataset::Dataset& dataset : datasets) {
    const Subject subject = examine(dataset, devices, models);
    Findings findings{subject};
    check_values(subject, findings);
    check_units(subject, findings);
    check_peaks(subject, findings);
    check_sequence(subject, findings);
    check_repeats(subject, findings);
    check_flop_columns(subject, findings);
    check_power(subject, findings);
    check_sensors(subject, findings);
    check_host_bound(subject, findings);
    std::vector<Finding> found = std::move(findings).take();
    std::stable_sort(found.begin(), found.end(),
                     [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
    std::move(found.begin(), found.end(), std::back_inserter(result.findings));

    const auto counted =
        std::count_if(subject.rows.begin(), subject.rows.end(), [](const Row& row) { return row.step.has_value(); });
    result.rows += dataset.rows.size() + dataset.idle.size();
    result.devices.push_back(
        {dataset.device, dataset.rows.size(), dataset.idle.size(), static_cast<std::size_t>(counted), subject.notes});
  }
  return result;
}

}  // namespace flopwatt::audit
