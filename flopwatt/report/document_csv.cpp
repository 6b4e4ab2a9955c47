#include <fmt/format.h>

#include "flopwatt/base/check.hpp"
#include "flopwatt/report/document.hpp"

namespace flopwatt::report {
namespace {

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string{text};
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

/// Numbers in the shortest form that reads back to the same double; empty where people see the dash of "none".
std::string field(const Cell& cell) {
  if (cell.number) return fmt::format("{}", *cell.number);
  return cell.text == "–" ? std::string{} : quoted(cell.text);
}

std::string csv_table(const Table& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) out += (c > 0 ? "," : "") + quoted(table.columns[c].key);
  out += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) out += (c > 0 ? "," : "") + field(row[c]);
    out += '\n';
  }
  return out;
}

/// As people read them, with units: for numbers to compute with there is JSON.
std::string csv_facts(const Document& document) {
  std::string out = "section,quantity,value,source\n";
  for (const Section& section : document.sections) {
    for (const Fact& fact : section.facts)
      out += fmt::format("{},{},{},{}\n", quoted(section.heading), quoted(fact.label), quoted(fact.value),
                         quoted(fact.source));
  }
  return out;
}

}  // namespace

std::string to_csv(const Document& document) {
  std::string out;
  std::size_t tables = 0;
  for (const Section& section : document.sections) tables += section.table ? 1 : 0;
  for (const Section& section : document.sections) {
    if (!section.table) continue;
    // A file with one table is plain CSV; captions are for telling several apart.
    if (tables > 1)
      out +=
          (out.empty() ? "# " : "\n# ") + (section.heading.empty() ? section.table->caption : section.heading) + '\n';
    out += csv_table(*section.table);
  }
  return tables == 0 ? csv_facts(document) : out;
}

std::string render(const Document& document, Format format) {
  switch (format) {
    case Format::text:
      return to_text(document);
    case Format::markdown:
      return to_markdown(document);
    case Format::latex:
      return to_latex(document);
    case Format::csv:
      return to_csv(document);
    case Format::json:
      break;
  }
  FLOPWATT_CHECK(format != Format::json);
  return {};
}

}  // namespace flopwatt::report
