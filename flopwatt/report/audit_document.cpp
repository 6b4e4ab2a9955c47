#include <fmt/core.h>

#include <algorithm>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/phrases.hpp"

namespace flopwatt::report {
namespace {

constexpr std::size_t kPlacesShown = 3;

Section findings_of(const answers::Audit& answer, const audit::DeviceSummary& device) {
  Section section{.heading = fmt::format("{}: {}, {} of them counted", device.device, base::counted(device.rows, "row"),
                                         device.counted),
                  .facts = {},
                  .table = {}};
  for (const audit::Finding& finding : answer.result.findings) {
    if (finding.device != device.device) continue;
    section.facts.push_back(
        {std::string{audit::name(finding.severity)}, fmt::format("{}: {}", finding.code, finding.text), ""});
    if (!finding.remedy.empty()) section.facts.push_back({"", finding.remedy, ""});
    if (finding.rows > 0)
      section.facts.push_back(
          {"", fmt::format("{}: {}", base::counted(finding.rows, "row"), places_text(finding, kPlacesShown)), ""});
  }
  if (section.facts.empty()) section.facts.push_back({"", "nothing found", ""});
  return section;
}

}  // namespace

Document to_document(const answers::Audit& answer) {
  const auto count = [&](audit::Severity severity) {
    return std::count_if(answer.result.findings.begin(), answer.result.findings.end(),
                         [&](const audit::Finding& finding) { return finding.severity == severity; });
  };
  Document document;
  document.title = fmt::format("Audit of {}: {}, {}, {} for information", base::counted(answer.result.rows, "row"),
                               base::counted(count(audit::Severity::error), "error"),
                               base::counted(count(audit::Severity::warning), "warning"), count(audit::Severity::info));
  for (const audit::DeviceSummary& device : answer.result.devices) {
    document.sections.push_back(findings_of(answer, device));
    for (const std::string& note : device.notes) document.notes.push_back(device.device + ": " + note);
  }
  document.notes.insert(document.notes.end(), answer.notes.begin(), answer.notes.end());
  return document;
}

}  // namespace flopwatt::report
