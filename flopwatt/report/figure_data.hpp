#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "flopwatt/answers/fit.hpp"
#include "flopwatt/power/calibration.hpp"

/// The numbers behind the figures of a fit report, as CSV (io::CsvWriter): the figures name these files and nothing
/// else, so that what is drawn can be read, and read again by other programs.

namespace flopwatt::report {

/// From here on a file of points holds an even sample: every k-th row of each device, in the order of the data.  Some
/// 350 bytes a row and ten marks a row keep a page under 3 MB and quick on a phone.
inline constexpr std::size_t kMostPoints = 3000;

/// A form that the answer has, with the column of rows.csv that holds its predictions.
struct FormColumn {
  power::Form form = power::Form::linear;
  std::string name;    ///< "saturating"
  std::string column;  ///< "saturating_watts"; held out: "saturating_held_out_watts"
};
/// Forms that any device was fitted with, in the order of power::Form.
[[nodiscard]] std::vector<FormColumn> form_columns(const answers::Fit& answer);

/// The columns of rows.csv, and which of them are numbers.
struct RowColumn {
  std::string name;
  bool number = true;
};
[[nodiscard]] std::vector<RowColumn> row_columns(const answers::Fit& answer);

/// Every `stride`-th point of a device is in rows.csv; 1: all of them.
[[nodiscard]] std::size_t point_stride(const answers::Fit& answer);

/// rows.csv: each measured row with what every form says of it.
[[nodiscard]] std::string rows_csv(const answers::Fit& answer);
/// batches.csv: MFU and utilization by device and batch; the rows with MFU, percentiles of type 7.
[[nodiscard]] std::string batches_csv(const answers::Fit& answer);
/// errors.csv: in-sample errors by device and form, counted in bins of one width.
[[nodiscard]] std::string errors_csv(const answers::Fit& answer);
/// held-out.csv: percentiles 0 … 100 of the absolute errors of the leave-one-model-out folds, by device and form.
[[nodiscard]] std::string held_out_csv(const answers::Fit& answer);
/// residuals.csv: percentiles of the held-out errors of one form by model, batch, dtype and sequence.
[[nodiscard]] std::string residuals_csv(const answers::Fit& answer, power::Form form);

/// 100 · (predicted − measured) / measured.
[[nodiscard]] double error_pct(double predicted_watts, double measured_watts) noexcept;
/// A whole number without decimals, anything else with those it needs: "11", "11.5".
[[nodiscard]] std::string axis_label(double value);

}  // namespace flopwatt::report
