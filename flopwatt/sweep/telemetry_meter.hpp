#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/meter.hpp"
#include "flopwatt/telemetry/sampler.hpp"
#include "flopwatt/telemetry/source.hpp"
#include "flopwatt/workload/job.hpp"

namespace flopwatt::sweep {

/// Which devices of some sources meter a place: of NVML the one that CUDA sees at this index, of AMD's libraries the
/// index, and for a CPU every package (its parts are not added to it).  `source` narrows them to one; empty: the first
/// that has any.  Errc::unavailable with what there is.
[[nodiscard]] Result<std::vector<telemetry::SampledDevice>> metered_devices(
    const std::vector<std::unique_ptr<telemetry::Source>>& sources, const workload::Place& place,
    const std::string& source);

/// Reads `devices` of `sources` ten times a second, and adds their energies.  One of them without power is no power.
/// A recorded source is named so ("recorded: nvml").
[[nodiscard]] std::unique_ptr<Meter> telemetry_meter(std::vector<std::unique_ptr<telemetry::Source>> sources,
                                                     std::vector<telemetry::SampledDevice> devices);

}  // namespace flopwatt::sweep
