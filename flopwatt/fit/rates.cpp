#include "flopwatt/fit/rates.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>

#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/power/traffic.hpp"
#include "flopwatt/work/ledger.hpp"

namespace flopwatt::fit {
namespace {

/// Steps beyond these are no measurement, and their rates would overflow.
constexpr double kShortestStep = 1e-9, kLongestStep = 3.2e7;

/// Ledgers of one training step, each configuration counted once.
class Ledgers {
 public:
  explicit Ledgers(const model::Catalogue& models) : models_{models} {}

  struct Step {
    work::Totals eager;
    double fused_bytes = 0;
  };
  /// The step, or why it cannot be counted.
  const Result<Step>& step(const std::string& model, const Sample& sample, std::int64_t sequence) {
    const auto [entry, fresh] =
        steps_.try_emplace(std::tuple{model, sample.dtype, sample.batch, sequence}, Result<Step>{});
    if (fresh) entry->second = count(model, sample, sequence);
    return entry->second;
  }

 private:
  Result<Step> count(const std::string& model, const Sample& sample, std::int64_t sequence) {
    const auto [entry, fresh] = architectures_.try_emplace(model, Result<model::Architecture>{});
    if (fresh) entry->second = models_.find(model);
    if (!entry->second) return tl::unexpected<Error>{entry->second.error()};
    work::Workload workload;
    workload.batch = sample.batch;
    workload.sequence = sequence;
    workload.precision = sample.dtype;
    workload.optimizer_precision = sample.dtype;
    workload.kernel = work::Kernel::eager;
    workload.execution = work::Execution::eager;
    FLOPWATT_TRY(const work::Ledger eager, work::count(*entry->second, workload));
    workload.execution = work::Execution::fused;
    FLOPWATT_TRY(const work::Ledger fused, work::count(*entry->second, workload));
    return Step{eager.totals(), fused.totals().bytes.total.to_double()};
  }

  const model::Catalogue& models_;
  std::map<std::string, Result<model::Architecture>> architectures_;
  std::map<std::tuple<std::string, units::Precision, std::int64_t, std::int64_t>, Result<Step>> steps_;
};

void drop(Rates& rates, std::string_view reason) {
  for (power::DroppedRows& entry : rates.dropped) {
    if (entry.reason == reason) {
      ++entry.rows;
      return;
    }
  }
  rates.dropped.push_back({std::string{reason}, 1});
}

}  // namespace

Rates rates(std::span<const Sample> samples, const model::Catalogue& models) {
  Rates out;
  Ledgers ledgers{models};
  for (const Sample& sample : samples) {
    const dataset::Observation& row = *sample.observation;
    const auto time = dataset::step_time(row);
    if (!time) {
      drop(out, "no step time (tokens per second, batch or sequence missing)");
      continue;
    }
    const double sequence = std::round(*row.sequence);
    if (std::abs(sequence - *row.sequence) > 1e-6 || sequence < 1 || sequence > 1e12) {
      drop(out, "sequence length not a whole number");
      continue;
    }
    const auto& step = ledgers.step(row.model, sample, static_cast<std::int64_t>(sequence));
    if (!step) {
      drop(out, step.error().what);
      continue;
    }
    const double seconds = time->in(units::second);
    if (!(seconds > kShortestStep && seconds < kLongestStep)) {
      drop(out, "step time not between a nanosecond and a year");
      continue;
    }
    out.samples.push_back({.sample = &sample,
                           .flops = step->eager.step.to_double() / seconds * units::flop_per_second,
                           .traffic = power::traffic(step->eager, *time),
                           .fused_bytes_per_second = step->fused_bytes / seconds,
                           .power_watts = sample.power_watts});
  }
  return out;
}

}  // namespace flopwatt::fit
