#include "flopwatt/engine/count.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/engine/checkpoint.hpp"
#include "flopwatt/units/text.hpp"
#include "flopwatt/work/encoder.hpp"
#include "flopwatt/work/nearest_plan.hpp"
#include "flopwatt/work/stored_weights.hpp"

namespace flopwatt::engine {
namespace {

constexpr std::int64_t kUsualSequence = 2048;

constexpr work::Formula kFormulas[] = {work::Formula::palm, work::Formula::sixn, work::Formula::megatron};

/// Options that contradict each other, or mean nothing without another one.
Result<void> check_together(const WorkloadWords& words) {
  const work::Workload& w = words.workload;
  const work::Parallel& p = w.parallel;
  const auto refuse = [](std::string_view option, std::string_view what, std::string_view remedy) {
    return fail(Errc::usage, std::string{what}, std::string{option}, std::string{remedy});
  };
  if (!w.sequence_lengths.empty()) {
    if (words.sequence) return refuse("--seq", "contradicts --seq-lengths", "give one of the two");
    if (w.batch != 1) return refuse("--batch", "contradicts --seq-lengths, a length for each sequence", "leave it out");
  }
  if (w.phase == work::Phase::generate) {
    if (w.new_tokens == 0) return refuse("--new-tokens", "generate needs a number of them", "add --new-tokens N");
  } else {
    const std::string remedy = "leave it out, or use --phase generate";
    if (w.new_tokens != 0) return refuse("--new-tokens", fmt::format("{} has no new tokens", name(w.phase)), remedy);
    if (!w.kv_cache) return refuse("--no-kv-cache", fmt::format("means nothing for {}", name(w.phase)), remedy);
  }
  if ((w.image_width || w.image_height) && w.images == 0) {
    return refuse(w.image_width ? "--image-width" : "--image-height", "there are no images", "add --images N");
  }
  if (w.recompute_layers && w.recompute != work::Recompute::full) {
    return refuse("--recompute-layers", "nothing is recomputed layer by layer", "add --recompute full");
  }
  if (p.sequence && p.tensor == 1) {
    return refuse("--sp", "sequence parallelism splits what tensor parallelism leaves whole", "add --tp N");
  }
  if (p.zero > 0 && p.data == 1) return refuse("--zero", "there is nothing to spread over", "add --dp N");
  if (p.in_flight > 1 && p.pipeline == 1) return refuse("--in-flight", "there is no pipeline", "add --pp N");
  if (p.stage > 0 && p.pipeline == 1) return refuse("--stage", "there is no pipeline", "add --pp N");
  if (!p.stage_layers.empty() && p.pipeline == 1) return refuse("--stage-layers", "there is no pipeline", "add --pp N");
  for (std::size_t stage = 1; stage + 1 < p.stage_layers.size(); ++stage) {
    if (p.stage_layers[stage] > 0) continue;
    return refuse("--stage-layers", fmt::format("stage {} has no layers, no embedding and no head", stage),
                  "leave the stage out");
  }
  return {};
}

/// The encoder alone has one length, which --encoder-seq and --seq both name.
Result<void> check_encoder_sequence(const WorkloadWords& words) {
  const work::Workload& w = words.workload;
  if (!w.sequence_lengths.empty()) {
    return fail(Errc::usage, "contradicts --seq-lengths, the encoder's lengths in encode", "--encoder-seq",
                "leave it out");
  }
  if (words.sequence && *words.sequence != w.encoder_sequence) {
    return fail(Errc::usage, "contradicts --encoder-seq: encode runs the encoder alone", "--seq",
                "give one of the two");
  }
  return {};
}

/// Says which options the phase or the model leaves without effect.
void note_without_effect(const work::Workload& w, const model::Architecture& architecture,
                         std::vector<std::string>& notes) {
  const auto note = [&](std::string_view options, std::string_view why) {
    notes.push_back(fmt::format("Without effect: {}; {}.", options, why));
  };
  if (w.phase != work::Phase::train) {
    const work::Workload defaults;
    std::string options;
    const auto add = [&](bool given, std::string_view option) {
      if (given) options += (options.empty() ? "" : ", ") + std::string{option};
    };
    add(w.recompute != defaults.recompute, "--recompute");
    add(w.optimizer != defaults.optimizer, "--optimizer");
    add(w.optimizer_precision != defaults.optimizer_precision, "--optimizer-dtype");
    add(w.master_weights, "--master-weights");
    add(w.trainable.kind != defaults.trainable.kind, "--trainable");
    add(w.parallel.in_flight != 1, "--in-flight");
    if (!options.empty()) note(options, fmt::format("{} trains nothing", name(w.phase)));
  }
  const auto any_block = [&](auto has) {
    return std::ranges::any_of(architecture.stacks,
                               [&](const model::Stack& stack) { return std::ranges::any_of(stack.blocks, has); });
  };
  if (w.capacity_factor > 0 && !any_block([](const model::Block& block) { return block.routing.has_value(); })) {
    note("--capacity-factor", "the model has no experts");
  }
  const auto crosses = [](const model::Block& block) {
    return std::ranges::any_of(block.attentions, [](const model::Attention& a) { return a.cross; });
  };
  if (w.encoder_sequence > 0 && !any_block(crosses)) note("--encoder-seq", "the model is no encoder-decoder");
  const auto sees = [](const model::Stack& stack) { return stack.role == model::StackRole::vision; };
  if (w.images > 0 && std::ranges::none_of(architecture.stacks, sees)) {
    note("--images", "the model sees no images");
  } else if (w.images > 0 && w.phase == work::Phase::decode) {
    note("--images", "a decode step sees what the prompt's images left in the cache");
  } else if (architecture.vision && architecture.vision->image &&
             w.image_width.has_value() != w.image_height.has_value()) {
    notes.push_back(fmt::format("No {} was given: the {} pixels that the model was built for.",
                                w.image_width ? "--image-height" : "--image-width", *architecture.vision->image));
  }
}

/// A count is that of one device: which one, and what the others may hold more of.
void add_parallel_notes(const work::Workload& workload, const model::Architecture& architecture,
                        const std::optional<work::Formula>& formula, std::vector<std::string>& notes) {
  const work::Parallel& p = workload.parallel;
  if (p.tensor == 1 && p.pipeline == 1 && p.data == 1 && p.context == 1) return;
  notes.push_back(
      "FLOPs, moved bytes and memory are those of one device of the plan; parameters, their bytes and the cache of a "
      "token are the whole model's.");
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
  for (std::size_t stage = 0; stage < p.stage_layers.size(); ++stage) {
    if (p.stage_layers[stage] > 0) continue;
    notes.push_back(fmt::format("--stage-layers leaves stage {} without layers: it holds the {} alone.", stage,
                                stage == 0 ? "embedding" : "head"));
  }
  if (workload.phase == work::Phase::train && p.in_flight < p.pipeline - p.stage) {
    notes.push_back(
        fmt::format("Activations are those of {} in flight (--in-flight); the 1F1B schedule holds up to {} here.",
                    base::counted(p.in_flight, "micro-batch", "micro-batches"), p.pipeline - p.stage));
  }
}

}  // namespace

Result<work::Workload> complete(const WorkloadWords& words, const model::Architecture& architecture,
                                std::vector<std::string>& notes) {
  FLOPWATT_TRY_VOID(check_together(words));
  work::Workload workload = words.workload;
  const bool encodes = workload.phase == work::Phase::encode && work::encoder_of(architecture);
  const std::optional<std::int64_t> of_encoder = work::encoder_positions(architecture);
  if (encodes && workload.encoder_sequence > 0) {
    FLOPWATT_TRY_VOID(check_encoder_sequence(words));
    workload.sequence = workload.encoder_sequence;
  } else if (words.sequence) {
    workload.sequence = *words.sequence;
  } else if (encodes && of_encoder && workload.sequence_lengths.empty()) {
    workload.sequence = *of_encoder;
    notes.push_back(fmt::format("No --encoder-seq was given: the encoder's {} positions are assumed.", *of_encoder));
  } else if (workload.sequence_lengths.empty()) {
    workload.sequence = std::min(kUsualSequence, architecture.max_positions.value_or(kUsualSequence));
    notes.push_back(
        fmt::format("No --seq was given: {} a sequence are assumed.", base::counted(workload.sequence, "token")));
  }
  if (words.dtype) {
    workload.precision = *words.dtype;
  } else {
    workload.precision = architecture.dtype.value_or(units::Precision::bfloat16);
    notes.push_back(fmt::format("No --dtype was given: {} is {}.", units::name(workload.precision),
                                architecture.dtype ? "what the model's config says" : "assumed"));
  }
  if (workload.phase == work::Phase::train && workload.master_weights && units::bits(workload.precision) >= 32) {
    return fail(Errc::usage,
                fmt::format("{} weights are their own: a copy would be held twice", units::name(workload.precision)),
                "--master-weights", "leave it out, or train in bfloat16 or float16");
  }
  note_without_effect(workload, architecture, notes);
  // An encoder has a table of positions of its own, or none.
  if (of_encoder && std::max(workload.encoder_sequence, encodes ? workload.sequence : 0) > *of_encoder) {
    notes.push_back(
        fmt::format("The encoder's sequence is longer than the {} positions that it was built for.", *of_encoder));
  }
  const bool own_table = encodes && of_encoder;
  if (!own_table && architecture.max_positions && workload.sequence > *architecture.max_positions) {
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

/// A file's quantisation changes bytes and nothing else; the reader is told what it has changed, or that it has not.
void note_quantization(answers::Count& answer) {
  const std::optional<model::Quantization>& stored = answer.architecture.quantization;
  if (!stored) return;
  const std::string_view type = units::name(answer.workload.precision);
  if (const auto bytes = work::quantized_weight_bytes(answer.architecture, answer.workload)) {
    const double plain = answer.census.total.to_double() * units::bits(answer.workload.precision) / 8;
    answer.notes.push_back(
        fmt::format("Weights are {} ({}) by the file's quantization_config: {} in all; in {} they would be {}.",
                    base::excerpt(stored->method), units::name(stored->precision),
                    units::to_text(bytes->to_double() * units::byte), type, units::to_text(plain * units::byte)));
  } else {
    answer.notes.push_back(
        fmt::format("Weights that are trained are {}, not {} ({}) as in the file's quantization_config.", type,
                    base::excerpt(stored->method), units::name(stored->precision)));
  }
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
  FLOPWATT_TRY(answer.workload, complete(request.workload, answer.architecture, answer.notes));
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
  note_quantization(answer);
  for (const std::string& note : answer.architecture.notes) answer.notes.push_back(note);
  return answer;
}

}  // namespace flopwatt::engine
