#include "flopwatt/report/document.hpp"

/// Markdown and LaTeX.

namespace flopwatt::report {
namespace {

std::string markdown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '*' || c == '_' || c == '<' || c == '`') out += '\\';
    out += c;
  }
  return out;
}

std::string latex(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%' || c == '&' || c == '_' || c == '#' || c == '$' || c == '{' || c == '}') {
      (out += '\\') += c;
    } else if (c == '\\') {
      out += "\\textbackslash{}";
    } else if (c == '~') {
      out += "\\textasciitilde{}";
    } else if (c == '^') {
      out += "\\textasciicircum{}";
    } else if (text.substr(i).starts_with("±")) {
      out += "$\\pm$";
      i += std::string_view{"±"}.size() - 1;
    } else if (text.substr(i).starts_with("²")) {
      out += "\\textsuperscript{2}";
      i += std::string_view{"²"}.size() - 1;
    } else {
      out += c;
    }
  }
  return out;
}

std::string cells(const Table& table, const auto& text_of, std::string_view between) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) out += between;
    out += text_of(c);
  }
  return out;
}

std::string markdown_table(const Table& table) {
  std::string out;
  if (!table.caption.empty()) out += markdown(table.caption) + "\n\n";
  out += "| " + cells(table, [&](std::size_t c) { return markdown(table.columns[c].header); }, " | ") + " |\n";
  out +=
      "|" +
      cells(table, [&](std::size_t c) { return table.columns[c].align == Align::left ? "---" : "--:"; }, "|") + "|\n";
  for (const auto& row : table.rows) {
    out += "| " + cells(table, [&](std::size_t c) { return markdown(row[c].text); }, " | ") + " |\n";
  }
  return out;
}

std::string latex_table(const Table& table) {
  std::string out = "\\begin{table}\n";
  if (!table.caption.empty()) out += "\\caption{" + latex(table.caption) + "}\n";
  out += "\\begin{tabular}{" +
         cells(
             table, [&](std::size_t c) { return table.columns[c].align == Align::left ? "l" : "r"; }, "") +
         "}\n\\toprule\n";
  out += cells(table, [&](std::size_t c) { return latex(table.columns[c].header); }, " & ") + " \\\\\n\\midrule\n";
  for (const auto& row : table.rows) {
    out += cells(table, [&](std::size_t c) { return latex(row[c].text); }, " & ") + " \\\\\n";
  }
  return out + "\\bottomrule\n\\end{tabular}\n\\end{table}\n";
}

}  // namespace

std::string to_markdown(const Document& document) {
  std::string out = "# " + markdown(document.title) + "\n";
  for (const Section& section : document.sections) {
    out += '\n';
    if (!section.heading.empty()) out += "## " + markdown(section.heading) + "\n\n";
    if (!section.facts.empty()) out += "| | | source |\n|---|--:|---|\n";
    for (const Fact& fact : section.facts) {
      out += "| " + markdown(fact.label) + " | " + markdown(fact.value) + " | " + markdown(fact.source) + " |\n";
    }
    if (!section.facts.empty() && section.table) out += '\n';
    if (section.table) out += markdown_table(*section.table);
  }
  if (!document.notes.empty()) out += "\n## Notes\n\n";
  for (const std::string& note : document.notes) out += "- " + markdown(note) + '\n';
  return out;
}

std::string to_latex(const Document& document) {
  std::string out = "% " + document.title + "\n";
  for (const Section& section : document.sections) {
    if (!section.heading.empty()) out += "\\subsection*{" + latex(section.heading) + "}\n";
    if (!section.facts.empty()) {
      out += "\\begin{description}\n";
      for (const Fact& fact : section.facts) {
        out += "\\item[" + latex(fact.label) + "] " + latex(fact.value);
        if (!fact.source.empty()) out += " (" + latex(fact.source) + ")";
        out += '\n';
      }
      out += "\\end{description}\n";
    }
    if (section.table) out += latex_table(*section.table);
  }
  if (!document.notes.empty()) {
    out += "\\begin{itemize}\n";
    for (const std::string& note : document.notes) out += "\\item " + latex(note) + '\n';
    out += "\\end{itemize}\n";
  }
  return out;
}

}  // namespace flopwatt::report
