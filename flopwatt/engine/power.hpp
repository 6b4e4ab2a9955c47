#pragma once

#include <optional>
#include <string>

#include "flopwatt/answers/power.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/count.hpp"
#include "flopwatt/engine/facts.hpp"

namespace flopwatt::engine {

/// What all three forms of the question share.
struct PowerBasics {
  DeviceWords device;
  std::string calibration_file;
  std::optional<units::Precision> dtype;  ///< absent: bfloat16, and a note says so
  power::Form form = power::Form::automatic;
  double level = 0.9;
};

/// Watts at stated ratios.
struct PowerAtMfuRequest {
  PowerBasics basics;
  double mfu = 0;             ///< of the calibration's own peak
  std::optional<double> mbu;  ///< of the device's bandwidth
  std::optional<std::int64_t> batch;
  std::optional<std::int64_t> sequence;
};
/// Watts of training a model at a measured rate.
struct PowerOfModelRequest {
  PowerBasics basics;
  std::string model, as_family;
  WorkloadWords workload;
  double tokens_per_second = 0;
};
/// Watts of every interval of a CSV file: duration_seconds; flops_per_second or mfu; bytes_per_second or mbu, and
/// batch, where the model needs them.  Other columns are carried along.
struct PowerOfRatesRequest {
  PowerBasics basics;
  std::string file;
  std::optional<std::int64_t> batch;  ///< for files without the column
};

/// Errors: those of Facts, PowerSource and power::predict; Errc::bad_data at FILE:LINE for a rates file.
[[nodiscard]] Result<answers::Power> power_at_mfu(const Facts& facts, const PowerAtMfuRequest& request);
[[nodiscard]] Result<answers::Power> power_of_model(const Facts& facts, const PowerOfModelRequest& request);
[[nodiscard]] Result<answers::PowerRows> power_of_rates(const Facts& facts, const PowerOfRatesRequest& request);

}  // namespace flopwatt::engine
