#pragma once

#include <span>
#include <string>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/metrics/utilization.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/sweep/meter.hpp"
#include "flopwatt/sweep/record.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

/// From what a workload says to what a row holds.

namespace flopwatt::sweep {

/// One optimizer step on tensors of tensor_batch × tensor_sequence, `accumulation` micro-batches of them.
struct StepWork {
  work::Totals totals;    ///< of the step
  units::DataSize bytes;  ///< of the step: weights and activations a micro-batch, the optimizer once
};
/// `fused_attention` is what the workload saw; absent: as the job asks for.  Errors: those of work::count.
[[nodiscard]] Result<StepWork> step_work(const model::Architecture& architecture, const workload::Job& job,
                                         const workload::Ready& ready, std::optional<bool> fused_attention);

/// What MFU and MBU are divided by, and where that comes from.
struct Denominators {
  metrics::Denominator value;
  std::string source;
};
/// By the plan: the catalogue's figures of the device (Errc::usage for one it does not know, or a dtype that it lacks),
/// a measured ceiling (Errc::unavailable where none was measured for this device and dtype), or the plan's own.
[[nodiscard]] Result<Denominators> denominators(const PeakPlan& plan, const device::Catalogue& catalogue,
                                                std::span<const CeilingRecord> ceilings, const std::string& host,
                                                const std::string& device_name, units::Precision dtype);

/// The row of a sample; number, life and the clock are the caller's.  Errc::bad_data for a sample without time, or one
/// whose tokens its tensors cannot have held.
struct Measured {
  SampleRecord record;
  metrics::Utilization rates;
};
[[nodiscard]] Result<Measured> measure(const workload::Sample& sample, const StepWork& work,
                                       const Denominators& denominators);

}  // namespace flopwatt::sweep
