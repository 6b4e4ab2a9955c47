#include "flopwatt/work/nearest_plan.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "flopwatt/work/plan.hpp"

namespace flopwatt::work {
namespace {

std::int64_t* degree_of(Parallel& plan, std::string_view option) {
  if (option == "--tp") return &plan.tensor;
  if (option == "--pp") return &plan.pipeline;
  if (option == "--dp") return &plan.data;
  if (option == "--cp") return &plan.context;
  if (option == "--ep") return &plan.expert;
  return nullptr;
}

/// Whether the plan has no fault in this option; it may have others.
bool free_of(std::string_view option, const model::Architecture& architecture, const Workload& workload) {
  const auto plan = make_plan(architecture, workload);
  return plan || (plan.error().code == Errc::infeasible && plan.error().where != option);
}

/// Puts the nearest degree that works in the place of the one at fault.
bool mend(std::string_view option, const model::Architecture& architecture, Workload& workload) {
  std::int64_t* degree = degree_of(workload.parallel, option);
  if (!degree) return false;
  const std::int64_t wanted = *degree;
  const std::int64_t stage = workload.parallel.stage;
  const auto works = [&](std::int64_t value) {
    *degree = value;
    workload.parallel.stage = std::min(stage, workload.parallel.pipeline - 1);
    return free_of(option, architecture, workload);
  };
  constexpr std::int64_t kReach = 4096;  // a search that a typing mistake cannot make long
  for (std::int64_t step = 1; step <= kReach; ++step) {
    if (step < wanted && works(wanted - step)) return true;
    if (works(wanted + step)) return true;
  }
  return works(1);
}

}  // namespace

std::optional<Parallel> nearest_plan(const model::Architecture& architecture, const Workload& workload) {
  Workload mended = workload;
  constexpr int kFaults = 8;  // one of each degree and the stages; mending one may break another once
  for (int fault = 0; fault < kFaults; ++fault) {
    const auto plan = make_plan(architecture, mended);
    if (plan) return mended.parallel;
    if (plan.error().code != Errc::infeasible) return std::nullopt;
    if (plan.error().where == "--stage-layers") {
      mended.parallel.stage_layers.clear();
    } else if (!mend(plan.error().where, architecture, mended)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace flopwatt::work
