#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/dataset/dataset.hpp"
#include "flopwatt/fit/device_facts.hpp"
#include "flopwatt/fit/fit.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::fit {

/// A row that some fit can use.
struct Sample {
  const dataset::Observation* observation = nullptr;  ///< in the Dataset that was selected from
  std::size_t configuration = 0;                      ///< number of its group of repeats
  units::Precision dtype = units::Precision::float32;
  std::int64_t batch = 0;
  double mfu_pct = 0;  ///< 0 in `Selection::usable` where the row has none
  double power_watts = 0;
};

struct Selection {
  std::vector<Sample> samples;              ///< rows with MFU: what the study's forms are fitted on
  std::vector<Sample> usable;               ///< those and the rows that only lack an MFU
  std::vector<power::DroppedRows> dropped;  ///< what is not in `samples`
  std::vector<power::Peak> peaks;           ///< by dtype, of the dtypes that occur
  std::vector<std::string> notes;
};

/// The rows that a fit can use and the peaks that normalise them; every other row is counted under its reason.
/// Errc::bad_data where the options ask for a peak that nobody knows.
[[nodiscard]] Result<Selection> select(const dataset::Dataset& dataset, const DeviceFacts& facts,
                                       const FitOptions& options);

}  // namespace flopwatt::fit
