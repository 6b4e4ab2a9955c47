#pragma once

#include <optional>
#include <string>

#include "flopwatt/answers/train.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/count.hpp"
#include "flopwatt/engine/facts.hpp"

namespace flopwatt::engine {

struct TrainRequest {
  std::string model, as_family;
  WorkloadWords workload;                    ///< of one micro-batch
  std::optional<std::int64_t> global_batch;  ///< sequences a step; absent: one micro-batch
  DeviceWords device;
  std::string calibration_file;
  power::Form form = power::Form::automatic;
  double level = 0.9;
  train::Pace pace;
  train::Length length;
  train::Tariff tariff;
};

/// Errors: those of Facts, work::count, train::step_time and power::predict; Errc::usage for a global batch that is no
/// multiple of the micro-batch.  A plan that needs more memory than the device has is an answer with `fits` false.
[[nodiscard]] Result<answers::Train> train(const Facts& facts, const TrainRequest& request);

}  // namespace flopwatt::engine
