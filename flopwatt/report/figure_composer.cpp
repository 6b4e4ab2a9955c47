#include "flopwatt/report/figure_composer.hpp"

#include <fmt/format.h>

#include "flopwatt/base/check.hpp"
#include "flopwatt/report/embedded.hpp"
#include "flopwatt/report/figure_data.hpp"

namespace flopwatt::report {
namespace {

using io::JsonWriter;

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == name) return file.content;
  }
  FLOPWATT_CHECK(false);  // not compiled in
  return {};
}

/// Replaces every string "@name" of the template that `fills` has.
std::string fill(std::string_view text, const Fills& fills) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find("\"@", at);
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find('"', open + 1);
    const auto found = fills.find(text.substr(open + 2, close - open - 2));
    out += text.substr(at, open - at);
    out += found == fills.end() ? std::string{text.substr(open, close + 1 - open)} : found->second;
    at = close + 1;
  }
  return out + std::string{text.substr(at)};
}

// Okabe and Ito's colours for every kind of colour vision (jfly.uni-koeln.de/color), darkened where white needs it.
constexpr std::string_view kPaperPalette[] = {"#0072b2", "#d55e00", "#007d5b", "#b0578d",
                                              "#8a6d00", "#4b93c4", "#5a5a5a"};

/// A name, not a property of the style sheet: Vega measures text with it before it is drawn.
constexpr std::string_view kFont = "system-ui, -apple-system, Segoe UI, Roboto, sans-serif";

/// Colours that marks name directly.
Fills colours(Theme theme) {
  if (theme == Theme::page) {
    std::vector<std::string> palette;
    for (int i = 1; i <= 7; ++i) palette.push_back(fmt::format("var(--c{})", i));
    return {{"font", json_text(kFont)},         {"paper", json_text("transparent")},
            {"ink", json_text("var(--ink)")},   {"quiet", json_text("var(--quiet)")},
            {"grid", json_text("var(--grid)")}, {"rule", json_text("var(--rule)")},
            {"first", json_text("var(--c1)")},  {"palette", json_list(palette)}};
  }
  return {{"font", json_text(kFont)},
          {"paper", json_text("#ffffff")},
          {"ink", json_text("#1a1d21")},
          {"quiet", json_text("#5b626b")},
          {"grid", json_text("#e6e8eb")},
          {"rule", json_text("#b9bfc6")},
          {"first", json_text(kPaperPalette[0])},
          {"palette", json_list(kPaperPalette)}};
}

/// What every template may ask for.
Fills common_fills(const answers::Fit& answer) {
  Fills fills = colours(Theme::paper);
  std::vector<std::string> devices, classes, class_columns;
  for (const fit::DeviceFit& device : answer.result.devices) devices.push_back(device.device);
  for (const FormColumn& form : form_columns(answer)) {
    classes.push_back(form.name);
    class_columns.push_back(form.column);
  }
  JsonWriter numbers{JsonWriter::Style::compact};
  numbers.begin_object();
  for (const RowColumn& column : row_columns(answer)) {
    if (column.number) numbers.member(column.name, "number");
  }
  numbers.end_object();
  fills["devices"] = json_list(devices);
  fills["classes"] = json_list(classes);
  fills["class_columns"] = json_list(class_columns);
  fills["dtypes"] = json_list(dtype_names(answer));
  fills["batches"] =
      json_list(distinct<std::int64_t>(answer, [](const fit::Point& p) { return std::optional{p.batch}; }));
  fills["numbers"] = std::move(numbers).take();
  fills["config"] = figure_config(Theme::paper);
  return fills;
}

}  // namespace

std::string json_text(std::string_view text) {
  JsonWriter json{JsonWriter::Style::compact};
  json.value(text);
  return std::move(json).take();
}

std::vector<std::string> dtype_names(const answers::Fit& answer) {
  std::vector<std::string> names;
  for (const auto dtype :
       distinct<units::Precision>(answer, [](const fit::Point& p) { return std::optional{p.dtype}; }))
    names.emplace_back(units::name(dtype));
  return names;
}

FigureComposer::FigureComposer(const answers::Fit& answer) : fills_{common_fills(answer)} {}

void FigureComposer::add(Figure figure, std::string_view spec_template, const Fills& own) {
  Fills fills = own;
  fills["title"] = json_text(figure.title);
  fills["description"] = json_text(figure.title + ". " + figure.reading);
  fills.insert(fills_.begin(), fills_.end());
  figure.spec = fill(embedded(spec_template), fills);
  set_.figures.push_back(std::move(figure));
}

std::string figure_config(Theme theme) { return fill(embedded("config.json"), colours(theme)); }

}  // namespace flopwatt::report
