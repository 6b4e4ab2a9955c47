#include <algorithm>

#include "flopwatt/report/document.hpp"
#include "flopwatt/report/width.hpp"

namespace flopwatt::report {
namespace {

constexpr std::string_view kIndent = "  ";
constexpr std::size_t kNarrowestSource = 24;  ///< a source with less room than this goes on a line of its own

void append_lines(std::string& out, const std::vector<std::string>& lines, std::size_t indent) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += '\n' + std::string(indent, ' ');
    out += lines[i];
  }
}

void append_facts(std::string& out, const std::vector<Fact>& facts) {
  std::size_t label_width = 0;
  std::size_t value_width = 0;
  for (const Fact& fact : facts) {
    label_width = std::max(label_width, columns(fact.label));
    if (!fact.source.empty()) value_width = std::max(value_width, columns(fact.value));
  }
  const std::size_t value_at = kIndent.size() + label_width + 2;
  const std::size_t source_at = value_at + value_width + 2;
  const bool beside = source_at + kNarrowestSource <= kTerminalColumns;
  for (const Fact& fact : facts) {
    out += kIndent;
    out += pad_right(fact.label, label_width + 2);
    if (fact.source.empty()) {
      append_lines(out, wrap(fact.value, kTerminalColumns - value_at), value_at);
    } else if (beside) {
      out += pad_right(fact.value, value_width + 2);
      append_lines(out, wrap(fact.source, kTerminalColumns - source_at), source_at);
    } else {
      out += fact.value + '\n' + std::string(value_at, ' ');
      append_lines(out, wrap(fact.source, kTerminalColumns - value_at), value_at);
    }
    out += '\n';
  }
}

void append_table(std::string& out, const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    std::size_t width = columns(table.columns[c].header);
    for (const auto& row : table.rows) width = std::max(width, columns(row[c].text));
    widths.push_back(width);
  }
  const auto append_row = [&](const auto& text_of) {
    std::string line{kIndent};
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (c > 0) line += "  ";
      line +=
          table.columns[c].align == Align::left ? pad_right(text_of(c), widths[c]) : pad_left(text_of(c), widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  };
  for (const std::string& line : wrap(table.caption, kTerminalColumns - kIndent.size())) {
    out += std::string{kIndent} + line + '\n';
  }
  append_row([&](std::size_t c) { return table.columns[c].header; });
  for (const auto& row : table.rows) append_row([&](std::size_t c) { return row[c].text; });
}

}  // namespace

std::string to_text(const Document& document) {
  std::string out;
  append_lines(out, wrap(document.title, kTerminalColumns), 0);
  out += '\n';
  for (const Section& section : document.sections) {
    out += '\n';
    if (!section.heading.empty()) out += section.heading + '\n';
    append_facts(out, section.facts);
    if (section.table) append_table(out, *section.table);
  }
  if (!document.notes.empty()) out += "\nNotes\n";
  for (const std::string& note : document.notes) {
    out += "  - ";
    append_lines(out, wrap(note, kTerminalColumns - 4), 4);
    out += '\n';
  }
  return out;
}

}  // namespace flopwatt::report
