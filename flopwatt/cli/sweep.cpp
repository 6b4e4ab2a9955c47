#include "flopwatt/engine/sweep.hpp"
#include "flopwatt/base/counted.hpp"

#include <fmt/format.h>

#include <csignal>
#include <memory>

#include "flopwatt/cli/interrupt.hpp"
#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/sweep_progress.hpp"
#include "flopwatt/cli/verbs.hpp"
#include "flopwatt/io/file.hpp"

namespace flopwatt::cli {
namespace {

struct SweepOptions {
  engine::SweepRequest request;
  bool dry_run = false;
  DataOptions data;
  OutputOptions output;
};

/// The error of a store that cannot be written, exit code 4 for a sweep that was stopped, 5 for one in which nothing
/// could be measured; the answer is printed first.
Result<void> judge(const answers::SweepRun& answer) {
  if (answer.counts.ended_by) return fail(*answer.counts.ended_by);
  if (answer.counts.interrupted) {
    return fail(Errc::unavailable,
                fmt::format("interrupted, {} of {} left", answer.left, base::counted(answer.plan.to_run, "run")),
                answer.plan.store, "run the same plan again to go on");
  }
  if (answer.counts.failed > 0 && answer.counts.finished == 0 && answer.plan.finished == 0) {
    return fail(
        Errc::infeasible,
        answer.counts.failed == 1 ? "the one run failed" : fmt::format("all {} runs failed", answer.counts.failed),
        answer.plan.store, "see the reasons in the report");
  }
  return {};
}

Result<void> run_sweep(const SweepOptions& options, Console& console) {
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  if (options.dry_run) {
    FLOPWATT_TRY(const answers::SweepPlan plan, engine::plan_sweep(facts, options.request));
    return present(console, options.output, plan);
  }
  const Interrupt interrupt;
  Result<answers::SweepRun> answer = [&] {
    ProgressLine line;
    return engine::run_sweep(facts, options.request,
                             {.before = [&](const answers::SweepPlan& plan) { console.say(announcement(plan)); },
                              .progress = [&](const sweep::Progress& progress) { line.show(progress); },
                              .stop = [] { return Interrupt::signal() != 0; }});
  }();
  if (!answer) return fail(std::move(answer).error());
  FLOPWATT_TRY_VOID(present(console, options.output, *answer));
  return judge(*answer);
}

Verb report_verb() {
  return {.name = "report",
          .summary = "What a store says: one line a configuration.",
          .example = "flopwatt sweep report sweep-cpu.sqlite --format markdown",
          .declare = [](Command& command) -> Run {
            struct Options {
              std::string store;
              OutputOptions output;
            };
            const auto options = std::make_shared<Options>();
            command.positional("STORE", options->store, "the file that a sweep wrote, also while it writes");
            add_output(command, options->output);
            return [options](Console& console) -> Result<void> {
              FLOPWATT_TRY(const answers::SweepReport answer, engine::report_sweep(options->store));
              return present(console, options->output, answer);
            };
          }};
}

Verb merge_verb() {
  return {.name = "merge",
          .summary = "Stores of shards become one: each run once, conflicts named.",
          .example = "flopwatt sweep merge all.sqlite plan.1-of-2.sqlite plan.2-of-2.sqlite",
          .declare = [](Command& command) -> Run {
            struct Options {
              std::string out;
              std::vector<std::string> stores;
              OutputOptions output;
            };
            const auto options = std::make_shared<Options>();
            command.positional("OUT", options->out, "the store that takes them; made where it is not there");
            command.positionals("STORE", options->stores, "stores of the same protocol");
            add_format(command, options->output);
            return [options](Console& console) -> Result<void> {
              FLOPWATT_TRY(const answers::SweepMerge answer, engine::merge_sweeps(options->out, options->stores));
              return present(console, options->output, answer);
            };
          }};
}

Verb export_verb() {
  return {.name = "export",
          .summary = "The samples of a store as CSV in the public study's columns, which 'flopwatt fit' reads.",
          .example = "flopwatt sweep export sweep-cpu.sqlite -o sweep-cpu.csv",
          .declare = [](Command& command) -> Run {
            struct Options {
              std::string store, file, models;
            };
            const auto options = std::make_shared<Options>();
            command.positional("STORE", options->store, "the file that a sweep wrote");
            command.group("Output").text("-o,--output", "FILE", options->file, "write there instead of to stdout");
            command.text("--models", "FILE", options->models,
                         "also write the models as a catalogue file: DIR/models/NAME.json for 'fit --data DIR'");
            return [options](Console& console) -> Result<void> {
              FLOPWATT_TRY(const std::string csv, engine::export_samples(options->store));
              if (!options->models.empty()) {
                FLOPWATT_TRY(const std::string models, engine::export_models(options->store));
                FLOPWATT_TRY_VOID(io::write_file_atomic(options->models, models));
              }
              return console.deliver(csv, options->file);
            };
          }};
}

}  // namespace

Verb sweep_verb() {
  return {.name = "sweep",
          .summary = "Measures training steps over the cross product of a plan: MFU, power and energy into a store.",
          .example = "flopwatt sweep examples/sweep-cpu.toml --dry-run",
          .declare = [](Command& command) -> Run {
            using workload::Padding;
            static constexpr Choice<Padding> kPaddings[] = {{"full", Padding::full}, {"none", Padding::none}};
            const auto options = std::make_shared<SweepOptions>();
            engine::SweepRequest& request = options->request;
            command.positional("PLAN", request.plan, "a TOML file (docs/sweep.md)");
            command.group("Sweep");
            command.text("-o,--store", "FILE", request.store,
                         "where samples go; default: the plan's name and .sqlite.  A store that is there is resumed");
            command.flag("--dry-run", options->dry_run, "print the configurations and an estimate of the time");
            command.add("--shard", "I/N", "measure the I-th of N parts only, into a store of its own",
                        [&request](const std::string& word) -> Result<void> {
                          FLOPWATT_TRY(request.shard, sweep::parse_shard(word));
                          return {};
                        });
            command.flag("--retry-failed", request.retry_failed, "measure again what failed before");
            command.choice("--pad", request.padding, kPaddings,
                           "in place of the plan's: fill sequences up, or take the study's short prompt as it is");
            add_format(command, options->output);
            add_data(command, options->data);
            return [options](Console& console) { return run_sweep(*options, console); };
          },
          .verbs = {report_verb(), export_verb(), merge_verb()}};
}

}  // namespace flopwatt::cli
