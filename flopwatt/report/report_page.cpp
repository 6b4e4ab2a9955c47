#include "flopwatt/report/report_page.hpp"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>

#include "flopwatt/base/version.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/report/embedded.hpp"
#include "flopwatt/report/figure_data.hpp"
#include "flopwatt/report/fit_tables.hpp"
#include "flopwatt/report/report_sections.hpp"

namespace flopwatt::report {
namespace {

std::string page_file(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) return std::string{file.content};
  }
  return {};
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

/// {"config": …, "figures": {NAME: spec}, "data": {FILE: text}}
std::string page_data(const FigureSet& figures) {
  std::string out = "{\"config\":" + figure_config(Theme::page) + ",\"figures\":{";
  const auto string = [](std::string_view text) {
    io::JsonWriter json{io::JsonWriter::Style::compact};
    json.value(text);
    return std::move(json).take();
  };
  for (const Figure& figure : figures.figures)
    out += (&figure == figures.figures.data() ? "" : ",") + string(figure.name) + ":" + figure.spec;
  out += "},\"data\":{";
  for (const DataFile& file : figures.data)
    out += (&file == figures.data.data() ? "" : ",") + string(file.name) + ":" + string(file.text);
  return out + "}}";
}

/// Numbers figures and tables as the page goes along.
class Page {
 public:
  Page(const answers::Fit& answer, const FigureSet& figures, bool draws) : figures_{figures}, draws_{draws} {
    for (const fit::DeviceFit& device : answer.result.devices)
      calibrations_[device.device] = calibration_sha256(device.calibration).substr(0, 12);
  }

  void section(std::string_view id, std::string_view heading, std::string_view introduction = {}) {
    contents_ += fmt::format("<a href=\"#{}\">{}</a>", id, heading);
    body_ += fmt::format("<h2 id=\"{}\">{}</h2>\n", id, heading);
    if (!introduction.empty()) body_ += fmt::format("<p>{}</p>\n", introduction);
  }
  void subsection(std::string_view heading) { body_ += fmt::format("<h3>{}</h3>\n", heading); }
  void html(std::string_view text) { body_ += text; }
  void table(std::string_view id, Table table) {
    if (table.rows.empty()) return;
    body_ += to_html(complete(std::move(table)), id);
  }
  void folded(std::string_view summary, std::string_view id, Table table) {
    if (table.rows.empty()) return;
    body_ +=
        fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary, to_html(complete(std::move(table)), id));
  }
  void figures_of(std::string_view part) {
    for (const Figure& figure : figures_.figures) {
      if (figure.section == part) add(figure);
    }
  }
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] const std::string& contents() const { return contents_; }

 private:
  /// Numbers the table, and says in its basis which calibration holds what was fitted to the rows.
  Table complete(Table table) {
    table.caption = fmt::format("Table {}. {}", ++tables_, table.caption);
    for (Fact& fact : table.basis) {
      if (const auto found = calibrations_.find(fact.label); found != calibrations_.end())
        fact.source += fmt::format("{}calibration SHA-256 {}…", fact.source.empty() ? "" : "; ", found->second);
    }
    return table;
  }
  void add(const Figure& figure) {
    const std::string name = escape_html(figure.name);
    body_ += fmt::format(
        "<figure id=\"figure-{0}\"{1}>\n<div class=\"chart\" role=\"img\" aria-label=\"{2}\">{3}</div>\n", name,
        draws_ ? fmt::format(" data-figure=\"{}\"", name) : "", escape_html(figure.title),
        draws_ ? "" : fmt::format("<p class=\"missing\">Not drawn: {}.vl.json beside this page has it.</p>", name));
    body_ += fmt::format("<figcaption><b>Figure {}. {}.</b> {}", ++drawn_, escape_html(figure.title),
                         escape_html(figure.reading));
    if (draws_) {
      body_ += fmt::format(
          "<span class=\"files\">Save: <a href=\"{1}\" data-kind=\"data\" data-save=\"{1}\">{1}</a> <a "
          "href=\"{0}.vl.json\" "
          "data-kind=\"spec\" data-save=\"{0}\">{0}.vl.json</a> <a href=\"{0}.svg\" data-kind=\"svg\" "
          "data-save=\"{0}\">{0}.svg</a></span>",
          name, escape_html(figure.data));
    }
    body_ += "</figcaption>\n</figure>\n";
  }

  std::map<std::string, std::string> calibrations_;  // of a device, the beginning of its hash
  const FigureSet& figures_;
  bool draws_;
  int tables_ = 0, drawn_ = 0;
  std::string body_, contents_;
};

void compose(Page& page, const answers::Fit& answer, const FigureSet& figures) {
  const fit::FitResult& result = answer.result;
  page.section(
      "devices", "Devices and peaks",
      "A utilization is a rate over a peak, and a peak is a choice. These are the choices behind every MFU below.");
  page.table("table-devices", devices_table(result));
  page.table("table-peaks", peaks_table(result));

  page.section("predictors", "What predicts power");
  page.table("table-predictors", predictors_table(result));
  page.figures_of("predictors");

  page.section("batches", "Over batch");
  page.table("table-residuals", residuals_table(result));
  page.figures_of("batches");
  page.folded("Means at every batch", "table-regimes", regimes_table(result));

  page.section(
      "models", "Model classes in sample",
      "How well each class describes the rows it was fitted to. That is not how well it predicts: see the next part.");
  page.table("table-models", models_table(result));
  page.figures_of("models");
  page.folded("Parameters of the saturating class", "table-parameters", parameters_table(result));

  page.section(
      "held-out", "On models it has not seen",
      "Each model in turn is left out, the classes are fitted to the others, and the left-out rows are predicted. "
      "This is the error to expect of a new job.");
  page.table("table-held-out", held_out_table(result));
  page.figures_of("held-out");
  page.folded("Each left-out model", "table-folds", folds_table(result));
  page.html("<div class=\"pair\">\n<div>\n");
  page.table("table-batch-out", batch_held_out_table(result));
  page.html("</div>\n<div>\n");
  page.table("table-dtype-out", dtype_held_out_table(result));
  page.html("</div>\n</div>\n");

  page.section("residuals", "What is left",
               fmt::format("Errors of the {} class against everything that is known of a row. "
                           "What still has a shape here, the class does not know.",
                           power::name(figures.residual_form)));
  page.figures_of("residuals");

  page.section("meter", "An external meter");
  page.figures_of("meter");
  page.section("audit", "What the audit found",
               "Every row was held against first principles before anything was fitted: counted "
               "again from the model and the device catalogue. Nothing was corrected.");
  page.html(findings_html(answer));

  page.section("provenance", "Where it comes from");
  page.html(provenance_html(answer, figures));
  page.table("table-sources", sources_table(result));
}

}  // namespace

std::string inline_script(std::string_view javascript) {
  // Both can stand in strings and regular expressions only, where a backslash changes nothing.
  std::string out{javascript};
  replace_all(out, "</script", "<\\/script");
  replace_all(out, "<!--", "<\\!--");
  return out;
}

std::string inline_json(std::string_view json) {
  std::string out{json};
  replace_all(out, "<", "\\u003c");
  return out;
}

std::vector<ReportFile> fit_report(const answers::Fit& answer, const FigureSet& figures,
                                   const std::optional<ChartScripts>& scripts) {
  Page page{answer, figures, scripts.has_value()};
  compose(page, answer, figures);
  const std::string title = report_title(answer);
  std::string html =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      // Nothing may be loaded, whatever the data say.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline' "
      "'unsafe-eval'; "
      "style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n";
  html += fmt::format("<meta name=\"generator\" content=\"flopwatt {}\">\n<title>{}</title>\n<style>\n", base::kVersion,
                      escape_html(title));
  html += page_file("report.css");
  html += fmt::format(
      "</style>\n</head>\n<body>\n<header class=\"top\">\n{}<nav class=\"contents\">{}</nav>\n</header>\n<main>\n",
      summary_html(answer), page.contents());
  html += page.body();
  html += fmt::format("</main>\n<footer>\n{}</footer>\n", footer_html(scripts ? scripts->licences : ""));
  if (scripts) {
    html += "<script type=\"application/json\" id=\"report-data\">" + inline_json(page_data(figures)) + "</script>\n";
    for (const ChartScripts::Script& script : scripts->scripts)
      html += "<script>" + inline_script(script.text) + "</script>\n";
    html += "<script>\n" + page_file("report.js") + "</script>\n";
  }
  html += "</body>\n</html>\n";

  std::vector<ReportFile> files;
  files.push_back({kReportPage, std::move(html)});
  for (const Figure& figure : figures.figures) files.push_back({figure.name + ".vl.json", figure.spec});
  for (const DataFile& data : figures.data) files.push_back({data.name, data.text});
  return files;
}

}  // namespace flopwatt::report
