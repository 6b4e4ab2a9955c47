#pragma once

#include "flopwatt/cli/command.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::cli {

/// What `power` and `train` both ask of a power prediction.
struct PowerOptions {
  std::string calibration_file;
  power::Form form = power::Form::automatic;
  double level = 0.9;
};
/// --calibration, --power-model, --level
void add_power(Command& command, PowerOptions& options);

}  // namespace flopwatt::cli
