#include <fmt/core.h>

#include "flopwatt/report/documents.hpp"
#include "flopwatt/report/phrases.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::report {
namespace {

using units::to_text;

std::string peak_source(const answers::CalibrationUsed& used) {
  if (!used.peak) return "";
  return fmt::format("MFU of {} ({})", to_text(used.peak->rate), used.peak->known_by);
}

}  // namespace

Document to_document(const answers::Power& a) {
  Document document;
  document.title = fmt::format("{}, {}{}", a.device, units::name(a.query.dtype), a.model.empty() ? "" : ": " + a.model);
  Section section;
  section.facts = power_facts(a.prediction, a.calibration);
  section.facts.push_back({"compute", to_text(a.query.flops),
                           a.mfu ? fmt::format("{} {}", percent(*a.mfu), peak_source(a.calibration)) : ""});
  if (a.query.bytes)
    section.facts.push_back({"memory", to_text(*a.query.bytes), a.mbu ? fmt::format("MBU {}", percent(*a.mbu)) : ""});
  if (a.query.batch) section.facts.push_back({"batch", std::to_string(*a.query.batch), ""});
  if (a.tokens) {
    const double joules = (a.prediction.power / *a.tokens).in(units::joule / units::token);
    section.facts.push_back(
        {"energy a token", fmt::format("{:.4g} J", joules), fmt::format("at {}", to_text(*a.tokens))});
  }
  document.sections.push_back(std::move(section));
  add_flags(document, a.flags);
  document.notes = a.notes;
  return document;
}

Document to_document(const answers::PowerRows& a) {
  Document document;
  document.title = fmt::format("{} on {}, {}: {} over {}", a.file, a.device, units::name(a.query.dtype),
                               to_text(a.energy), to_text(a.duration));
  Section summary;
  summary.facts = {
      {"mean power", fmt::format("{:.1f} W", a.mean_power.in(units::watt)),
       fmt::format("'{}' model, calibration {}", power::name(a.rows.front().prediction.form),
                   a.calibration.device.empty() ? "none" : a.calibration.device)},
      {"energy", to_text(a.energy),
       fmt::format("{} to {} with every row at the end of its interval", to_text(a.energy_lo), to_text(a.energy_hi))}};
  document.sections.push_back(std::move(summary));

  Table table;
  for (const std::string& column : a.columns) table.columns.push_back({column, column});
  table.columns.insert(
      table.columns.end(),
      {{"W", "power_watts"}, {"from W", "power_lo_watts"}, {"to W", "power_hi_watts"}, {"J", "energy_joules"}});
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    std::vector<Cell> cells(a.fields[i].begin(), a.fields[i].end());
    for (const double value : {a.rows[i].prediction.power.in(units::watt), a.rows[i].prediction.lo.in(units::watt),
                               a.rows[i].prediction.hi.in(units::watt), a.rows[i].energy.in(units::joule)}) {
      cells.emplace_back(fmt::format("{:.1f}", value), value);
    }
    table.rows.push_back(std::move(cells));
  }
  document.sections.push_back({.heading = "Rows", .facts = {}, .table = std::move(table)});
  add_flags(document, a.flags);
  document.notes = a.notes;
  return document;
}

}  // namespace flopwatt::report
