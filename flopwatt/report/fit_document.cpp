#include <fmt/core.h>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/fit_cells.hpp"
#include "flopwatt/report/fit_tables.hpp"

namespace flopwatt::report {
namespace {

Section rows_used(const fit::FitResult& result) {
  Section section{.heading = "Rows", .facts = {}, .table = {}};
  for (const fit::DeviceFit& d : result.devices) {
    section.facts.push_back({d.device, fmt::format("{} of {}", d.rows, d.rows_read), rows_lost(d)});
  }
  return section;
}

}  // namespace

Document to_document(const answers::Fit& answer) {
  Document document;
  document.title =
      fmt::format("Power of {} fitted to measured rows", base::counted(answer.result.devices.size(), "device"));
  document.sections = {rows_used(answer.result),
                       {.heading = "Predictors", .facts = {}, .table = predictors_table(answer.result)},
                       {.heading = "Models", .facts = {}, .table = models_table(answer.result)},
                       {.heading = "Residuals and regimes", .facts = {}, .table = residuals_table(answer.result)}};
  Table unseen = held_out_table(answer.result);
  if (!unseen.rows.empty())
    document.sections.push_back({.heading = "Held-out models", .facts = {}, .table = std::move(unseen)});
  for (const fit::DeviceFit& d : answer.result.devices) {
    if (!d.utilization && !d.utilization_absent.empty())
      document.notes.push_back(d.device + ": no fit to utilization, it is " + d.utilization_absent + ".");
    for (const std::string& note : d.notes) document.notes.push_back(d.device + ": " + note);
  }
  document.notes.insert(document.notes.end(), answer.notes.begin(), answer.notes.end());
  return document;
}

}  // namespace flopwatt::report
