#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flopwatt/audit/audit.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/dataset/dataset.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/power/calibration.hpp"
#include "flopwatt/power/prior.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/quantity.hpp"

/// Measured rows → calibrations, with the tables of the public study (DESIGN: `fit`).

namespace flopwatt::fit {

/// What an MFU is normalised by.
enum class PeaksFrom : std::uint8_t {
  recorded,   ///< the recorded MFU, and the peak it implies
  catalogue,  ///< the device catalogue's peak of the declared dtype
  audited,    ///< the catalogue's peak of the path that was really executed
  file,       ///< FitOptions::peaks
};
[[nodiscard]] std::optional<PeaksFrom> parse_peaks_from(std::string_view text) noexcept;

/// Peaks by device (as named in the file) and dtype.
struct PeakTable {
  std::string source;  ///< file name
  std::map<std::string, std::map<units::Precision, units::FlopRate>> peaks;
};
/// A TOML table a device, TFLOP/s by dtype: `["A100"]\nfloat32 = 156\nfloat16 = 312`.
/// Errc::bad_data at "WHERE:LINE" naming the key.
[[nodiscard]] Result<PeakTable> read_peaks(std::string_view text, std::string_view where);
/// The peak that the table has for a device (dataset::same_device) and dtype.
[[nodiscard]] std::optional<units::FlopRate> find_peak(const PeakTable& table, std::string_view device,
                                                       units::Precision dtype);

struct FitOptions {
  std::vector<power::Form> forms{power::Form::linear, power::Form::dtype, power::Form::cell, power::Form::saturating};
  std::size_t resamples = 2000;  ///< 0: no bootstrap intervals
  std::uint64_t seed = 0;
  double level = 0.95;  ///< of the bootstrap intervals
  PeaksFrom peaks_from = PeaksFrom::recorded;
  PeakTable peaks;  ///< for PeaksFrom::file
  bool cross_validate = true;
  bool audit = true;  ///< hold the rows against first principles first; the findings go into the calibration
  /// Fit power that the audit takes for milliwatts or kilowatts; without it such rows are refused.
  bool anyway = false;
  bool details = false;                        ///< fill DeviceFit::details: what figures are drawn from
  const device::Catalogue* devices = nullptr;  ///< nullptr: the one that ships
  const model::Catalogue* models = nullptr;    ///< nullptr: the one that ships
};

struct Interval {
  double lo = 0, hi = 0;
  [[nodiscard]] double half_width() const noexcept { return (hi - lo) / 2; }
};

/// One predictor against power over all rows of a device: y = intercept + slope · x, x in percent.
struct Predictor {
  std::size_t rows = 0;
  std::optional<double> r2;
  double mape_pct = 0, slope_watts_per_pct = 0, intercept_watts = 0;
  /// Percentile intervals of the row bootstrap; absent without one.
  std::optional<Interval> r2_ci, mape_pct_ci, slope_ci, intercept_ci;
};

/// In percent of the mean power of the device.
struct ResidualSd {
  double device = 0;                   ///< sqrt(SSE / (n − 2)) of the one line
  std::optional<double> cell;          ///< sqrt(ΣSSE / (n − 2)) of the cell lines: divisor as the study has it
  std::optional<double> repeat_noise;  ///< mean over configurations of the SD (n − 1) across repeats
};

struct Regime {
  std::int64_t batch = 0;
  std::size_t rows = 0;
  double mfu_mean = 0;  ///< fraction
  double power_watts_mean = 0;
};

/// How one form does in sample.
struct FormSummary {
  std::size_t rows = 0;
  double mape_pct = 0;
  std::optional<Interval> mape_pct_ci;
  std::optional<double> r2;                         ///< of all rows together
  std::size_t cells = 0;                            ///< lines that it has
  std::optional<double> r2_median, r2_mean, r2_sd;  ///< over its lines
  std::map<std::string, double> parameters;         ///< `saturating`: by name
};

/// A measured row and what every form says of it.  Absent: not recorded, or the form has no prediction for it.
struct Point {
  std::string place;  ///< "a100.csv:17"
  std::string model;
  units::Precision dtype = units::Precision::float32;
  std::int64_t batch = 0;
  std::optional<double> sequence;
  std::size_t configuration = 0;  ///< repeats share one
  double power_watts = 0;
  std::optional<double> mfu_pct, utilization_pct;
  std::optional<double> flops_per_second;           ///< model FLOPs, from the ledger
  std::optional<double> bytes_per_second, mbu_pct;  ///< that must move (`step`), over the peak bandwidth if it is known
  std::optional<double> meter_watts;                ///< external meter
  std::map<power::Form, double> predicted_watts;    ///< in sample
  std::map<power::Form, double> held_out_watts;     ///< by the fit that did not see this row's model
};

/// y = intercept + slope · x by ordinary least squares.
struct StraightLine {
  std::size_t rows = 0;
  double intercept = 0, slope = 0;
  std::optional<double> r2;
};

/// What figures are drawn from, beside the summaries.
struct Details {
  std::vector<Point> points;                             ///< every row that a form could use, in order of the files
  std::map<units::Precision, StraightLine> utilization;  ///< watts on utilization in percent
  std::optional<StraightLine> meter;                     ///< the meter's watts on the device's
  std::optional<double> peak_bytes_per_second;           ///< absent where variants differ
};

struct DeviceFit {
  std::string device;  ///< as the calibration names it
  std::size_t rows_read = 0, rows = 0;
  dataset::Averaged averaged;  ///< rows read of which each run keeps one: rows + dropped = read − samples + runs
  std::vector<power::DroppedRows> dropped;
  std::optional<Predictor> mfu, utilization;
  std::string utilization_absent;  ///< why there is none: "a binary flag", "not recorded"
  ResidualSd residual_sd_pct;
  std::vector<Regime> regimes;  ///< by batch, ascending
  std::map<power::Form, FormSummary> models;
  std::map<power::Form, power::CrossValidation> leave_one_model_out, leave_one_batch_out, leave_one_dtype_out;
  /// Mean absolute error (%) of held-out models on rows of batch 1, and on the others.
  std::map<power::Form, std::pair<double, double>> batch_one_and_others_pct;
  /// Share of rows that a 90 % interval covers, its bound taken from the other folds: pooled, and by held-out model.
  std::map<power::Form, double> coverage_90;
  std::map<power::Form, std::map<std::string, double>> coverage_90_folds;
  power::Calibration calibration;
  std::vector<std::string> notes;
  std::optional<Details> details;  ///< if FitOptions::details
};

struct FitResult {
  std::vector<DeviceFit> devices;
  audit::AuditResult audited;  ///< what was found in the rows before they were fitted; empty without FitOptions::audit
  /// For devices that nobody measured; absent unless the saturating form was fitted to three devices or more.
  std::optional<power::DevicePrior> prior;
};

/// Whether an error of the audit is about what the power models are fitted on: the power, the MFU (where it is the
/// recorded one) and the counted FLOPs.  Other columns and rows that are left out anyway do no harm to a fit.
[[nodiscard]] bool concerns_fit(const audit::Finding& finding, PeaksFrom peaks_from);

/// Audits, then fits every device of `datasets` (joined by device first).  Deterministic: the same rows, options and
/// build give the same numbers to the last bit.  Errors: Errc::bad_data naming the file for a device left without
/// enough rows, with the reasons why rows were dropped, and for power in another unit unless
/// FitOptions::anyway; Errc::usage for options out of range.
[[nodiscard]] Result<FitResult> fit(std::span<const dataset::Dataset> datasets, const FitOptions& options = {});

}  // namespace flopwatt::fit
