#include "flopwatt/engine/sweep.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <utility>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/engine/sweep_meter.hpp"
#include "flopwatt/engine/sweep_outlook.hpp"
#include "flopwatt/engine/workload_program.hpp"
#include "flopwatt/io/file.hpp"
#include "flopwatt/model/read_config.hpp"
#include "flopwatt/sweep/export.hpp"

namespace flopwatt::engine {
namespace {

namespace fs = std::filesystem;

/// A path of a plan is relative to the plan's folder.
std::string beside_plan(const std::string& plan, const std::string& path) {
  return fs::path{path}.is_absolute() ? path : (fs::path{plan}.parent_path() / path).lexically_normal().string();
}

std::string stem(const std::string& path) { return fs::path{path}.stem().string(); }

struct FoundModels {
  std::vector<sweep::Model> models;
  std::vector<model::Architecture> architectures;
};

/// A config.json or a folder that holds one, beside the plan; else a name of the catalogue.
Result<sweep::Model> find_model(const Facts& facts, const std::string& plan, const std::string& word) {
  std::string path = beside_plan(plan, word);
  std::string name = stem(path);
  const bool folder = io::is_folder(path);
  if (folder) {
    name = fs::path{path}.filename().empty() ? fs::path{path}.parent_path().filename().string()
                                             : fs::path{path}.filename().string();
    path += "/config.json";
  }
  const bool named_a_path = word.starts_with('/') || word.starts_with('.') || word.ends_with(".json");
  if (named_a_path || (folder && io::exists(path))) {
    if (!folder && name == "config") name = fs::absolute(path).parent_path().filename().string();
    FLOPWATT_TRY(std::string text, io::read_file(path));
    return sweep::Model{.word = word, .name = std::move(name), .config = std::move(text), .weights = ""};
  }
  const Result<const model::Catalogue::Entry*> entry = facts.models().find_entry(word);
  if (!entry) {
    return fail(Errc::bad_data, "models: " + entry.error().what, plan, entry.error().remedy);
  }
  return sweep::Model{.word = word, .name = (*entry)->name, .config = (*entry)->config, .weights = ""};
}

Result<FoundModels> find_models(const Facts& facts, const sweep::Plan& plan) {
  FoundModels out;
  for (const std::string& word : plan.models) {
    FLOPWATT_TRY(sweep::Model model, find_model(facts, plan.where, word));
    if (const auto weights = plan.weights.find(word); weights != plan.weights.end()) {
      model.weights = beside_plan(plan.where, weights->second);
      if (!io::exists(model.weights)) {
        return fail(Errc::bad_data, fmt::format("weights.{}: no such file: {}", word, model.weights), plan.where,
                    "correct the path; it is relative to the plan");
      }
    }
    FLOPWATT_TRY(out.architectures.emplace_back(),
                 model::read_config(model.config, model.word, {.as_family = "", .name = model.name}));
    out.models.push_back(std::move(model));
  }
  return out;
}

/// The plan's word for the program, as a path; empty where it has none.
std::string workload_of(const sweep::Plan& plan) {
  return plan.workload.empty() ? std::string{} : beside_plan(plan.where, plan.workload);
}

/// All that is known before anything is measured.
struct Prepared {
  answers::SweepPlan answer;
  std::string text;  ///< of the plan
  FoundModels found;
};

Result<Prepared> prepare(const Facts& facts, const SweepRequest& request) {
  Prepared out;
  FLOPWATT_TRY(out.text, io::read_file(request.plan, {.max_bytes = std::size_t{4} << 20U}));
  answers::SweepPlan& answer = out.answer;
  FLOPWATT_TRY(answer.plan, sweep::read_plan(out.text, request.plan));
  if (request.padding) answer.plan.padding = *request.padding;
  answer.shard = request.shard;
  answer.store = request.store;
  if (answer.store.empty()) {
    answer.store = stem(request.plan);
    if (answer.shard.count > 1) answer.store += fmt::format(".{}-of-{}", answer.shard.index, answer.shard.count);
    answer.store += ".sqlite";
  }
  FLOPWATT_TRY(out.found, find_models(facts, answer.plan));
  FLOPWATT_TRY(auto all, sweep::expand(answer.plan, out.found.models));
  answer.all_configurations = static_cast<std::int64_t>(all.size());
  for (sweep::Configuration& configuration : all) {
    if (answer.shard.holds(configuration.id())) answer.configurations.push_back(std::move(configuration));
  }
  answer.notes = sweep_outlook(answer.plan, out.found.models, out.found.architectures, answer.configurations);
  return out;
}

Result<sweep::Remaining> compare(answers::SweepPlan& answer, const std::vector<sweep::RunRecord>& runs,
                                 bool retry_failed) {
  sweep::Remaining remaining = sweep::remaining(answer.configurations, answer.plan, runs, retry_failed);
  answer.to_run = static_cast<std::int64_t>(remaining.runs.size());
  answer.finished = remaining.finished;
  answer.failed = remaining.failed;
  answer.estimate = sweep::estimate(answer.plan, answer.to_run, runs.empty());
  if (answer.failed > 0) {
    answer.notes.push_back(base::counted(answer.failed, "run failed before and is left as it is",
                                         "runs failed before and are left as they are") +
                           "; --retry-failed measures again what failed.");
  }
  return remaining;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

answers::SweepReport describe(const std::string& store, std::vector<sweep::Summary> summaries) {
  answers::SweepReport out{.store = store, .summaries = std::move(summaries)};
  bool mfu_alone = false;
  bool synthetic = false;
  for (const sweep::Summary& summary : out.summaries) {
    if (summary.above_peak) {
      out.flags.push_back(
          {"above_peak", fmt::format("{}: more FLOPs a second than the peak ({}): a wrong peak, or a clock that "
                                     "stopped before the work was done.",
                                     summary.configuration.text(), summary.peak_source)});
    }
    mfu_alone = mfu_alone || (summary.finished > 0 && !summary.utilization);
    synthetic = synthetic || summary.power_source == "synthetic";
  }
  if (mfu_alone) {
    out.notes.push_back("Runs were stopped by the MFU alone: the source knows no utilisation.");
  }
  if (synthetic) {
    out.notes.push_back("The power is synthetic: computed from the achieved rates by the plan, not measured.");
  }
  return out;
}

/// Adds the stores to OUT, one after the other.
Result<answers::SweepMerge> merge_into(const std::string& out, const std::vector<std::string>& inputs,
                                       const std::vector<std::unique_ptr<sweep::Store>>& stores) {
  FLOPWATT_TRY(sweep::Store into, sweep::Store::open(out, sweep::Store::Mode::resume));
  answers::SweepMerge answer{.store = out};
  const std::string against = ", against " + out;
  std::string earlier;
  for (std::size_t i = 0; i < stores.size(); ++i) {
    Result<sweep::Merged> one = sweep::merge(into, *stores[i]);
    if (!one) {
      Error wrong = std::move(one).error();
      // What OUT holds by now came from the stores before, which are what the user can look at.
      if (!earlier.empty() && wrong.what.ends_with(against)) {
        wrong.what.replace(wrong.what.size() - against.size(), against.size(), ", against " + earlier);
      }
      return fail(std::move(wrong));
    }
    const sweep::Merged merged = *one;
    earlier += (earlier.empty() ? "" : ", ") + inputs[i];
    answer.inputs.push_back({inputs[i], merged});
    if (merged.repeated > 0) {
      answer.notes.push_back(fmt::format("{}: {} left out, since an earlier store has measured the same.", inputs[i],
                                         base::counted(merged.repeated, "finished run was", "finished runs were")));
    }
  }
  FLOPWATT_TRY_VOID(into.checkpoint());
  FLOPWATT_TRY(const auto configurations, into.configurations());
  answer.configurations = static_cast<std::int64_t>(configurations.size());
  FLOPWATT_TRY(const auto runs, into.runs());
  for (const sweep::RunRecord& run : runs) {
    if (run.state == sweep::RunState::finished) ++answer.finished;
    if (run.state == sweep::RunState::failed) ++answer.failed;
    if (run.state == sweep::RunState::interrupted || run.state == sweep::RunState::running) ++answer.interrupted;
  }
  FLOPWATT_TRY(const sweep::Value samples, into.database().value("SELECT count(*) FROM sample"));
  answer.samples = samples.integer();
  return answer;
}

}  // namespace

Result<answers::SweepPlan> plan_sweep(const Facts& facts, const SweepRequest& request) {
  FLOPWATT_TRY(Prepared prepared, prepare(facts, request));
  std::vector<sweep::RunRecord> runs;
  if (io::exists(prepared.answer.store)) {
    FLOPWATT_TRY(sweep::Store store, sweep::Store::open(prepared.answer.store, sweep::Store::Mode::read));
    FLOPWATT_TRY(runs, store.runs());
    FLOPWATT_TRY(const std::string protocol, store.protocol());
    const std::string now = prepared.answer.plan.protocol.canonical();
    if (!protocol.empty() && protocol != now) {
      prepared.answer.notes.push_back(
          fmt::format("A sweep would be refused here: {} was measured by another protocol: {}, now {}; keep the "
                      "protocol, or measure into another store.",
                      prepared.answer.store, protocol, now));
    }
  }
  FLOPWATT_TRY(const sweep::Remaining ignored, compare(prepared.answer, runs, request.retry_failed));
  static_cast<void>(ignored);
  if (prepared.answer.to_run > 0) {
    for (std::string& note : sweep_obstacles(prepared.answer.plan, workload_of(prepared.answer.plan))) {
      prepared.answer.notes.push_back(std::move(note));
    }
  }
  return std::move(prepared.answer);
}

Result<answers::SweepRun> run_sweep(const Facts& facts, const SweepRequest& request, const SweepWatch& watch) {
  FLOPWATT_TRY(Prepared prepared, prepare(facts, request));
  const sweep::Plan& plan = prepared.answer.plan;
  FLOPWATT_TRY(const std::string program, workload_program(workload_of(plan)));
  FLOPWATT_TRY(const std::unique_ptr<sweep::Meter> meter, open_meter(plan, plan.where));

  FLOPWATT_TRY(sweep::Store store, sweep::Store::open(prepared.answer.store, sweep::Store::Mode::resume));
  FLOPWATT_TRY_VOID(store.mark_killed());
  FLOPWATT_TRY_VOID(store.add_plan(prepared.text, plan.protocol.canonical()));
  for (const sweep::Model& model : prepared.found.models) FLOPWATT_TRY_VOID(store.add(model));
  for (const sweep::Configuration& configuration : prepared.answer.configurations) {
    FLOPWATT_TRY_VOID(store.add(configuration));
  }
  FLOPWATT_TRY(const auto runs, store.runs());
  FLOPWATT_TRY(const sweep::Remaining remaining, compare(prepared.answer, runs, request.retry_failed));
  if (watch.before) watch.before(prepared.answer);

  answers::SweepRun out;
  const sweep::Machine machine{.workload = {program},
                               .host = host_name(),
                               .catalogue = &facts.devices(),
                               .meter = meter.get(),
                               .stop = watch.stop ? watch.stop : [] { return false; },
                               .progress = watch.progress};
  out.counts = sweep::run(plan, prepared.found.models, prepared.found.architectures, prepared.answer.configurations,
                          remaining, store, machine);
  out.left = prepared.answer.to_run - out.counts.finished - out.counts.failed;
  auto summaries = sweep::summarize(store);
  if (out.counts.ended_by) {
    const bool any = summaries && std::any_of(summaries->begin(), summaries->end(),
                                              [](const sweep::Summary& summary) { return summary.samples > 0; });
    if (!any) return fail(*out.counts.ended_by);  // nothing was measured that an answer could hold
  }
  if (!summaries) return fail(std::move(summaries).error());
  out.report = describe(prepared.answer.store, *std::move(summaries));
  if (out.counts.ended_by) {
    out.report.notes.push_back(fmt::format("The sweep ended early: {}.", out.counts.ended_by->message()));
  }
  out.report.notes.insert(out.report.notes.end(), out.counts.notes.begin(), out.counts.notes.end());
  out.plan = std::move(prepared.answer);
  return out;
}

Result<answers::SweepReport> report_sweep(const std::string& path) {
  FLOPWATT_TRY(sweep::Store store, sweep::Store::open(path, sweep::Store::Mode::read));
  FLOPWATT_TRY(auto summaries, sweep::summarize(store));
  return describe(path, std::move(summaries));
}

Result<answers::SweepMerge> merge_sweeps(const std::string& out, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (fs::equivalent(out, inputs[i], ignored)) {
      return fail(Errc::usage, "a store cannot be merged into itself", inputs[i], "name another OUT");
    }
    if (std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs[i]) !=
        inputs.begin() + static_cast<std::ptrdiff_t>(i)) {
      return fail(Errc::usage, "is named twice", inputs[i], "name each store once");
    }
  }
  // Every input is opened before OUT is made, so that a mistake leaves no empty store behind.
  std::vector<std::unique_ptr<sweep::Store>> stores;
  for (const std::string& input : inputs) {
    FLOPWATT_TRY(sweep::Store store, sweep::Store::open(input, sweep::Store::Mode::read));
    stores.push_back(std::make_unique<sweep::Store>(std::move(store)));
  }
  if (io::exists(out)) return merge_into(out, inputs, stores);
  Result<answers::SweepMerge> merged = merge_into(out, inputs, stores);
  if (!merged && merged.error().code != Errc::unavailable) {  // that is a store which somebody else made just now
    // Half a merge is not left behind.
    for (const char* side : {"", "-wal", "-shm"}) fs::remove(out + side, ignored);
  }
  return merged;
}

Result<std::string> export_samples(const std::string& path) {
  FLOPWATT_TRY(sweep::Store store, sweep::Store::open(path, sweep::Store::Mode::read));
  FLOPWATT_TRY(sweep::Exported exported, sweep::export_csv(store));
  return std::move(exported.csv);
}

Result<std::string> export_models(const std::string& path) {
  FLOPWATT_TRY(sweep::Store store, sweep::Store::open(path, sweep::Store::Mode::read));
  return sweep::export_models(store);
}

}  // namespace flopwatt::engine
