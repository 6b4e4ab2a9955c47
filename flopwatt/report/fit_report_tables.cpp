#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "flopwatt/io/hash.hpp"
#include "flopwatt/report/fit_cells.hpp"
#include "flopwatt/report/fit_tables.hpp"

/// The tables that only a report has.

namespace flopwatt::report {
namespace {

using power::Form;

Cell whole(std::size_t value) { return number(static_cast<double>(value), 0); }

Table left_out(const fit::FitResult& result, std::string caption,
               std::map<Form, power::CrossValidation> fit::DeviceFit::* folds, std::string meaning) {
  Table table;
  table.caption = std::move(caption);
  table.columns = {
      {"device", "device", Align::left},
      {"model", "model", Align::left},
      {"rows", "rows"},
      {"MAPE %", "mape_pct", Align::right, std::move(meaning)},
      {"p95 %", "p95_pct", Align::right, "95th percentile (type 7) of the same errors"},
      {"bias %", "bias_pct", Align::right, "their mean with sign: positive where predictions are too high"}};
  table.basis = rows_of(result);
  for (const fit::DeviceFit& device : result.devices) {
    for (const auto& [form, errors] : device.*folds) {
      const power::ErrorFigures& pooled = errors.pooled;
      table.rows.push_back({Cell{device.device}, Cell{std::string{power::name(form)}}, whole(pooled.rows),
                            number(pooled.mape_pct, 1), number(pooled.p95_pct, 1), number(pooled.bias_pct, 1)});
    }
  }
  return table;
}

/// The share that the interval of a form covers on one left-out model.
Cell coverage(const fit::DeviceFit& device, Form form, const std::string& fold) {
  const auto folds = device.coverage_90_folds.find(form);
  if (folds == device.coverage_90_folds.end()) return {"–"};
  const auto share = folds->second.find(fold);
  return share == folds->second.end() ? Cell{"–"} : number(share->second, 2);
}

}  // namespace

Table devices_table(const fit::FitResult& result) {
  Table table;
  table.caption = "What was measured: rows of the files, idle power, board limit.";
  table.columns = {
      {"device", "device", Align::left},
      {"rows read", "rows_read", Align::right, "data rows of the files, the idle one included"},
      {"rows used", "rows", Align::right, "those that the fits of power on MFU used"},
      {"models", "models", Align::right, "different models among them"},
      {"batches", "batches", Align::right, "different batch sizes"},
      {"idle W", "idle_watts", Align::right, "mean of the idle (baseline) rows"},
      {"limit W", "limit_watts", Align::right, "board limit of the device catalogue; – where variants differ"},
      {"bandwidth GB/s", "bandwidth", Align::right,
       "peak memory bandwidth of the device catalogue, which MBU is of; – where variants differ"}};
  table.basis = rows_of(result);
  for (const fit::DeviceFit& d : result.devices) {
    std::set<std::string> models;
    if (d.details) {
      for (const fit::Point& point : d.details->points) models.insert(point.model);
    }
    std::optional<double> bandwidth;
    if (d.details && d.details->peak_bytes_per_second) bandwidth = *d.details->peak_bytes_per_second / 1e9;
    table.rows.push_back({Cell{d.device}, whole(d.rows_read), whole(d.rows), whole(models.size()),
                          whole(d.regimes.size()), number(d.calibration.idle_watts, 1),
                          number(d.calibration.limit_watts, 0), number(bandwidth, 0)});
  }
  return table;
}

Table peaks_table(const fit::FitResult& result) {
  Table table;
  table.caption = "The peak behind every MFU of this report.";
  table.columns = {{"device", "device", Align::left},
                   {"dtype", "dtype", Align::left},
                   {"TFLOP/s", "teraflops_per_second", Align::right, "what 100 % of MFU is"},
                   {"path", "path", Align::left, "the units that have this peak, where the catalogue explains it"},
                   {"known by", "known_by", Align::left,
                    "recorded: implied by the recorded MFU, counted FLOP/s over MFU; catalogue: of the declared dtype; "
                    "audited: of the path that really ran; file: given"},
                   {"source", "source", Align::left}};
  for (const fit::DeviceFit& d : result.devices) {
    for (const power::Peak& peak : d.calibration.peaks) {
      table.rows.push_back({Cell{d.device}, Cell{std::string{units::name(peak.dtype)}},
                            number(peak.rate.in(units::teraflop_per_second), 1), Cell{path_text(peak)},
                            Cell{peak.known_by}, Cell{peak.source}});
    }
  }
  return table;
}

Table regimes_table(const fit::FitResult& result) {
  Table table;
  table.caption = "Means at every batch.";
  table.columns = {
      {"device", "device", Align::left},
      {"batch", "batch"},
      {"rows", "rows", Align::right, "rows with this batch and an MFU"},
      {"MFU %", "mfu_mean", Align::right, "mean over them, of the peaks in Table 2 (the exact value is a fraction)"},
      {"W", "power_watts_mean", Align::right, "mean over them"}};
  table.basis = rows_of(result);
  for (const fit::DeviceFit& d : result.devices) {
    for (const fit::Regime& regime : d.regimes) {
      table.rows.push_back({Cell{d.device}, number(static_cast<double>(regime.batch), 0), whole(regime.rows),
                            Cell{fmt::format("{:.1f}", 100 * regime.mfu_mean), regime.mfu_mean},
                            number(regime.power_watts_mean, 1)});
    }
  }
  return table;
}

Table batch_held_out_table(const fit::FitResult& result) {
  return left_out(
      result, "Errors on batch sizes that the fit did not see (leave one batch out).",
      &fit::DeviceFit::leave_one_batch_out,
      "mean of 100 · |predicted − measured| / measured, each row predicted by the fit to all other batches; a "
      "class without a line for the batch falls back to the next simpler one");
}

Table dtype_held_out_table(const fit::FitResult& result) {
  return left_out(
      result, "Errors on precisions that the fit did not see (leave one dtype out).",
      &fit::DeviceFit::leave_one_dtype_out,
      "mean of 100 · |predicted − measured| / measured, each row predicted by the fit to all other dtypes; a "
      "missing dtype is the mean of the others");
}

Table folds_table(const fit::FitResult& result) {
  std::set<Form> forms;
  for (const fit::DeviceFit& d : result.devices) {
    for (const auto& [form, folds] : d.leave_one_model_out) forms.insert(form);
  }
  Table table;
  table.caption = "Each left-out model: MAPE in %, and the coverage of 90 % intervals.";
  table.columns = {{"device", "device", Align::left}, {"left out", "left_out", Align::left}};
  for (const Form form : forms)
    table.columns.push_back({std::string{power::name(form)} + " %", fmt::format("{}_mape_pct", power::name(form))});
  for (const Form form : forms) {
    table.columns.push_back(
        {fmt::format("{} cov.", power::name(form)), fmt::format("{}_coverage_90", power::name(form)), Align::right,
         form == *forms.begin() ? "share of the left-out model's rows inside the interval that the other folds give"
                                : ""});
  }
  for (const fit::DeviceFit& d : result.devices) {
    std::set<std::string> folds;
    for (const auto& [form, validation] : d.leave_one_model_out) {
      for (const auto& [fold, figures] : validation.folds) folds.insert(fold);
    }
    for (const std::string& fold : folds) {
      std::vector<Cell> row{Cell{d.device}, Cell{fold}};
      for (const Form form : forms) {
        const auto validation = d.leave_one_model_out.find(form);
        const bool has = validation != d.leave_one_model_out.end() && validation->second.folds.contains(fold);
        row.push_back(has ? number(validation->second.folds.at(fold).mape_pct, 1) : Cell{"–"});
      }
      for (const Form form : forms) row.push_back(coverage(d, form, fold));
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table parameters_table(const fit::FitResult& result) {
  Table table;
  table.caption =
      "Parameters of the saturating class: P = softmin(P0 + a·F + c·s·(B_parameters + κ·B_activations), P_cap).";
  table.columns = {
      {"device", "device", Align::left},
      {"parameter", "parameter", Align::left},
      {"value", "value", Align::right,
       "in the base unit that the name ends in; bounded robust least squares on relative error"},
      {"± %", "standard_error_pct", Align::right,
       "standard error in % of the value, from the covariance of the fit; – where the rows do not determine it"}};
  for (const fit::DeviceFit& d : result.devices) {
    const auto found = d.models.find(Form::saturating);
    if (found == d.models.end() || !d.calibration.saturating) continue;
    const power::Saturating& model = *d.calibration.saturating;
    for (const auto& [name, value] : found->second.parameters) {
      const auto place = std::find(model.parameter_names.begin(), model.parameter_names.end(), name);
      std::optional<double> error;
      const std::size_t n = model.parameter_names.size();
      if (place != model.parameter_names.end() && model.covariance.size() == n * n && value != 0) {
        const auto i = static_cast<std::size_t>(place - model.parameter_names.begin());
        if (const double variance = model.covariance[i * n + i]; variance >= 0)
          error = 100 * std::sqrt(variance) / std::abs(value);
      }
      table.rows.push_back({Cell{d.device}, Cell{name}, Cell{fmt::format("{:.4g}", value), value}, number(error, 1)});
    }
  }
  return table;
}

std::string calibration_sha256(const power::Calibration& calibration) {
  return io::sha256_hex(power::write_calibration(calibration));
}

Table sources_table(const fit::FitResult& result) {
  Table table;
  table.caption = "Files that were read, and the calibrations made of them, by SHA-256.";
  table.columns = {{"device", "device", Align::left},
                   {"what", "what", Align::left},
                   {"rows", "rows"},
                   {"SHA-256", "sha256", Align::left,
                    "of the file's bytes; of a calibration: of the file that -o writes for the device"}};
  for (const fit::DeviceFit& d : result.devices) {
    for (const power::DataSource& source : d.calibration.sources)
      table.rows.push_back({Cell{d.device}, Cell{source.name}, whole(source.rows), Cell{source.sha256}});
    table.rows.push_back(
        {Cell{d.device}, Cell{"calibration"}, whole(d.calibration.rows_used), Cell{calibration_sha256(d.calibration)}});
  }
  return table;
}

}  // namespace flopwatt::report
