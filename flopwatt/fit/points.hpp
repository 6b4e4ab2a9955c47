#pragma once

#include <map>

#include "flopwatt/base/result.hpp"
#include "flopwatt/fit/cross_validate.hpp"
#include "flopwatt/fit/device_facts.hpp"
#include "flopwatt/fit/fit.hpp"
#include "flopwatt/fit/rates.hpp"
#include "flopwatt/fit/selection.hpp"

namespace flopwatt::fit {

/// Every usable row of the device with what each form of `fitted` says of it, and the lines that only figures need.
/// `held_out` are the rows of the leave-one-model-out folds by form.
[[nodiscard]] Details details(const dataset::Dataset& dataset, const DeviceFacts& facts, const Selection& selection,
                              const Rates& rates, const std::map<power::Form, HeldOutRows>& held_out,
                              const DeviceFit& fitted);

}  // namespace flopwatt::fit
