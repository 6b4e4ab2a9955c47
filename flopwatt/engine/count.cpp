#include "flopwatt/engine/count.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "flopwatt/engine/checkpoint.hpp"
#include "flopwatt/work/nearest_plan.hpp"

namespace flopwatt::engine {
namespace {

constexpr std::int64_t kUsualSequence = 2048;

constexpr work::Formula kFormulas[] = {work::Formula::palm, work::Formula::sixn, work::Formula::megatron};

/// A count is that of one device: which one, and what the others may hold more of.
void add_parallel_notes(const work::Workload& workload, const model::Architecture& architecture,
                        const std::optional<work::Formula>& formula, std::vector<std::string>& notes) {
  const work::Parallel& p = workload.parallel;
  if (p.tensor == 1 && p.pipeline == 1 && p.data == 1 && p.context == 1) return;
  notes.push_back("FLOPs, bytes and memory are those of one device of the plan; parameters are the whole model's.");
  if (formula) notes.push_back("The formula's step is that of all devices.");
  if (p.pipeline == 1) return;
  const auto layers = std::ssize(architecture.text().layers);
  std::int64_t begin = layers / p.pipeline * p.stage;
  std::int64_t end = begin + layers / p.pipeline;
  if (!p.stage_layers.empty()) {
    const auto stage = p.stage_layers.begin() + p.stage;
    begin = std::accumulate(p.stage_layers.begin(), stage, std::int64_t{0});
    end = begin + *stage;
  }
  std::string note = fmt::format("The device is one of pipeline stage {} of 0 … {}: ", p.stage, p.pipeline - 1);
  note += begin == end ? "no layers" : fmt::format("layers {} … {}", begin, end - 1);
  if (p.stage == 0) note += ", after the embedding";
  if (p.stage == p.pipeline - 1) note += ", and the head";
  notes.push_back(note + "; --stage K asks about another.");
  if (workload.phase == work::Phase::train && p.in_flight < p.pipeline - p.stage) {
    notes.push_back(fmt::format(
        "Activations are those of {} micro-batch{} in flight (--in-flight); the 1F1B schedule holds up to {} here.",
        p.in_flight, p.in_flight == 1 ? "" : "es", p.pipeline - p.stage));
  }
}

}  // namespace

work::Workload complete(const WorkloadWords& words, const model::Architecture& architecture,
                        std::vector<std::string>& notes) {
  work::Workload workload = words.workload;
  if (words.sequence) {
    workload.sequence = *words.sequence;
  } else if (workload.sequence_lengths.empty()) {
    workload.sequence = std::min(kUsualSequence, architecture.max_positions.value_or(kUsualSequence));
    notes.push_back(fmt::format("No --seq was given: {} tokens a sequence are assumed.", workload.sequence));
  }
  if (words.dtype) {
    workload.precision = *words.dtype;
  } else {
    workload.precision = architecture.dtype.value_or(units::Precision::bfloat16);
    notes.push_back(fmt::format("No --dtype was given: {} is {}.", units::name(workload.precision),
                                architecture.dtype ? "what the model's config says" : "assumed"));
  }
  if (architecture.max_positions && workload.sequence > *architecture.max_positions) {
    notes.push_back(fmt::format("The sequence is longer than the {} positions that the model was built for.",
                                *architecture.max_positions));
  }
  return workload;
}

namespace {

/// What one device of the plan does and holds.
Result<void> count_work(answers::Count& answer) {
  FLOPWATT_TRY(answer.ledger, work::count(answer.architecture, answer.workload));
  answer.totals = answer.ledger.totals();
  FLOPWATT_TRY(answer.conventions,
               work::against_default_conventions(answer.architecture, answer.workload, answer.ledger));
  FLOPWATT_TRY(answer.memory, work::memory(answer.architecture, answer.workload));
  FLOPWATT_TRY(answer.weight_traffic, work::weight_traffic(answer.architecture, answer.workload));
  return {};
}

void explain(answers::Count& answer, Error error) {
  answer.notes.push_back(fmt::format("The plan cannot work: {} {}.", error.where, error.what));
  if (error.where == "--pp") answer.notes.push_back("Stages of different lengths can be given by --stage-layers.");
  answer.infeasible = answers::Infeasible{std::move(error), work::nearest_plan(answer.architecture, answer.workload)};
}

}  // namespace

Result<answers::Count> count(const Facts& facts, const CountRequest& request) {
  answers::Count answer;
  answer.formula = request.formula;
  FLOPWATT_TRY(answer.architecture, facts.model(request.model, request.as_family));
  answer.workload = complete(request.workload, answer.architecture, answer.notes);
  answer.census = model::census(answer.architecture);
  if (Result<void> counted = count_work(answer); !counted) {
    if (counted.error().code != Errc::infeasible) return fail(std::move(counted.error()));
    explain(answer, std::move(counted.error()));
  }
  answer.kv_cache_bytes_per_token = work::kv_cache_bytes_per_token(
      answer.architecture, answer.workload.kv_precision.value_or(answer.workload.precision));

  if (answer.workload.phase == work::Phase::train) {
    for (const work::Formula formula : kFormulas) {
      FLOPWATT_TRY(work::Comparison comparison, work::compare(answer.architecture, answer.workload, formula));
      answer.comparisons.push_back(comparison);
    }
  } else if (request.formula) {
    return fail(Errc::usage, "the formulas estimate a training step", "--formula",
                "leave it out, or use --phase train");
  }
  if (!request.checkpoint.empty()) {
    FLOPWATT_TRY(const model::CheckpointListing listing, read_checkpoint(request.checkpoint));
    FLOPWATT_TRY(answer.verification, model::verify(answer.architecture, listing));
  }
  if (!answer.infeasible) add_parallel_notes(answer.workload, answer.architecture, request.formula, answer.notes);
  for (const std::string& note : answer.architecture.notes) answer.notes.push_back(note);
  return answer;
}

}  // namespace flopwatt::engine
