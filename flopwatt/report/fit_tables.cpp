#include "flopwatt/report/fit_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flopwatt/report/fit_cells.hpp"

namespace flopwatt::report {
namespace {

using power::Form;

const fit::Regime* regime_of(const fit::DeviceFit& d, std::int64_t batch) {
  const auto found =
      std::find_if(d.regimes.begin(), d.regimes.end(), [&](const fit::Regime& r) { return r.batch == batch; });
  return found == d.regimes.end() ? nullptr : &*found;
}

}  // namespace

Table predictors_table(const fit::FitResult& result) {
  Table table;
  table.caption =
      "Power against one predictor, ordinary least squares over all rows of a device, 95 % bootstrap intervals (the "
      "study's Table II).";
  table.columns = {
      {"device", "device", Align::left},
      {"predictor", "predictor", Align::left},
      {"rows", "rows"},
      {"R²", "r2", Align::right,
       "1 − SSE / SST of watts over the rows, SST about their mean; ± half the width of the percentile interval of the "
       "row bootstrap"},
      {"MAPE %", "mape_pct", Align::right, "mean over the rows of 100 · |predicted − measured| / measured"},
      {"W per %", "slope_watts_per_pct", Align::right,
       "least-squares slope: watts for one percent of MFU (of its peak) or of utilization"},
      {"intercept W", "intercept_watts", Align::right, "the same line at 0 %"}};
  table.basis = rows_of(result);
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

Table models_table(const fit::FitResult& result) {
  Table table;
  table.caption = "Power models in sample, MAPE with 95 % bootstrap intervals (the study's Table III).";
  table.columns = {{"device", "device", Align::left},
                   {"model", "model", Align::left},
                   {"rows", "rows"},
                   {"MAPE %", "mape_pct", Align::right,
                    "mean over the rows of 100 · |predicted − measured| / measured, on the rows that were fitted"},
                   {"R²", "r2", Align::right, "1 − SSE / SST over all these rows together"},
                   {"lines", "lines", Align::right,
                    "linear: one; dtype: one a dtype; cell: one a dtype and batch; saturating has no lines but one set "
                    "of parameters"},
                   {"R² median", "r2_median", Align::right, "median over the lines of each one's own R²"}};
  table.basis = rows_of(result);
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

Table held_out_table(const fit::FitResult& result) {
  Table table;
  table.caption =
      "Errors on models that the fit did not see (leave one model out), and the share of rows that a 90 % interval "
      "covers.";
  table.columns = {
      {"device", "device", Align::left},
      {"model", "model", Align::left},
      {"MAPE %", "mape_pct", Align::right,
       "mean of 100 · |predicted − measured| / measured, each row predicted by the fit to all rows of the other "
       "models"},
      {"p95 %", "p95_pct", Align::right, "95th percentile (type 7) of the same errors"},
      {"bias %", "bias_pct", Align::right, "their mean with sign: positive where predictions are too high"},
      {"batch 1 %", "batch_one_mape_pct", Align::right, "MAPE of the rows with batch 1"},
      {"other %", "other_batches_mape_pct", Align::right, "MAPE of all other rows"},
      {"coverage", "coverage_90", Align::right,
       "share of rows inside their 90 % interval, whose half-width is the split-conformal bound from the errors of the "
       "other folds, repeats of a configuration together"}};
  table.basis = rows_of(result);
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

Table residuals_table(const fit::FitResult& result) {
  Table table;
  table.caption =
      "Residual standard deviation in % of the mean power, and the means at the smallest and the largest batch (the "
      "study's Table IV).";
  table.columns = {
      {"device", "device", Align::left},
      {"per device", "residual_sd_device_pct", Align::right,
       "sqrt(SSE / (n − 2)) of the one line of the device, in % of the mean power"},
      {"per cell", "residual_sd_cell_pct", Align::right,
       "sqrt(ΣSSE / (n − 2)) over all lines by dtype and batch, divisor as the study has it, in % of the mean power"},
      {"repeats", "repeat_noise_pct", Align::right,
       "mean over configurations of the standard deviation (n − 1) across their repeats, in % of the mean power: no "
       "model can be better than that"},
      {"batch", "smallest_batch"},
      {"MFU %", "smallest_mfu"},
      {"W", "smallest_power_watts"},
      {"batch", "largest_batch"},
      {"MFU %", "largest_mfu"},
      {"W", "largest_power_watts", Align::right, "means over the rows of that batch; MFU is of the peaks in Table 2"}};
  table.basis = rows_of(result);
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

}  // namespace flopwatt::report
