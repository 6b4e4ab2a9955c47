#include <fmt/format.h>

#include "flopwatt/io/number_text.hpp"
#include "flopwatt/report/document.hpp"

/// Tables for pages.

namespace flopwatt::report {
namespace {

std::string cell_html(const Cell& cell) {
  if (!cell.number) return escape_html(cell.text);
  std::string value;
  io::append_number(value, *cell.number);
  return fmt::format("<data value=\"{}\">{}</data>", value, escape_html(cell.text));
}

/// A longer text may break into lines.
constexpr std::size_t kLongText = 32;

std::string_view align_class(const Column& column) { return column.align == Align::right ? " class=\"num\"" : ""; }
std::string_view cell_class(const Column& column, const Cell& cell) {
  if (column.align == Align::left && cell.text.size() > kLongText) return " class=\"long\"";
  return align_class(column);
}

std::string how_computed(const Table& table) {
  std::string meanings, basis;
  for (const Column& column : table.columns) {
    if (column.meaning.empty()) continue;
    meanings += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_html(column.header), escape_html(column.meaning));
  }
  for (const Fact& fact : table.basis) {
    basis += fmt::format("<dt>{}</dt><dd>{}{}</dd>\n", escape_html(fact.label), escape_html(fact.value),
                         fact.source.empty() ? "" : " <span class=\"source\">" + escape_html(fact.source) + "</span>");
  }
  if (meanings.empty() && basis.empty()) return {};
  return fmt::format(
      "<details class=\"how\"><summary>Rows and formulas behind these numbers</summary>\n{}{}</details>\n",
      meanings.empty() ? "" : "<dl>\n" + meanings + "</dl>\n", basis.empty() ? "" : "<dl>\n" + basis + "</dl>\n");
}

}  // namespace

std::string escape_html(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '\0':  // no character of HTML
        out += "\xEF\xBF\xBD";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string to_html(const Table& table, std::string_view id) {
  const std::string name = escape_html(id);
  // Not a <caption>: that would be as wide as the table, and scroll away with it.
  std::string out = table.caption.empty() ? ""
                                          : fmt::format("<p class=\"caption\" id=\"{}-caption\">{}</p>\n", name,
                                                        escape_html(table.caption));
  out += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{0}-caption\">\n<table id=\"{0}\">\n",
      name);
  out += "<thead><tr>";
  for (const Column& column : table.columns) {
    out += fmt::format("<th scope=\"col\" data-key=\"{}\"{}>{}</th>", escape_html(column.key), align_class(column),
                       escape_html(column.header));
  }
  out += "</tr></thead>\n<tbody>\n";
  std::string group;  // of rows that begin alike: the name is printed in each, the rule stands between groups
  for (const auto& row : table.rows) {
    const bool fresh = !row.empty() && row.front().text != group;
    if (fresh) group = row.front().text;
    out += fresh ? "<tr class=\"first\">" : "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string_view tag = c == 0 ? "th" : "td";
      out += fmt::format("<{0}{1}{2}>{3}</{0}>", tag, c == 0 ? " scope=\"row\"" : "",
                         cell_class(table.columns[c], row[c]), cell_html(row[c]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody>\n</table>\n</div>\n" + how_computed(table);
}

}  // namespace flopwatt::report
