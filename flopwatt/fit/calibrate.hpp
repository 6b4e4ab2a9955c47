#pragma once

#include "flopwatt/base/result.hpp"
#include "flopwatt/fit/device_facts.hpp"
#include "flopwatt/fit/fit.hpp"
#include "flopwatt/fit/rates.hpp"
#include "flopwatt/fit/selection.hpp"

namespace flopwatt::fit {

/// Fills the parts of `out.calibration` that say where it came from and where it was measured.  Models, errors and
/// scores are filled by who computes them.
[[nodiscard]] Result<void> fill_provenance(const dataset::Dataset& dataset, const DeviceFacts& facts,
                                           const Selection& selection, const Rates& rates, DeviceFit& out);

/// Mean power of the idle rows; absent without any.
[[nodiscard]] std::optional<double> idle_watts(const dataset::Dataset& dataset);

}  // namespace flopwatt::fit
