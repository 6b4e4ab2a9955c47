#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/power/calibration.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::power {

/// What a device is doing, in absolute rates.  An MFU is turned into FLOP/s with the peak it was divided by before it
/// gets here; flop_rate() below does it with the calibration's own.
struct Query {
  units::Precision dtype = units::Precision::bfloat16;
  units::FlopRate flops;  ///< model FLOPs a second, achieved
  /// Bytes a second, by kind, of the eager ledger: what `saturating` is fitted on.
  std::optional<Traffic> traffic;
  /// Bytes a second as an MBU counts them (fused); used where `traffic` is absent, less exactly.
  std::optional<units::Bandwidth> bytes;
  std::optional<std::int64_t> batch;  ///< sequences a step; `cell` needs it
  std::optional<double> sequence;     ///< tokens a sequence, to say where it lies outside the data
  std::optional<units::Power> limit;  ///< board limit of the device asked about; absent: the calibration's
  Form form = Form::automatic;
  double level = 0.9;  ///< of the interval, in (0, 1)
};

enum class FlagKind : std::uint8_t {
  extrapolates,  ///< an input lies outside the measured range
  uncalibrated,  ///< no measurement of this device: prior only
  above_limit,   ///< the value exceeds the board limit
  fallback,      ///< the form asked for lacks what this query needs; another was used
};
/// "extrapolates", "uncalibrated", "above_limit", "fallback".
[[nodiscard]] std::string_view name(FlagKind kind) noexcept;

struct Flag {
  FlagKind kind = FlagKind::extrapolates;
  std::string text;  ///< one sentence with the numbers: "sequence 2048 lies 186x above the measured 11 to 11"
};

struct Prediction {
  units::Power power;
  units::Power lo, hi;  ///< the interval
  double level = 0.9;
  std::string interval_method;  ///< "prediction interval of the least-squares line", "split conformal, …"
  Form form = Form::cell;       ///< the one that was used
  std::string calibration;      ///< device name of the calibration
  std::vector<Flag> flags;
  std::vector<std::string> notes;
};

/// Watts at the given rates, with interval and flags.  Forms fall back cell → dtype → linear where the calibration has
/// no such cell or dtype, each step flagged.  Errors: Errc::usage for a rate that is negative or not finite, a batch
/// below 1, a level outside (0, 1), a form that the calibration does not have; Errc::usage for a dtype without a peak.
[[nodiscard]] Result<Prediction> predict(const Calibration& calibration, const Query& query);

/// `mfu` (a fraction of the calibration's own peak of `dtype`) as FLOP/s.  Errc::usage for a dtype without a peak.
[[nodiscard]] Result<units::FlopRate> flop_rate(const Calibration& calibration, units::Precision dtype, double mfu);

/// The peak that MFUs of a dtype are of: that of its rows.  Rows of TF32 are recorded as float32 where that ran on the
/// tensor path.  Null for a dtype without rows.
[[nodiscard]] const Peak* peak_of_rows(const Calibration& calibration, units::Precision dtype) noexcept;

/// What is known of a device without calibration.
struct Prior {
  units::Power limit;                         ///< board limit
  std::optional<units::Power> idle;           ///< absent: the usual fraction of the limit
  std::optional<units::FlopRate> peak;        ///< of the dtype asked about
  std::optional<units::Bandwidth> bandwidth;  ///< of the memory
};
/// The prediction for an uncalibrated device, flagged `uncalibrated`: the saturating form with the parameters that
/// calibrated devices have on average, as fractions of limit, peak and bandwidth, and the interval that leaving one
/// device out earned (prior.hpp).  Errors as predict(); Errc::usage without a positive limit or a peak.
[[nodiscard]] Result<Prediction> predict_uncalibrated(std::string_view device, const Prior& prior, const Query& query);

}  // namespace flopwatt::power
