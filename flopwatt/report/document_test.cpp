#include "flopwatt/report/document.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "flopwatt/report/width.hpp"

namespace flopwatt::report {
namespace {

Document sample() {
  Document document;
  document.title = "Two devices";
  Section facts{.heading = "Facts", .facts = {}, .table = {}};
  facts.facts = {
      {"peak", "312 TFLOP/s", "data sheet; a source that is so long that it cannot stand on one line of a terminal"},
      {"power", "200 W", ""}};
  Table table;
  table.columns = {{"device", "device", Align::left}, {"R²", "r2"}, {"100 % & more", "more"}};
  table.rows = {{Cell{"A_1"}, Cell{"0.74 ± 0.03", 0.7381}, Cell{"1|2"}}, {Cell{"B, C"}, Cell{"–"}, Cell{"3"}}};
  document.sections = {facts, {.heading = "Table", .facts = {}, .table = table}};
  document.notes = {"One note."};
  return document;
}

TEST(Text, StaysWithin80Columns) {
  std::istringstream lines{to_text(sample())};
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns(line), kTerminalColumns) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
  }
}

TEST(Text, AlignsColumnsByWhatIsSeen) {
  // "R²" and "±" are two bytes each; the numbers of the last column must end in the same place all the same.
  std::istringstream lines{to_text(sample())};
  std::vector<std::size_t> widths;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  device") || line.starts_with("  A_1") || line.starts_with("  B, C"))
      widths.push_back(columns(line));
  }
  ASSERT_EQ(widths.size(), 3U);
  EXPECT_EQ(widths[0], widths[1]);
  EXPECT_EQ(widths[0], widths[2]);
}

TEST(Csv, HasKeysFullNumbersAndQuotes) { EXPECT_EQ(to_csv(sample()), "device,r2,more\nA_1,0.7381,1|2\n\"B, C\",,3\n"); }

TEST(Csv, OfFactsAloneHasTheFacts) {
  const Document document{.title = "t",
                          .sections = {{.heading = "Power",
                                        .facts = {{"power", "240 W", "calibration A, B"}, {"limit", "300 W", ""}},
                                        .table = {}}},
                          .notes = {}};
  EXPECT_EQ(to_csv(document),
            "section,quantity,value,source\nPower,power,240 W,\"calibration A, B\"\nPower,limit,300 W,\n");
}

TEST(Markdown, EscapesWhatTablesWouldMisread) {
  const std::string out = to_markdown(sample());
  EXPECT_NE(out.find("| A\\_1 | 0.74 ± 0.03 | 1\\|2 |"), std::string::npos) << out;
  EXPECT_NE(out.find("|---|--:|--:|"), std::string::npos) << out;
}

TEST(Html, EscapesTextAndKeepsTheNumberBehindIt) {
  Table table{
      .caption = "a < b & \"c\"", .columns = {{"<b>", "k\"", Align::left}, {"R²", "r2"}}, .rows = {}, .basis = {}};
  table.columns[1].meaning = "1 − <SSE> / SST";
  table.basis = {{"A<1>", "3 of 4 rows", "filter: x > 0"}};
  table.rows = {{Cell{"A<1>"}, Cell{"0.74 ± 0.03", 0.7381}}, {Cell{"A<1>"}, Cell{"–"}}};
  const std::string out = to_html(table, "t");
  EXPECT_NE(out.find("<p class=\"caption\" id=\"t-caption\">a &lt; b &amp; &quot;c&quot;</p>"), std::string::npos)
      << out;
  EXPECT_NE(out.find("<th scope=\"col\" data-key=\"k&quot;\">&lt;b&gt;</th>"), std::string::npos) << out;
  EXPECT_NE(out.find("<td class=\"num\"><data value=\"0.7381\">0.74 ± 0.03</data></td>"), std::string::npos) << out;
  EXPECT_NE(out.find("<dt>R²</dt><dd>1 − &lt;SSE&gt; / SST</dd>"), std::string::npos) << out;
  EXPECT_NE(out.find("<dt>A&lt;1&gt;</dt><dd>3 of 4 rows <span class=\"source\">filter: x &gt; 0</span></dd>"),
            std::string::npos)
      << out;
  EXPECT_EQ(out.find("A<1>"), std::string::npos);
  EXPECT_EQ(escape_html(std::string_view{"a\0b'", 4}),
            "a\xEF\xBF\xBD"
            "b&#39;");
}

TEST(Latex, EscapesSpecialCharacters) {
  const std::string out = to_latex(sample());
  EXPECT_NE(out.find("A\\_1 & 0.74 $\\pm$ 0.03 & 1|2 \\\\"), std::string::npos) << out;
  EXPECT_NE(out.find("100 \\% \\& more"), std::string::npos) << out;
  EXPECT_NE(out.find("\\begin{tabular}{lrr}"), std::string::npos) << out;
}

TEST(Wrap, BreaksAtBlanksAndLosesNoWord) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("unbreakable word", 4), (std::vector<std::string>{"unbreakable", "word"}));
  EXPECT_TRUE(wrap("", 10).empty());
  EXPECT_EQ(wrap("± ± ±", 3), (std::vector<std::string>{"± ±", "±"}));
}

}  // namespace
}  // namespace flopwatt::report
