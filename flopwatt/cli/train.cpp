#include "flopwatt/engine/train.hpp"

#include <memory>
#include <string>
#include <vector>

#include "flopwatt/cli/power_options.hpp"
#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"

namespace flopwatt::cli {
namespace {

/// Above 1 a ratio is wrong but shown; above this it is a percentage that was meant as a fraction.
constexpr RealRange kMfu{.min = 0, .max = 10};

struct TrainOptions {
  engine::TrainRequest request;
  PowerOptions power;
  std::optional<double> mfu, tokens_per_second, efficiency;
  std::optional<std::int64_t> tokens, steps;
  DataOptions data;
  OutputOptions output;
};

/// What depends on more than one option: the pace, the length.
Result<engine::TrainRequest> request_of(const TrainOptions& o) {
  if ((o.mfu ? 1 : 0) + (o.tokens_per_second ? 1 : 0) + (o.efficiency ? 1 : 0) > 1) {
    return fail(Errc::usage, "only one of them can be given", "--mfu, --tokens-per-second, --efficiency");
  }
  if (o.tokens && o.steps) return fail(Errc::usage, "only one of them can be given", "--tokens, --steps");
  engine::TrainRequest request = o.request;
  request.calibration_file = o.power.calibration_file;
  request.form = o.power.form;
  request.level = o.power.level;
  if (o.tokens_per_second) request.pace = train::MeasuredRate{*o.tokens_per_second * units::token_per_second};
  if (o.mfu) request.pace = train::AchievedMfu{*o.mfu};
  if (!o.mfu && !o.tokens_per_second)
    request.pace = train::Roofline{o.efficiency.value_or(train::Roofline{}.efficiency)};
  if (o.tokens) request.length.tokens = static_cast<double>(*o.tokens);
  if (o.steps) request.length.steps = static_cast<double>(*o.steps);
  return request;
}

/// The ledger calls a micro-batch a batch.
Result<answers::Train> in_own_words(Result<answers::Train> answer) {
  if (!answer && answer.error().where == "--batch") answer.error().where = "--micro-batch";
  return answer;
}

/// What would still make the plan smaller; words that it already follows are no advice.
std::string remedy(const answers::Train& answer) {
  const work::Workload& w = answer.workload;
  const work::Memory& m = answer.memory;
  std::vector<std::string> ways;
  // Smaller steps only help where what stays (weights, gradients, optimizer) leaves room for a step.
  const double stays = m.weights.to_double() + m.gradients.to_double() + m.optimizer.to_double();
  if (answer.device.memory && stays * units::byte < answer.device.memory->value) {
    if (w.batch > 1) ways.emplace_back("a smaller --micro-batch");
    if (w.sequence > 1) ways.emplace_back("a smaller --seq");
    if (w.recompute != work::Recompute::full) ways.emplace_back("--recompute full");
  }
  using Kind = work::Trainable::Kind;
  if (w.trainable.kind == Kind::all) ways.emplace_back("--trainable lora:r=…,targets=…");
  if (m.optimizer.to_double() > 0) {
    if (w.optimizer == work::Optimizer::adamw) ways.emplace_back("--optimizer adamw-8bit");
    if (w.optimizer != work::Optimizer::sgd) ways.emplace_back("--optimizer sgd");
  }
  if (units::bits(w.precision) > 16) ways.emplace_back("--dtype bfloat16");
  ways.emplace_back("a larger device, or more of them ('flopwatt count' splits by --tp, --pp and --zero)");
  std::string text = "use ";
  for (std::size_t i = 0; i < ways.size(); ++i) text += (i == 0 ? "" : i + 1 == ways.size() ? " or " : ", ") + ways[i];
  return text;
}

/// A plan that does not fit is answered all the same, then fails.
Result<void> check_memory(const answers::Train& answer) {
  if (answer.fits.value_or(true)) return {};
  std::string what = "the plan does not fit";
  for (const answers::Flag& flag : answer.flags) {
    if (flag.code == "out_of_memory") what += ": " + flag.text;
  }
  return fail(Errc::infeasible, what, answer.device.name, remedy(answer));
}

Result<void> run_train(const TrainOptions& options, Console& console) {
  FLOPWATT_TRY(const engine::TrainRequest request, request_of(options));
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  FLOPWATT_TRY(const answers::Train answer, in_own_words(engine::train(facts, request)));
  FLOPWATT_TRY_VOID(present(console, options.output, answer));
  return check_memory(answer);
}

void add_pace(Command& command, TrainOptions& o) {
  command.group("Pace: one of");
  command.real("--mfu", "FRACTION", o.mfu, kMfu, "achieved, of the catalogue's peak of the dtype");
  command.real("--tokens-per-second", "N", o.tokens_per_second, {.min = 0, .max = 1e15}, "measured");
  command.real("--efficiency", "FRACTION", o.efficiency, {.min = 0, .max = 1},
               "assumed, of peak and bandwidth alike: a roofline; default 0.5 where no rate is given");
}

void add_run(Command& command, TrainOptions& o) {
  train::Tariff& tariff = o.request.tariff;
  command.group("Run");
  command.whole("--tokens", o.tokens, {.min = 1, .max = kMaxTokens}, "tokens of the whole run");
  command.whole("--steps", o.steps, {.min = 1, .max = kMaxTokens}, "or its optimizer steps");
  command.real("--pue", "N", tariff.pue, {.min = 1, .max = 10, .min_included = true},
               "facility energy / device energy; default 1");
  command.real("--carbon-g-per-kwh", "N", tariff.carbon_g_per_kwh, {.min = 0, .max = 1e5, .min_included = true},
               "grams of CO2e a kWh");
  command.real("--price-per-kwh", "N", tariff.price_per_kwh, {.min = 0, .max = 1e6, .min_included = true},
               "in any currency");
}

}  // namespace

Verb train_verb() {
  return {.name = "train",
          .summary = "A training run on one device: step time, memory, power, energy, cost and carbon.",
          .example =
              "flopwatt train Qwen/Qwen2.5-3B --device A100-PCIE-80GB --dtype bfloat16 --micro-batch 128 --seq 11 "
              "--mfu 0.354 --tokens 1000000000",
          .declare = [](Command& command) -> Run {
            const auto options = std::make_shared<TrainOptions>();
            engine::TrainRequest& request = options->request;
            add_model(command, request.model, request.as_family);
            add_pace(command, *options);
            add_device(command, request.device);
            add_sizes(command, request.workload, "--micro-batch", "sequences of one forward and backward");
            command.whole("--global-batch", request.global_batch, {}, "sequences an optimizer step, a multiple of it");
            add_run(command, *options);
            add_power(command, options->power);
            add_training(command, request.workload.workload);
            add_conventions(command, request.workload.workload);
            add_output(command, options->output);
            add_data(command, options->data);
            return [options](Console& console) { return run_train(*options, console); };
          }};
}

}  // namespace flopwatt::cli
