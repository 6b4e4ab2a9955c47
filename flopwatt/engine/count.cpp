#include "flopwatt/engine/count.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "flopwatt/engine/checkpoint.hpp"

namespace flopwatt::engine {
namespace {

constexpr std::int64_t kUsualSequence = 2048;

constexpr work::Formula kFormulas[] = {work::Formula::palm, work::Formula::sixn, work::Formula::megatron};

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

Result<answers::Count> count(const Facts& facts, const CountRequest& request) {
  answers::Count answer;
  answer.formula = request.formula;
  FLOPWATT_TRY(answer.architecture, facts.model(request.model, request.as_family));
  answer.workload = complete(request.workload, answer.architecture, answer.notes);
  answer.census = model::census(answer.architecture);
  FLOPWATT_TRY(answer.ledger, work::count(answer.architecture, answer.workload));
  answer.totals = answer.ledger.totals();
  FLOPWATT_TRY(answer.conventions,
               work::against_default_conventions(answer.architecture, answer.workload, answer.ledger));
  FLOPWATT_TRY(answer.memory, work::memory(answer.architecture, answer.workload));
  answer.kv_cache_bytes_per_token = work::kv_cache_bytes_per_token(
      answer.architecture, answer.workload.kv_precision.value_or(answer.workload.precision));

  FLOPWATT_TRY(answer.weight_traffic, work::weight_traffic(answer.architecture, answer.workload));
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
  for (const std::string& note : answer.architecture.notes) answer.notes.push_back(note);
  return answer;
}

}  // namespace flopwatt::engine
