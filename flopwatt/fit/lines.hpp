#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/fit/fit.hpp"
#include "flopwatt/fit/selection.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::fit {

/// The study's three forms: ordinary least squares of power on MFU, in one line, one a dtype, one a dtype and batch.
/// A dtype or cell that no line fits (fewer than three rows, one MFU only) has none, and a note says so.
struct LinesFit {
  power::Lines lines;
  std::vector<std::string> notes;
};
[[nodiscard]] Result<LinesFit> fit_lines(std::span<const Sample> samples, std::span<const power::Form> forms);

[[nodiscard]] bool wants(std::span<const power::Form> forms, power::Form form);

/// The line that predicts a sample by a form: nullptr where the form has none for it.
[[nodiscard]] const power::Line* line_of(const power::Lines& lines, power::Form form, const Sample& sample);

/// In-sample summary of one of the three forms, with its bootstrap interval.
[[nodiscard]] Result<FormSummary> summarize(std::span<const Sample> samples, const power::Lines& lines,
                                            power::Form form, const FitOptions& options);

/// One predictor (percent) against power, with bootstrap intervals.
[[nodiscard]] Result<Predictor> fit_predictor(std::span<const double> percent, std::span<const double> power_watts,
                                              const FitOptions& options);

}  // namespace flopwatt::fit
