#include <fmt/core.h>

#include <algorithm>

#include "flopwatt/report/documents.hpp"

namespace flopwatt::report {
namespace {

using power::Form;

Cell number(double value, int decimals) { return {fmt::format("{:.{}f}", value, decimals), value}; }
Cell number(const std::optional<double>& value, int decimals) { return value ? number(*value, decimals) : Cell{"–"}; }

/// "0.74 ± 0.03": the half-width of the bootstrap interval.
Cell with_ci(const std::optional<double>& value, const std::optional<fit::Interval>& ci, int decimals) {
  if (!value) return {"–"};
  if (!ci) return number(*value, decimals);
  return {fmt::format("{:.{}f} ± {:.{}f}", *value, decimals, ci->half_width(), decimals), *value};
}

Table predictors(const fit::FitResult& result) {
  Table table;
  table.caption =
      "Power against one predictor, ordinary least squares over all rows of a device, 95 % bootstrap intervals (the "
      "study's Table II).";
  table.columns = {{"device", "device", Align::left},
                   {"predictor", "predictor", Align::left},
                   {"rows", "rows"},
                   {"R²", "r2"},
                   {"MAPE %", "mape_pct"},
                   {"W per %", "slope_watts_per_pct"},
                   {"intercept W", "intercept_watts"}};
  for (const fit::DeviceFit& d : result.devices) {
    const auto add = [&](std::string name, const std::optional<fit::Predictor>& p) {
      if (!p) return;
      table.rows.push_back({Cell{d.device}, Cell{std::move(name)}, number(static_cast<double>(p->rows), 0),
                            with_ci(p->r2, p->r2_ci, 2), with_ci(p->mape_pct, p->mape_pct_ci, 1),
                            with_ci(p->slope_watts_per_pct, p->slope_ci, 2),
                            with_ci(p->intercept_watts, p->intercept_ci, 1)});
    };
    add("MFU", d.mfu);
    add("utilization", d.utilization);
  }
  return table;
}

Table models(const fit::FitResult& result) {
  Table table;
  table.caption = "Power models in sample, MAPE with 95 % bootstrap intervals (the study's Table III).";
  table.columns = {{"device", "device", Align::left},
                   {"model", "model", Align::left},
                   {"rows", "rows"},
                   {"MAPE %", "mape_pct"},
                   {"R²", "r2"},
                   {"lines", "lines"},
                   {"R² median", "r2_median"}};
  for (const fit::DeviceFit& d : result.devices) {
    for (const auto& [form, m] : d.models) {
      table.rows.push_back({Cell{d.device}, Cell{std::string{power::name(form)}},
                            number(static_cast<double>(m.rows), 0), with_ci(m.mape_pct, m.mape_pct_ci, 1),
                            number(m.r2, 2), m.cells > 0 ? number(static_cast<double>(m.cells), 0) : Cell{"–"},
                            number(m.r2_median, 2)});
    }
  }
  return table;
}

Table held_out(const fit::FitResult& result) {
  Table table;
  table.caption =
      "Errors on models that the fit did not see (leave one model out), and the share of rows that a 90 % interval "
      "covers.";
  table.columns = {{"device", "device", Align::left},
                   {"model", "model", Align::left},
                   {"MAPE %", "mape_pct"},
                   {"p95 %", "p95_pct"},
                   {"bias %", "bias_pct"},
                   {"batch 1 %", "batch_one_mape_pct"},
                   {"other %", "other_batches_mape_pct"},
                   {"coverage", "coverage_90"}};
  for (const fit::DeviceFit& d : result.devices) {
    for (const auto& [form, folds] : d.leave_one_model_out) {
      const auto by_batch = d.batch_one_and_others_pct.find(form);
      const auto coverage = d.coverage_90.find(form);
      const bool has_batches = by_batch != d.batch_one_and_others_pct.end();
      table.rows.push_back({Cell{d.device}, Cell{std::string{power::name(form)}}, number(folds.pooled.mape_pct, 1),
                            number(folds.pooled.p95_pct, 1), number(folds.pooled.bias_pct, 1),
                            has_batches ? number(by_batch->second.first, 1) : Cell{"–"},
                            has_batches ? number(by_batch->second.second, 1) : Cell{"–"},
                            coverage != d.coverage_90.end() ? number(coverage->second, 2) : Cell{"–"}});
    }
  }
  return table;
}

const fit::Regime* regime_of(const fit::DeviceFit& d, std::int64_t batch) {
  const auto found =
      std::find_if(d.regimes.begin(), d.regimes.end(), [&](const fit::Regime& r) { return r.batch == batch; });
  return found == d.regimes.end() ? nullptr : &*found;
}

Table residuals(const fit::FitResult& result) {
  Table table;
  table.caption =
      "Residual standard deviation in % of the mean power, and the means at the smallest and the largest batch (the "
      "study's Table IV).";
  table.columns = {{"device", "device", Align::left},
                   {"per device", "residual_sd_device_pct"},
                   {"per cell", "residual_sd_cell_pct"},
                   {"repeats", "repeat_noise_pct"},
                   {"batch", "smallest_batch"},
                   {"MFU %", "smallest_mfu"},
                   {"W", "smallest_power_watts"},
                   {"batch", "largest_batch"},
                   {"MFU %", "largest_mfu"},
                   {"W", "largest_power_watts"}};
  for (const fit::DeviceFit& d : result.devices) {
    std::vector<Cell> cells{Cell{d.device}, number(d.residual_sd_pct.device, 2), number(d.residual_sd_pct.cell, 2),
                            number(d.residual_sd_pct.repeat_noise, 2)};
    if (d.regimes.empty()) {
      cells.insert(cells.end(), 6, Cell{"–"});
    } else {
      for (const fit::Regime* r : {regime_of(d, d.regimes.front().batch), regime_of(d, d.regimes.back().batch)}) {
        cells.push_back(number(static_cast<double>(r->batch), 0));
        cells.emplace_back(fmt::format("{:.1f}", 100 * r->mfu_mean), r->mfu_mean);
        cells.push_back(number(r->power_watts_mean, 0));
      }
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Section rows_used(const fit::FitResult& result) {
  Section section{.heading = "Rows", .facts = {}, .table = {}};
  for (const fit::DeviceFit& d : result.devices) {
    std::string dropped;
    for (const power::DroppedRows& reason : d.dropped)
      dropped += fmt::format("{}{} {}", dropped.empty() ? "left out: " : ", ", reason.rows, reason.reason);
    section.facts.push_back({d.device, fmt::format("{} of {}", d.rows, d.rows_read), dropped});
  }
  return section;
}

}  // namespace

Document to_document(const answers::Fit& answer) {
  Document document;
  document.title = fmt::format("Power of {} device{} fitted to measured rows", answer.result.devices.size(),
                               answer.result.devices.size() == 1 ? "" : "s");
  document.sections = {rows_used(answer.result),
                       {.heading = "Predictors", .facts = {}, .table = predictors(answer.result)},
                       {.heading = "Models", .facts = {}, .table = models(answer.result)},
                       {.heading = "Residuals and regimes", .facts = {}, .table = residuals(answer.result)}};
  Table unseen = held_out(answer.result);
  if (!unseen.rows.empty())
    document.sections.push_back({.heading = "Held-out models", .facts = {}, .table = std::move(unseen)});
  for (const fit::DeviceFit& d : answer.result.devices) {
    if (!d.utilization && !d.utilization_absent.empty())
      document.notes.push_back(d.device + ": no fit to utilization, it is " + d.utilization_absent + ".");
    for (const std::string& note : d.notes) document.notes.push_back(d.device + ": " + note);
  }
  document.notes.insert(document.notes.end(), answer.notes.begin(), answer.notes.end());
  return document;
}

}  // namespace flopwatt::report
