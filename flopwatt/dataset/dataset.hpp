#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/dataset/observation.hpp"

/// Measured samples of one device, with where every row came from.

namespace flopwatt::dataset {

enum class Layout : std::uint8_t {
  aggregated,  ///< one row a run: the study's `*_mean` columns
  raw,         ///< one row a sample
};

/// How the name of the device became known.
enum class DeviceOrigin : std::uint8_t { option, column, file_name };

/// A file that rows were read from.
struct File {
  std::string name;    ///< as it was named to us
  std::string sha256;  ///< of its bytes, lower-case hexadecimal
  Layout layout = Layout::aggregated;
  std::size_t rows = 0;                      ///< data rows of the file, idle ones included
  std::vector<std::string> columns_absent;   ///< known columns that it lacks
  std::vector<std::string> columns_ignored;  ///< columns of it that we do not know
};

/// Rows that were left out for one reason.
struct Dropped {
  std::string reason;
  std::vector<std::size_t> lines;  ///< of the file, from 1
};

/// Samples of which every run keeps one row, their mean.
struct Averaged {
  std::size_t samples = 0, runs = 0;
};

struct Dataset {
  std::string device;  ///< as the user or the file named it: "A100", "quadro_rtx_5000"
  DeviceOrigin device_origin = DeviceOrigin::file_name;
  std::vector<File> files;
  std::vector<Observation> rows;  ///< in the order of the files
  std::vector<Observation> idle;  ///< model_name `baseline`: the device doing nothing
  std::vector<Dropped> dropped;   ///< by the reader: blank rows
  Averaged averaged;              ///< by aggregate()
  std::vector<std::string> notes;

  /// Data rows of all files, idle and dropped ones included.
  [[nodiscard]] std::size_t rows_read() const noexcept;
  /// "a100.csv:17" for messages.
  [[nodiscard]] std::string place(const Observation& observation) const;
};

struct ReadOptions {
  std::string device;  ///< --device, in place of what the file says, which a note then tells; empty: the file's word
};

/// Reads a samples file: the study's CSV columns, aggregated (`*_mean`) or raw, any of them missing but model_name,
/// dtype, batch_size and the power column, others ignored and named.  One Dataset for each device, in order of
/// appearance: the device is `options.device`, else the row's `device` or `hardware` cell, else the stem of `where`
/// ("runs/a100.csv" → "a100").
///
/// Cells: a decimal point, no digit grouping; empty, nan, NA, N/A, [N/A], null, None and [Not Supported] are missing.
/// Encodings, delimiters and quoting are io's (csv.hpp).
/// Errors: Errc::bad_data at "WHERE:LINE" naming the column, for text that is no number, an infinity, a missing column,
/// or a file without a data row.
[[nodiscard]] Result<std::vector<Dataset>> read_samples(std::string_view text, std::string_view where,
                                                        const ReadOptions& options = {});

/// Whether two names differ in case, blanks, dashes and underscores at most: "Quadro RTX 5000", "quadro_rtx_5000".
[[nodiscard]] bool same_device(std::string_view a, std::string_view b);

/// Joins datasets of the same device, in order.
[[nodiscard]] std::vector<Dataset> merge(std::vector<Dataset> datasets);

/// Raw samples → one row a run: means of what was measured, over the rows that agree in every column that is set
/// (model, dtype, batch, context window, learning rate, warm-up, cool-down, I/O latency, configuration_id, run_id).
/// Rows of an aggregated file stay.
[[nodiscard]] Dataset aggregate(Dataset dataset);

/// Repeats of one configuration: rows that agree in model, dtype, batch and context window, and in configuration_id.
/// The answer holds a number per row, 0 … count − 1 in order of appearance.
struct Groups {
  std::vector<std::size_t> of_row;
  std::size_t count = 0;
};
[[nodiscard]] Groups configurations(std::span<const Observation> rows);

}  // namespace flopwatt::dataset
