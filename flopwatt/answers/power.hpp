#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "flopwatt/answers/flag.hpp"
#include "flopwatt/power/calibration.hpp"
#include "flopwatt/power/predict.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::answers {

/// Which calibration answered, and where it came from.
struct CalibrationUsed {
  std::string device;               ///< the calibration's own; empty: the device has none
  std::string origin;               ///< "shipped", the file's path
  std::optional<power::Peak> peak;  ///< of the dtype asked about
};

/// `flopwatt power` for one operating point.
struct Power {
  std::string device;
  power::Query query;
  std::optional<double> mfu, mbu;  ///< of the calibration's own peak and the device's bandwidth
  std::string model;               ///< that the rates were counted for; empty: rates were given
  std::optional<units::TokenRate> tokens;
  CalibrationUsed calibration;
  power::Prediction prediction;
  std::vector<Flag> flags;
  std::vector<std::string> notes;
};

/// `flopwatt power --rates`: the rows of a simulator with watts.
struct PowerRows {
  struct Row {
    std::size_t line = 0;  ///< of the file
    units::Duration duration;
    units::FlopRate flops;
    std::optional<units::Bandwidth> bytes;
    power::Prediction prediction;
    units::Energy energy;
  };
  std::string device, file;
  power::Query query;  ///< what all rows share
  CalibrationUsed calibration;
  std::vector<std::string> columns;              ///< of the file
  std::vector<std::vector<std::string>> fields;  ///< its cells as they were written, row by row
  std::vector<Row> rows;
  units::Duration duration;
  units::Energy energy, energy_lo, energy_hi;
  units::Power mean_power;
  std::vector<Flag> flags;  ///< each once, with the number of rows it concerns
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
