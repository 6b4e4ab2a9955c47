#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What a person reads, before it is text, Markdown, LaTeX or CSV: headed sections of facts and tables.  Every verb
/// composes one Document; each format is written once, here.

namespace flopwatt::report {

/// One figure with the place it comes from.
struct Fact {
  std::string label;
  std::string value;   ///< formatted, with its unit
  std::string source;  ///< data sheet, formula, assumption; empty where the label says it all
};

/// A cell of a table: what people read, and the number behind it for machine formats.
struct Cell {
  Cell(std::string shown) : text{std::move(shown)} {}  // NOLINT: a string is a cell
  Cell(const char* shown) : text{shown} {}             // NOLINT
  Cell(std::string shown, double exact) : text{std::move(shown)}, number{exact} {}

  std::string text;
  std::optional<double> number;
};

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string header;  ///< what people read: "R²"
  std::string key;     ///< the name in CSV: "r2"
  Align align = Align::right;
  std::string meaning;  ///< how its numbers are computed; empty where the header says it all.  Shown on pages only
};

struct Table {
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< each as wide as `columns`
  std::vector<Fact> basis;              ///< which rows of the data its numbers come from.  Shown on pages only
};

struct Section {
  std::string heading;  ///< may be empty
  std::vector<Fact> facts;
  std::optional<Table> table;
};

struct Document {
  std::string title;
  std::vector<Section> sections;
  std::vector<std::string> notes;  ///< one sentence each
};

enum class Format : std::uint8_t { text, json, markdown, latex, csv };

/// For a terminal: at most 80 columns wherever a word and a table's own width allow it, no colour.
[[nodiscard]] std::string to_text(const Document& document);
/// GitHub-flavoured.
[[nodiscard]] std::string to_markdown(const Document& document);
/// Tables in booktabs style, facts as description lists; needs \usepackage{booktabs}.
[[nodiscard]] std::string to_latex(const Document& document);
/// Tables only, numbers in full precision; of several each after its caption on a line that begins with '#'.  Without
/// any table: the facts, a row each.
[[nodiscard]] std::string to_csv(const Document& document);
/// A table for a page: <table> in a scrolling <div>, every text escaped, the exact number behind a cell as <data
/// value>; then, folded away, what each column means and which rows are behind it.  `id` names it for links.
[[nodiscard]] std::string to_html(const Table& table, std::string_view id);
/// `text` where HTML expects text or a quoted attribute.
[[nodiscard]] std::string escape_html(std::string_view text);
/// One of the above that stand alone.  `json` is not a format of documents: each answer has its own writer (json.hpp).
[[nodiscard]] std::string render(const Document& document, Format format);

}  // namespace flopwatt::report
