#include "flopwatt/sweep/measure.hpp"

#include <fmt/format.h>

#include "flopwatt/base/check.hpp"
#include "flopwatt/device/peak.hpp"

namespace flopwatt::sweep {

Result<StepWork> step_work(const model::Architecture& architecture, const workload::Job& job,
                           const workload::Ready& ready, std::optional<bool> fused_attention) {
  work::Workload workload = workload::ledger_workload(job);
  workload.sequence = ready.tensor_sequence;
  workload.execution = work::Execution::fused;  // the bytes that must move, as everywhere that an MBU is printed
  if (fused_attention && !*fused_attention) workload.kernel = work::Kernel::eager;

  StepWork out;
  workload.batch = ready.tensor_batch * ready.accumulation;
  FLOPWATT_TRY(const work::Ledger step, work::count(architecture, workload));
  out.totals = step.totals();
  if (out.totals.hardware_step.overflowed() || out.totals.bytes.total.overflowed()) {
    return fail(Errc::bad_data, "a step too large to be counted");
  }
  if (ready.accumulation == 1) {
    out.bytes = out.totals.bytes.total.to_double() * units::byte;
    return out;
  }
  workload.batch = ready.tensor_batch;
  FLOPWATT_TRY(const work::Ledger micro, work::count(architecture, workload));
  for (const work::Row& row : micro.rows()) {
    units::Count moved;
    for (const units::Count count : row.bytes_read) moved += count;
    for (const units::Count count : row.bytes_written) moved += count;
    const std::int64_t times = row.pass == work::Pass::update ? 1 : ready.accumulation;
    out.bytes = out.bytes + static_cast<double>(times) * moved.to_double() * units::byte;
  }
  return out;
}

Result<Denominators> denominators(const PeakPlan& plan, const device::Catalogue& catalogue,
                                  std::span<const CeilingRecord> ceilings, const std::string& host,
                                  const std::string& device_name, units::Precision dtype) {
  if (plan.source == PeakPlan::Source::stated) {
    const auto peak = plan.peaks.find(dtype);
    FLOPWATT_CHECK(peak != plan.peaks.end());  // read_plan asks for one of every dtype
    return Denominators{{.peak = peak->second, .bandwidth = plan.bandwidth}, "stated in the plan"};
  }
  if (plan.source == PeakPlan::Source::measured) {
    for (const CeilingRecord& ceiling : ceilings) {
      if (ceiling.host != host || ceiling.device_name != device_name || ceiling.dtype != units::name(dtype)) continue;
      return Denominators{{.peak = ceiling.flops_per_second * units::flop_per_second,
                           .bandwidth = ceiling.bytes_per_second * units::byte_per_second},
                          fmt::format("measured: {} product of {}", units::name(dtype), ceiling.matrix_size)};
    }
    return fail(Errc::unavailable, fmt::format("no ceiling of {} was measured on {}", units::name(dtype), device_name));
  }
  const std::string& name = plan.device.empty() ? device_name : plan.device;
  const auto no_peak = [](Error error) {
    error.remedy += (error.remedy.empty() ? "" : "; ") +
                    std::string{"or say in the plan [peak] device, or source = \"stated\" or \"measured\""};
    return fail(std::move(error));
  };
  const Result<device::Device> found = catalogue.resolve(name);
  if (!found) return no_peak(found.error());
  const device::Device& device = *found;
  const Result<device::Peak> known = device::peak(device, dtype);
  if (!known) return no_peak(known.error());
  const device::Peak& peak = *known;
  Denominators out{{.peak = peak.rate, .bandwidth = {}},
                   fmt::format("catalogue: {}, {}, {} accumulate", device.name, device::name(peak.path),
                               device::name(peak.accumulate))};
  if (device.memory_bandwidth) out.value.bandwidth = device.memory_bandwidth->value;
  return out;
}

Result<Measured> measure(const workload::Sample& sample, const StepWork& work, const Denominators& denominators) {
  const units::Count expected = work.totals.tokens * units::Count{sample.steps};
  if (units::Count{sample.tokens} != expected) {
    return fail(Errc::bad_data, fmt::format("{} tokens in {} steps, where the tensors hold {}", sample.tokens,
                                            sample.steps, units::to_string(expected)));
  }
  const units::Duration step = sample.device_seconds / static_cast<double>(sample.steps) * units::second;
  FLOPWATT_TRY(const metrics::Utilization rates,
               metrics::utilization(work.totals, work.bytes, step, denominators.value));
  Measured out;
  out.rates = rates;
  out.record.wall_seconds = sample.end_seconds - sample.begin_seconds;
  out.record.steps = sample.steps;
  out.record.tokens = sample.tokens;
  out.record.device_seconds = sample.device_seconds;
  out.record.mfu = rates.mfu;
  out.record.hfu = rates.hfu;
  out.record.mbu = rates.mbu;
  out.record.peak_memory_bytes = sample.peak_memory_bytes;
  return out;
}

}  // namespace flopwatt::sweep
