#include <memory>

#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"
#include "flopwatt/engine/mfu.hpp"

namespace flopwatt::cli {
namespace {

/// Rates beyond these are typing mistakes.
constexpr RealRange kTokenRate{.min = 0, .max = 1e15};
constexpr RealRange kElapsedSeconds{.min = 0, .max = 1e12};
/// A reported MFU of 0 says nothing; one above 1 is worth asking about (11 has been published), but one of 35 is a
/// percentage.
constexpr RealRange kReported{.min = 1e-6, .max = 20};

struct MfuOptions {
  engine::MfuRequest request;
  std::optional<std::int64_t> batch;
  std::optional<metrics::MbuDefinition> mbu;
  std::optional<double> step_time, elapsed;
  DataOptions data;
  OutputOptions output;
};

/// What depends on more than one option: the batch of several devices, the two names of a time, the MBU of the phase.
Result<engine::MfuRequest> request_of(const MfuOptions& options) {
  if (options.step_time && options.elapsed) {
    return fail(Errc::usage, "only one of them can be given", "--step-time, --elapsed-seconds");
  }
  engine::MfuRequest request = options.request;
  work::Workload& workload = request.workload.workload;
  workload.batch = options.batch.value_or(request.devices);
  request.elapsed_seconds = options.step_time ? options.step_time : options.elapsed;
  const bool training = workload.phase == work::Phase::train;
  request.mbu = options.mbu.value_or(training ? metrics::MbuDefinition::step : metrics::MbuDefinition::weights);
  return request;
}

Result<void> run_mfu(const MfuOptions& options, Console& console) {
  FLOPWATT_TRY(const engine::MfuRequest request, request_of(options));
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  FLOPWATT_TRY(const answers::Mfu answer, engine::mfu(facts, request));
  return present(console, options.output, answer);
}

void add_measured(Command& command, MfuOptions& options) {
  command.group("Measured: one of");
  command.real("--tokens-per-second", "N", options.request.tokens_per_second, kTokenRate, "of the whole job");
  command.real("--step-time", "SECONDS", options.step_time, kElapsedSeconds, "of one optimizer step or pass");
  command.real("--elapsed-seconds", "SECONDS", options.elapsed, kElapsedSeconds, "of a whole generation");
  command.real("--reported-mfu", "FRACTION", options.request.reported_mfu, kReported,
               "that somebody reports for this run: which peak was it divided by?");
}

void add_job(Command& command, MfuOptions& options) {
  using metrics::MbuDefinition;
  using work::Phase;
  static constexpr Choice<Phase> kPhases[] = {
      {"train", Phase::train}, {"prefill", Phase::prefill}, {"decode", Phase::decode}, {"generate", Phase::generate}};
  static constexpr Choice<MbuDefinition> kDefinitions[] = {{"step", MbuDefinition::step},
                                                           {"weights", MbuDefinition::weights}};
  work::Workload& workload = options.request.workload.workload;
  command.group("Workload");
  command.whole("--batch", options.batch, {}, "sequences a step, over all devices; default: one a device");
  command.whole("--seq", options.request.workload.sequence, {}, "tokens a sequence really holds; generate: the prompt");
  command.dtype("--dtype", options.request.workload.dtype, "of the products; default: the model's");
  command.choice("--phase", workload.phase, kPhases, "default train");
  command.whole("--new-tokens", workload.new_tokens, {}, "generate: tokens after the prompt");
  command.flag("--kv-cache,!--no-kv-cache", workload.kv_cache, "generate: with (default) or without a cache");
  command.group("Device").whole("--gpus", options.request.devices, {.min = 1, .max = 10'000'000},
                                "devices that share the job");
  command.group("Counting conventions");
  command.choice("--mbu", options.mbu, kDefinitions, "bytes of the MBU; default step in training, else weights");
}

}  // namespace

Verb mfu_verb() {
  return {.name = "mfu",
          .summary = "MFU, HFU and MBU of a measured rate: what share of the device's peak a run achieves.",
          .example =
              "flopwatt mfu Qwen/Qwen2.5-3B --device A100-PCIE-80GB --dtype bfloat16 --batch 8 --seq 2048 "
              "--tokens-per-second 6000",
          .declare = [](Command& command) -> Run {
            const auto options = std::make_shared<MfuOptions>();
            add_model(command, options->request.model, options->request.as_family);
            add_measured(command, *options);
            add_device(command, options->request.device);
            add_job(command, *options);
            add_training(command, options->request.workload.workload);
            add_conventions(command, options->request.workload.workload);
            add_output(command, options->output);
            add_data(command, options->data);
            return [options](Console& console) { return run_mfu(*options, console); };
          }};
}

}  // namespace flopwatt::cli
