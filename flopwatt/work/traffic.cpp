#include "flopwatt/work/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flopwatt/work/optimizer.hpp"
#include "flopwatt/work/plan.hpp"

namespace flopwatt::work {
namespace {

// Parameter bytes on the device, experts by the share that the rows of one pass can reach.
Integer reached_weight_bytes(const Plan& plan, const Run& run) {
  const DeviceParameters held = device_parameters(plan);
  Integer local = 0;
  Integer reached = 0;
  for (const model::Block& block : plan.architecture->text().blocks) {
    if (!block.routing) continue;
    const Integer experts = block.routing->experts / plan.experts_over;
    const Integer rows = ceil_div(run.tokens, run.passes) * block.routing->top_k;
    local = std::max(local, experts);
    reached = std::max(reached, std::min(experts, rows));
  }
  if (local == 0) return held.weight_bytes_dense;
  return held.weight_bytes_dense + ceil_div(held.weight_bytes_experts * reached, local);
}

units::Count cache_bytes(const Ledger& ledger) {
  units::Count sum;
  for (const Row& row : ledger.rows()) sum += row.read(ByteKind::kv_cache) + row.written(ByteKind::kv_cache);
  return sum;
}

}  // namespace

Result<WeightTraffic> weight_traffic(const model::Architecture& architecture, const Workload& workload) {
  FLOPWATT_TRY(const Plan plan, make_plan(architecture, workload));
  WeightTraffic result;
  const Run& last = plan.runs[plan.run_count - 1];
  result.weights = reached_weight_bytes(plan, last);
  result.passes = 1;
  const bool generate = workload.phase == Phase::generate;
  if (workload.phase == Phase::decode) result.decode_steps = 1;
  if (generate) {
    result.passes = workload.new_tokens;
    result.decode_steps = workload.kv_cache ? workload.new_tokens - 1 : workload.new_tokens;
  }
  if (workload.phase == Phase::decode || (generate && workload.kv_cache)) {
    FLOPWATT_TRY(const Ledger all, count(architecture, workload));
    result.cache = cache_bytes(all);
  }
  units::Count prefill = 0;
  if (generate && workload.kv_cache) {
    Workload prompt = workload;
    prompt.phase = Phase::prefill;
    FLOPWATT_TRY(const Ledger first, count(architecture, prompt));
    result.cache -= cache_bytes(first);
    FLOPWATT_TRY(const Plan prompt_plan, make_plan(architecture, prompt));
    prefill = reached_weight_bytes(prompt_plan, prompt_plan.runs[prompt_plan.run_count - 1]);
  }
  const units::Count steps = generate && workload.kv_cache ? result.decode_steps : result.passes;
  result.total = prefill + result.weights * steps + result.cache;
  if (result.decode_steps > 0) {
    result.decode_step_mean = result.weights.to_double() + result.cache.to_double() / result.decode_steps.to_double();
  }
  return result;
}

std::array<units::Count, units::kPrecisions.size()> flops_by_precision(const Ledger& ledger) noexcept {
  std::array<units::Count, units::kPrecisions.size()> result{};
  for (const Row& row : ledger.rows()) result[static_cast<std::size_t>(row.precision)] += row.model_flops;
  return result;
}

Result<units::FlopRate> mixed_peak(const Ledger& ledger,
                                   std::span<const std::optional<units::FlopRate>, units::kPrecisions.size()> peaks) {
  const auto flops = flops_by_precision(ledger);
  units::FlopCount work;
  units::Duration time;
  for (std::size_t i = 0; i < flops.size(); ++i) {
    if (flops[i] == 0) continue;
    if (!peaks[i] || !(*peaks[i] > units::FlopRate{})) {
      return fail(Errc::usage, fmt::format("no peak in {} is known", units::name(units::kPrecisions[i])), "--dtype",
                  "give --peak-tflops");
    }
    const units::FlopCount part = flops[i].to_double() * units::flop;
    work += part;
    time += part / *peaks[i];
  }
  if (!(work > units::FlopCount{})) return fail(Errc::usage, "there is no product to compare with a peak", "--dtype");
  return work / time;
}

}  // namespace flopwatt::work
