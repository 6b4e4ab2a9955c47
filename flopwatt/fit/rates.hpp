#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/fit/fit.hpp"
#include "flopwatt/fit/selection.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::fit {

/// A row that the saturating form can use: absolute rates from the ledger of what ran.
struct RateSample {
  const Sample* sample = nullptr;
  units::FlopRate flops;
  power::Traffic traffic;
  double fused_bytes_per_second = 0;  ///< as an MBU counts them
  double power_watts = 0;
};

struct Rates {
  std::vector<RateSample> samples;
  std::vector<power::DroppedRows> dropped;  ///< rows without rates
};

/// The ledgers of the rows that have power, dtype, batch, sequence and tokens per second, and whose model the catalogue
/// knows: a training step in eager execution with eager attention, as a framework runs without a compiler, the
/// optimizer's states in the dtype of the run (memory in the study's rows shows them so).  A row without recorded MFU
/// can be used here.
[[nodiscard]] Rates rates(std::span<const Sample> samples, const model::Catalogue& models);

}  // namespace flopwatt::fit
