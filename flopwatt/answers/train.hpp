#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/answers/flag.hpp"
#include "flopwatt/answers/power.hpp"
#include "flopwatt/device/device.hpp"
#include "flopwatt/metrics/utilization.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/power/predict.hpp"
#include "flopwatt/train/pace.hpp"
#include "flopwatt/train/run.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/workload.hpp"

namespace flopwatt::answers {

/// `flopwatt train`: what a training run takes.
struct Train {
  model::Architecture architecture;
  work::Workload workload;         ///< of one micro-batch
  std::int64_t micro_batches = 1;  ///< a step
  train::Pace pace;
  train::Length length;
  train::Tariff tariff;
  device::Device device;
  device::Peak peak;

  work::Totals step;  ///< of an optimizer step
  train::StepTime step_time;
  metrics::Utilization utilization;
  work::Memory memory;
  std::optional<bool> fits;  ///< absent: the device's memory is unknown
  CalibrationUsed calibration;
  power::Prediction power;
  train::Run run;
  std::vector<Flag> flags;
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
