#pragma once

#include <string>
#include <vector>

#include "flopwatt/answers/fit.hpp"

/// The figures of a fit report as Vega-Lite specifications (https://vega.github.io/vega-lite, version 6).  Each names a
/// CSV file beside it and needs nothing else.

namespace flopwatt::report {

struct DataFile {
  std::string name;  ///< "rows.csv"
  std::string text;
};

struct Figure {
  std::string name;     ///< of its file, without ".vl.json"
  std::string section;  ///< of the page: "predictors", "batches", "models", "held-out", "residuals", "meter"
  std::string title;    ///< what it shows
  std::string reading;  ///< how to read it
  std::string data;     ///< the file it draws
  std::string spec;     ///< Vega-Lite JSON, light theme
};

struct FigureSet {
  std::vector<Figure> figures;                      ///< in the order of the page
  std::vector<DataFile> data;                       ///< each named by a figure
  std::vector<std::string> absent;                  ///< figures that these rows do not allow, and why
  power::Form residual_form = power::Form::linear;  ///< whose errors the residual figures show
};

/// `answer` must have been made with FitOptions::details.
[[nodiscard]] FigureSet figures(const answers::Fit& answer);

/// The configuration of every figure: `colours` replace "@ink", "@palette" and the like (figures/config.json).
enum class Theme { paper, page };
/// paper: light, for files.  page: colours are the custom properties of the page's style sheet, which knows dark and
/// light.
[[nodiscard]] std::string figure_config(Theme theme);

}  // namespace flopwatt::report
