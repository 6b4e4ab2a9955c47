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
  [[nodiscard]] answers::CalibrationUsed used(units::Precision dtype) const;

 private:
  device::Device device_;
  std::optional<FoundCalibration> found_;
};

}  // namespace flopwatt::engine
