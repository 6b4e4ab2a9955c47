#include <memory>

#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"

namespace flopwatt::cli {
namespace {

struct CountOptions {
  engine::CountRequest request;
  std::optional<report::CountPart> part;
  DataOptions data;
  OutputOptions output;
};

Result<void> run_count(const CountOptions& options, Console& console) {
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  FLOPWATT_TRY(const answers::Count answer, engine::count(facts, options.request));
  FLOPWATT_TRY_VOID(options.part ? present(console, options.output, answer, *options.part)
                                 : present(console, options.output, answer));
  if (answer.infeasible) return fail(answer.infeasible->error);
  if (answer.verification && answer.verification->verdict == model::Verdict::contradicts) {
    return fail(Errc::bad_data, model::conclusion(*answer.verification), answer.verification->source,
                "check that config and checkpoint belong together");
  }
  return {};
}

void add_phase(Command& command, work::Workload& workload) {
  using work::Phase;
  static constexpr Choice<Phase> kPhases[] = {{"train", Phase::train},
                                              {"prefill", Phase::prefill},
                                              {"decode", Phase::decode},
                                              {"generate", Phase::generate},
                                              {"encode", Phase::encode}};
  command.group("Workload");
  command.choice("--phase", workload.phase, kPhases, "default train: one optimizer step");
  command.whole("--new-tokens", workload.new_tokens, {}, "generate: tokens after the prompt");
  command.flag("--kv-cache,!--no-kv-cache", workload.kv_cache, "generate: with (default) or without a cache");
  command.dtype("--kv-dtype", workload.kv_precision, "of the KV cache; default: --dtype");
  command.add("--seq-lengths", "N,N,…", "packed or ragged: a length for each sequence, instead of --batch and --seq",
              [&workload](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(workload.sequence_lengths, read_whole_list(word, {}));
                return {};
              });
  command.whole("--encoder-seq", workload.encoder_sequence, {},
                "encoder-decoder: tokens of the encoder's side; with encode --seq says the same");
  command.whole("--images", workload.images, {}, "images a sequence");
  command.whole("--image-width", workload.image_width, {}, "pixels");
  command.whole("--image-height", workload.image_height, {}, "pixels");
}

void add_parallel(Command& command, work::Parallel& parallel) {
  command.group("One device of a parallel plan");
  command.whole("--tp", parallel.tensor, {}, "tensor parallel");
  command.flag("--sp", parallel.sequence, "sequence parallel, beside --tp");
  command.whole("--pp", parallel.pipeline, {}, "pipeline stages");
  command.whole("--dp", parallel.data, {}, "data parallel");
  command.whole("--cp", parallel.context, {}, "context parallel");
  command.whole("--ep", parallel.expert, {}, "expert parallel");
  command.whole("--stage", parallel.stage, {.min = 0}, "with --pp: the stage whose device is counted, 0 (first) … N−1");
  command.whole("--in-flight", parallel.in_flight, {}, "with --pp: micro-batches whose activations a device holds");
  command.add("--stage-layers", "N,N,…", "with --pp: layers of each stage, where they are not equal",
              [&parallel](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(parallel.stage_layers, read_whole_list(word, {.min = 0}));
                return {};
              });
  command.add("--zero", "0|1|2|3", "ZeRO stage over --dp", [&parallel](const std::string& word) -> Result<void> {
    FLOPWATT_TRY(const std::int64_t stage, read_whole(word, {.min = 0, .max = 3}));
    parallel.zero = static_cast<int>(stage);
    return {};
  });
}

void add_counting(Command& command, CountOptions& options) {
  using report::CountPart;
  using Formula = std::optional<work::Formula>;
  static constexpr Choice<Formula> kFormulas[] = {{"exact", std::nullopt},
                                                  {"palm", work::Formula::palm},
                                                  {"6n", work::Formula::sixn},
                                                  {"megatron", work::Formula::megatron}};
  static constexpr Choice<work::Execution> kExecutions[] = {{"fused", work::Execution::fused},
                                                            {"eager", work::Execution::eager}};
  static constexpr Choice<CountPart> kParts[] = {{"component", CountPart::component},
                                                 {"layer", CountPart::layer},
                                                 {"operator", CountPart::operators},
                                                 {"tensor", CountPart::tensor}};
  command.group("Counting conventions");
  command.choice("--formula", options.request.formula, kFormulas,
                 "every product, or a published estimate of the training step");
  command.real("--capacity-factor", "N", options.request.workload.workload.capacity_factor, {.min = 0, .max = 1000},
               "experts padded to this multiple of their even share");
  command.choice("--execution", options.request.workload.workload.execution, kExecutions,
                 "bytes of elementwise work: each operand once (default), or kernel by kernel");
  command.text(
      "--verify", "PATH", options.request.checkpoint,
      "hold the census against a safetensors file, a folder of them, or an index; exit code 3 if they contradict");
  command.group("Output").choice("--by", options.part, kParts, "a table of the parts instead of the sums");
}

}  // namespace

Verb count_verb() {
  return {.name = "count",
          .summary = "Parameters, FLOPs, bytes and memory of a model: counted from its config, exact to the last bias.",
          .example = "flopwatt count Qwen/Qwen2.5-1.5B --seq 2048 --by component",
          .declare = [](Command& command) -> Run {
            const auto options = std::make_shared<CountOptions>();
            work::Workload& workload = options->request.workload.workload;
            add_model(command, options->request.model, options->request.as_family);
            add_sizes(command, options->request.workload, "--batch", "sequences in the pass");
            add_phase(command, workload);
            add_training(command, workload);
            add_conventions(command, workload);
            add_counting(command, *options);
            add_parallel(command, workload.parallel);
            add_output(command, options->output);
            add_data(command, options->data);
            return [options](Console& console) { return run_count(*options, console); };
          }};
}

}  // namespace flopwatt::cli
