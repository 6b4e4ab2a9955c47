#include "flopwatt/report/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/figure_composer.hpp"
#include "flopwatt/report/figure_data.hpp"
#include "flopwatt/report/fit_cells.hpp"

namespace flopwatt::report {
namespace {

/// "312 TFLOP/s tensor_dense in bfloat16".
std::string peak_phrase(const fit::DeviceFit& device) {
  std::string text = device.device + ": ";
  for (std::size_t i = 0; i < device.calibration.peaks.size(); ++i) {
    const power::Peak& peak = device.calibration.peaks[i];
    text += fmt::format("{}{} {:.4g} TFLOP/s ({})", i == 0 ? "" : ", ", units::name(peak.dtype),
                        peak.rate.in(units::teraflop_per_second), path_text(peak));
  }
  return text;
}

std::string peaks_phrase(const answers::Fit& answer) {
  std::string text = "MFU is of these peaks. ";
  for (const fit::DeviceFit& device : answer.result.devices) text += peak_phrase(device) + ". ";
  text.pop_back();
  return text;
}

/// A busy flag that the driver calls utilization is no measure of anything.
std::string without_utilization(const answers::Fit& answer) {
  std::string text;
  for (const fit::DeviceFit& device : answer.result.devices) {
    if (!device.utilization && !device.utilization_absent.empty())
      text += fmt::format(" The utilization of {} is not shown: it is {}.", device.device, device.utilization_absent);
  }
  return text;
}

void add_predictors(const answers::Fit& answer, FigureComposer& compose) {
  compose.add(
      {.name = "predictors-mfu",
       .section = "predictors",
       .title = "Power against MFU",
       .reading = "Each point is a measured row. Solid: least squares within a dtype; dashed: one line for the "
                  "device (Table 3). Where solid lines lie apart, the same MFU costs different watts in different "
                  "precisions. Power axes differ between devices and do not begin at zero. " +
                  peaks_phrase(answer),
       .data = "rows.csv",
       .spec = {}},
      "predictors-mfu.vl.json");
  const bool any = std::any_of(answer.result.devices.begin(), answer.result.devices.end(),
                               [](const fit::DeviceFit& device) { return device.utilization.has_value(); });
  if (!any) {
    compose.set().absent.push_back("Power against utilization: no device of these rows has a utilization to fit.");
    return;
  }
  compose.add(
      {.name = "predictors-utilization",
       .section = "predictors",
       .title = "Power against utilization",
       .reading = "The same rows against the utilization that the driver reports, the share of time in which any "
                  "kernel ran. Solid: within a dtype; dashed: one line for the device." +
                  without_utilization(answer),
       .data = "rows.csv",
       .spec = {}},
      "predictors-utilization.vl.json");
}

void add_batches(const answers::Fit& answer, FigureComposer& compose) {
  compose.add(
      {.name = "batches",
       .section = "batches",
       .title = "MFU and utilization over batch",
       .reading = "Points: mean over the rows of a batch; band: 10th to 90th percentile, which is how much models "
                  "and precisions differ. MFU is of the peaks in Table 2, utilization of the time." +
                  without_utilization(answer),
       .data = "batches.csv",
       .spec = {}},
      "batches.vl.json");
  compose.set().data.push_back({"batches.csv", batches_csv(answer)});
}

void add_models(const answers::Fit& answer, FigureComposer& compose) {
  compose.add(
      {.name = "errors",
       .section = "models",
       .title = "Distribution of errors in sample",
       .reading = "How the errors of each model class spread on the rows it was fitted to: linear is one line a "
                  "device (per GPU), cell one line for every dtype and batch (per cell). Bars overlap; a tall one "
                  "at zero is a tight fit. Errors are those of the rows in the files: of run means where those "
                  "hold means.",
       .data = "errors.csv",
       .spec = {}},
      "errors.vl.json");
  compose.set().data.push_back({"errors.csv", errors_csv(answer)});
  compose.add(
      {.name = "predicted",
       .section = "models",
       .title = "Predicted against measured power",
       .reading = "One panel a model class. On the dashed diagonal the prediction is right; above it, it is too "
                  "high. Switch to \u201cits model held out\u201d to see rows predicted by a fit that never saw their "
                  "model.",
       .data = "rows.csv",
       .spec = {}},
      "predicted.vl.json");
}

void add_held_out(const answers::Fit& answer, FigureComposer& compose) {
  if (!has_held_out(answer)) {
    compose.set().absent.push_back(
        "Errors on models that were left out, and residuals: no class could be fitted without one of the models; the "
        "rows hold one model, or too few rows of the others.");
    return;
  }
  compose.add(
      {.name = "held-out",
       .section = "held-out",
       .title = "Errors on models that the fit did not see",
       .reading = "Read across from 95 %: one row in twenty errs by more than where that height meets the curve. "
                  "A curve further left is a better class; the horizontal axis is stretched near zero.",
       .data = "held-out.csv",
       .spec = {}},
      "held-out.vl.json");
  compose.set().data.push_back({"held-out.csv", held_out_csv(answer)});
}

void add_meter(const answers::Fit& answer, FigureComposer& compose) {
  std::string found;
  for (const fit::DeviceFit& device : answer.result.devices) {
    if (!device.details || !device.details->meter) continue;
    const fit::StraightLine& line = *device.details->meter;
    found +=
        fmt::format(" {}: {} W of the meter a watt of the device{}, {}.", device.device, number(line.slope, 2).text,
                    line.r2 ? fmt::format(", R\u00b2 {:.2f}", *line.r2) : "", base::counted(line.rows, "row"));
  }
  if (found.empty()) {
    compose.set().absent.push_back("External meter against internal power: no row has a meter's reading.");
    return;
  }
  compose.add(
      {.name = "meter",
       .section = "meter",
       .title = "External meter against internal power",
       .reading = "A meter that watches this machine follows the device along a line: its slope is what a watt of "
                  "the device costs at the wall, its intercept the rest of the machine. A cloud without a slope is "
                  "another machine's meter." +
                  found,
       .data = "rows.csv",
       .spec = {}},
      "meter.vl.json");
}

}  // namespace

FigureSet figures(const answers::Fit& answer) {
  FigureComposer compose{answer};
  compose.set().data.push_back({"rows.csv", rows_csv(answer)});
  add_predictors(answer, compose);
  add_batches(answer, compose);
  add_models(answer, compose);
  add_held_out(answer, compose);
  add_residual_figures(answer, compose);
  add_meter(answer, compose);
  return std::move(compose.set());
}

}  // namespace flopwatt::report
