#pragma once

#include <optional>
#include <string>

#include "flopwatt/answers/power.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/facts.hpp"
#include "flopwatt/power/predict.hpp"

namespace flopwatt::engine {

/// What turns rates into watts for one device: its calibration, or the prior of a device that has none.
class PowerSource {
 public:
  /// `calibration_file` replaces what the facts hold.  Errc::usage where it was measured on another device; where there
  /// is no calibration and the board limit is unknown.
  [[nodiscard]] static Result<PowerSource> open(const Facts& facts, const device::Device& device,
                                                const std::string& calibration_file);

  [[nodiscard]] Result<power::Prediction> predict(power::Query query) const;
  /// An MFU as FLOP/s, by the calibration's own peak, or by the device's where there is no calibration.
  [[nodiscard]] Result<units::FlopRate> flop_rate(units::Precision dtype, double mfu) const;
  /// The peak of an MFU of 1: the calibration's, or the device's where there is none; absent where neither knows it.
  [[nodiscard]] std::optional<units::FlopRate> peak(units::Precision dtype) const;
  /// `peak_path_differs`, where the rows were measured on another path than the catalogue's peak of the dtype is of:
  /// an MFU of the one is none of the other.  `of_catalogue`: the MFU at hand is one of the catalogue's peak.
  [[nodiscard]] std::optional<answers::Flag> peak_flag(units::Precision dtype, bool of_catalogue) const;
  /// `synthetic_power`, where the calibration was fitted to power that nobody measured.
  [[nodiscard]] std::optional<answers::Flag> synthetic_flag() const;
  [[nodiscard]] answers::CalibrationUsed used(units::Precision dtype) const;

 private:
  device::Device device_;
  std::optional<FoundCalibration> found_;
};

}  // namespace flopwatt::engine
