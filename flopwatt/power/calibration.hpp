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

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/quantity.hpp"

/// The calibration: what was learnt about the power of one device from measured rows, and how well.  It is the only
/// thing that measurement hands to prediction.

namespace flopwatt::power {

inline constexpr int kCalibrationSchema = 1;

/// The forms of a power model.  `automatic` stands for the best one that the calibration has.
enum class Form : std::uint8_t { automatic, linear, dtype, cell, saturating };
/// "auto", "linear", "dtype", "cell", "saturating".
[[nodiscard]] std::string_view name(Form form) noexcept;
[[nodiscard]] std::optional<Form> parse_form(std::string_view text) noexcept;

/// The denominator of the MFU that the lines of a calibration are regressed on, by dtype.
struct Peak {
  units::Precision dtype = units::Precision::float32;  ///< as the run declared it
  units::FlopRate rate;
  std::string path;        ///< "vector", "tensor_dense", "tensor_sparse"; empty if unknown
  std::string accumulate;  ///< "float32", "float16"; empty if unknown
  std::string known_by;    ///< "recorded" (implied by the recorded MFU), "catalogue", "audited", "file"
  std::string source;      ///< one sentence
};

/// power = intercept + slope · (100 · FLOP rate / peak), by ordinary least squares, with all that its prediction
/// interval needs.
struct Line {
  std::size_t rows = 0;
  double intercept_watts = 0, slope_watts_per_pct = 0;
  double intercept_variance = 0, slope_variance = 0, covariance = 0;
  double residual_sd_watts = 0;                  ///< sqrt(SSE / (n − 2))
  double mfu_mean_pct = 0, mfu_spread_pct2 = 0;  ///< x̄ and Σ(x − x̄)²
  std::optional<double> r2;                      ///< absent where the power does not vary
  double mape_pct = 0;                           ///< in sample
};

/// Lines keyed as the form keys them: one; by dtype; by dtype and batch.
struct Lines {
  std::optional<Line> linear;
  std::map<units::Precision, Line> dtype;
  std::map<std::pair<units::Precision, std::int64_t>, Line> cell;
};

/// What a device moves a second, by what the eager execution of the ledger says (work::Execution::eager): one kernel an
/// operator, each reading and writing its operands.
struct Traffic {
  units::Bandwidth parameters;   ///< weights, gradients, optimizer states
  units::Bandwidth activations;  ///< activations, logits, KV cache
};

/// P = softmin_τ(P0 + a_p·F + c·s_p·(B_parameters + κ·B_activations), P_cap), F and B absolute rates, p the precision.
/// docs/power-models.md says what each parameter means and how the form was chosen.
struct Saturating {
  double floor_watts = 0;                              ///< P0: under load, before any work is done
  std::map<units::Precision, double> joules_per_flop;  ///< a_p
  double joules_per_byte = 0;                          ///< c
  std::map<units::Precision, double> byte_factor;      ///< s_p, 1 where precisions cost the same a byte
  double activation_factor = 1;  ///< κ: a byte of activations, often in cache, against one of parameters
  double cap_watts = 0;          ///< P_cap: where the board holds the power down
  double softness_watts = 0;     ///< τ: how gently the cap sets in
  /// Eager over fused bytes of the fitted rows (median): turns an MBU, which counts fused bytes, into traffic.
  std::optional<double> traffic_per_mbu_byte;
  std::size_t rows = 0;
  double mape_pct = 0;                       ///< in sample
  std::vector<std::string> parameter_names;  ///< order of `covariance`: "floor_watts", "joules_per_flop.float32", …
  std::vector<double> covariance;            ///< square, row by row; empty if the data do not determine it

  /// Watts at absolute rates.  `dtype` must be a key of joules_per_flop.
  [[nodiscard]] double watts(units::Precision dtype, units::FlopRate flops, const Traffic& traffic) const noexcept;
};

/// The smooth minimum of `x` and `cap`: −τ·ln(e^(−x/τ) + e^(−cap/τ)); x − τ·ln 2 where they meet, never above either.
[[nodiscard]] double softmin(double x, double cap, double tau) noexcept;

/// Errors on rows that the fit did not see (or, in sample, did see).
struct ErrorFigures {
  std::size_t rows = 0;
  double mape_pct = 0, p95_pct = 0, bias_pct = 0;
};

/// How a form does on held-out groups: by fold and pooled.
struct CrossValidation {
  ErrorFigures pooled;
  std::map<std::string, ErrorFigures> folds;  ///< key: what was held out
};

struct Range {
  double lo = 0, hi = 0;
};

/// Where the calibration was measured: what lies outside is flagged `extrapolates`.  Absent: was not known.
struct InputRanges {
  std::map<units::Precision, Range> flops_per_second;
  std::optional<Range> bytes_per_second;
  std::optional<Range> batch, sequence, tokens_per_step;
};

struct DataSource {
  std::string name;    ///< file name without folder
  std::string sha256;  ///< of its bytes
  std::size_t rows = 0;
};

struct DroppedRows {
  std::string reason;
  std::size_t rows = 0;
};

/// What an audit said about the rows before they were fitted.
struct Finding {
  std::string code, severity, text;
  std::size_t rows = 0;
};

struct Calibration {
  int schema = kCalibrationSchema;
  std::string device;                         ///< catalogue name, or the family where the data says no more ("A100")
  bool family = false;                        ///< true: `device` is a family; its variants may use this calibration
  std::string label;                          ///< as the data named the device
  std::optional<std::string> driver, clocks;  ///< where known
  std::vector<DataSource> sources;
  std::string tool;  ///< "flopwatt 0.1.0", and the options that make the same file again
  std::size_t rows_read = 0, rows_used = 0;
  std::vector<DroppedRows> dropped;
  std::vector<Peak> peaks;
  std::optional<double> idle_watts, limit_watts;  ///< measured idle row; board limit of the catalogue
  std::optional<double> repeat_noise_pct;  ///< mean over configurations of the SD across repeats, % of mean power
  Lines lines;
  std::optional<Saturating> saturating;
  std::map<Form, ErrorFigures> in_sample;
  std::map<Form, CrossValidation> leave_one_model_out;  ///< empty until it was computed
  std::map<Form, CrossValidation> leave_one_batch_out;
  std::map<Form, CrossValidation> leave_one_dtype_out;
  /// |measured − predicted| in percent of the predicted power, of every row while its model was held out; one list a
  /// configuration (its repeats together).  A split-conformal interval takes its bound from them.
  std::map<Form, std::vector<std::vector<double>>> conformal_scores_pct;
  InputRanges ranges;
  std::vector<Finding> findings;
  std::vector<std::string> notes;

  [[nodiscard]] const Peak* peak(units::Precision dtype) const noexcept;
};

/// Reads a calibration file.  Errc::bad_data at "WHERE" or "WHERE:LINE" for malformed JSON, another schema version, a
/// missing or impossible value (a negative peak, a covariance that is not square), naming the key.
[[nodiscard]] Result<Calibration> read_calibration(std::string_view text, std::string_view where);
/// The same file again: keys in a fixed order, shortest numbers that read back exactly.  Conforms to
/// data/schema/calibration.schema.json.
[[nodiscard]] std::string write_calibration(const Calibration& calibration);

/// The calibrations that ship with flopwatt.  An error here is a fault of the build.
[[nodiscard]] Result<std::vector<Calibration>> shipped_calibrations();
/// The shipped calibration of `device`, else of its `family` (then with a note); both as catalogue names, compared
/// without case, blanks, dashes and underscores.  Errc::usage with the list where there is none.
[[nodiscard]] Result<Calibration> shipped_calibration(std::string_view device, std::string_view family = {});

}  // namespace flopwatt::power
