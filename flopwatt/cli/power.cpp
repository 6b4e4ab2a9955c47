#include "flopwatt/engine/power.hpp"

#include <memory>

#include "flopwatt/cli/power_options.hpp"
#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"

namespace flopwatt::cli {
namespace {

/// Above 1 a ratio is wrong but shown; above this it is a percentage that was meant as a fraction.
constexpr RealRange kRatio{.min = 0, .max = 10, .min_included = true};

struct PowerVerbOptions {
  std::string model, as_family, rates_file;
  engine::DeviceWords device;
  PowerOptions power;
  std::optional<units::Precision> dtype;
  std::optional<std::int64_t> batch, sequence;
  std::optional<double> mfu, mbu, tokens_per_second;
  work::Workload workload;  ///< conventions only
  DataOptions data;
  OutputOptions output;
};

engine::PowerBasics basics_of(const PowerVerbOptions& o) {
  return {.device = o.device,
          .calibration_file = o.power.calibration_file,
          .dtype = o.dtype,
          .form = o.power.form,
          .level = o.power.level};
}

Result<void> run_at_mfu(const PowerVerbOptions& o, const engine::Facts& facts, Console& console) {
  FLOPWATT_TRY(
      const answers::Power answer,
      engine::power_at_mfu(
          facts, {.basics = basics_of(o), .mfu = *o.mfu, .mbu = o.mbu, .batch = o.batch, .sequence = o.sequence}));
  return present(console, o.output, answer);
}

Result<void> run_of_model(const PowerVerbOptions& o, const engine::Facts& facts, Console& console) {
  if (!o.tokens_per_second)
    return fail(Errc::usage, "is missing", "--tokens-per-second", "a MODEL needs a measured rate");
  if (!o.sequence) return fail(Errc::usage, "is missing", "--seq", "a MODEL needs the tokens of a sequence");
  engine::PowerOfModelRequest request{.basics = basics_of(o),
                                      .model = o.model,
                                      .as_family = o.as_family,
                                      .workload = {},
                                      .tokens_per_second = *o.tokens_per_second};
  request.workload = {.workload = o.workload, .sequence = o.sequence, .dtype = o.dtype};
  request.workload.workload.batch = o.batch.value_or(1);
  FLOPWATT_TRY(const answers::Power answer, engine::power_of_model(facts, request));
  return present(console, o.output, answer);
}

Result<void> run_of_rates(const PowerVerbOptions& o, const engine::Facts& facts, Console& console) {
  if (o.sequence) return fail(Errc::usage, "a file of rates has no sequences", "--seq", "leave it out");
  FLOPWATT_TRY(const answers::PowerRows answer,
               engine::power_of_rates(facts, {.basics = basics_of(o), .file = o.rates_file, .batch = o.batch}));
  return present(console, o.output, answer);
}

Result<void> run_power(const PowerVerbOptions& o, Console& console) {
  const int questions = (o.mfu ? 1 : 0) + (o.model.empty() ? 0 : 1) + (o.rates_file.empty() ? 0 : 1);
  if (questions != 1) {
    return fail(Errc::usage, questions == 0 ? "nothing to price" : "only one question at a time", {},
                "give one of --mfu, a MODEL with --tokens-per-second, and --rates FILE");
  }
  FLOPWATT_TRY(const engine::Facts facts, load_facts(o.data));
  if (o.mfu) return run_at_mfu(o, facts, console);
  return o.model.empty() ? run_of_rates(o, facts, console) : run_of_model(o, facts, console);
}

}  // namespace

Verb power_verb() {
  return {
      .name = "power",
      .summary = "Watts from a calibration: of a stated MFU, of a model at a measured rate, or of a file of rates.",
      .example = "flopwatt power --device A100-PCIE-80GB --dtype bfloat16 --mfu 0.354 --batch 128",
      .declare = [](Command& command) -> Run {
        const auto o = std::make_shared<PowerVerbOptions>();
        command.optional_positional("MODEL", o->model, "a config.json, a folder holding one, or a catalogue name");
        command.group("What the device does: one of");
        command.real("--mfu", "FRACTION", o->mfu, kRatio, "of the calibration's own peak of the dtype");
        command.real("--tokens-per-second", "N", o->tokens_per_second, {.min = 0, .max = 1e15}, "of training the MODEL")
            .only_with("MODEL");
        command.text("--rates", "FILE.csv", o->rates_file,
                     "a row an interval: duration_seconds, flops_per_second or mfu, bytes_per_second or mbu, batch");
        command.group("Workload");
        command.real("--mbu", "FRACTION", o->mbu, kRatio, "with --mfu: of the memory bandwidth").only_with("--mfu");
        command.whole("--batch", o->batch, {}, "sequences a step");
        command.whole("--seq", o->sequence, {}, "tokens a sequence");
        command.dtype("--dtype", o->dtype, "of the run; default bfloat16, or the model's");
        command.text("--as", "FAMILY", o->as_family, "read the config as this family whatever its model_type says")
            .only_with("MODEL");
        add_device(command, o->device);
        add_power(command, o->power);
        add_conventions(command, o->workload);
        command.group_only_with("MODEL");
        add_output(command, o->output);
        add_data(command, o->data);
        return [o](Console& console) { return run_power(*o, console); };
      }};
}

}  // namespace flopwatt::cli
