#include "flopwatt/sweep/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "flopwatt/base/check.hpp"
#include "flopwatt/io/hash.hpp"
#include "flopwatt/sweep/one_run.hpp"
#include "flopwatt/sweep/recorder.hpp"
#include "flopwatt/units/precision.hpp"

namespace flopwatt::sweep {
namespace {

using units::second;

/// A ceiling is the best of its spells: it needs longer than a sample to be found on a busy machine.
constexpr units::Duration kCeilingSpell = 0.5 * second;

workload::Job job_of(const Plan& plan, const Model& model, const Configuration& c) {
  workload::Job job;
  job.device = plan.device;
  job.dtype = c.dtype;
  if (plan.protocol.threads > 0) job.threads = plan.protocol.threads;
  job.seed = plan.seed;
  job.sample_seconds = plan.protocol.sample_time.in(second);
  job.config = model.config;
  if (!model.weights.empty()) job.weights = model.weights;
  job.attention = c.attention;
  job.batch = c.batch;
  job.sequence = c.sequence;
  job.accumulation = c.accumulation;
  job.padding = c.padding;
  job.recompute = c.recompute;
  job.learning_rate = c.learning_rate;
  job.weight_decay = c.weight_decay;
  job.warmup_steps = plan.protocol.warmup_steps;
  return job;
}

void describe(RunRecord& run, const model::Architecture& architecture) {
  const model::Stack& text = architecture.text();
  run.layers = static_cast<std::int64_t>(text.layers.size());
  for (const model::Block& block : text.blocks) {
    if (block.attentions.empty()) continue;
    run.heads = block.attentions.front().query_heads;
    run.head_width = block.attentions.front().head_dim;
    return;
  }
}

class Sweep {
 public:
  Sweep(const Plan& plan, std::span<const Model> models, std::span<const model::Architecture> architectures,
        std::span<const Configuration> configurations, const Remaining& remaining, Store& store, const Machine& machine)
      : plan_{plan},
        models_{models},
        architectures_{architectures},
        configurations_{configurations},
        remaining_{remaining},
        store_{store},
        machine_{machine} {
    progress_.runs = static_cast<std::int64_t>(remaining.runs.size());
  }

  SweepCounts run() {
    if (Result<void> done = measure_all(); !done) counts_.ended_by = std::move(done).error();
    return counts_;
  }

 private:
  Result<void> measure_all() {
    FLOPWATT_TRY_VOID(idle_baseline());
    FLOPWATT_TRY_VOID(ceilings());
    for (const Repeat& repeat : remaining_.runs) {
      if (counts_.interrupted) break;
      ++progress_.run;
      FLOPWATT_TRY_VOID(measure_one(repeat));
    }
    return store_.checkpoint();
  }

  void tell(Progress::Phase phase) {
    progress_.phase = phase;
    tell();
  }
  void tell() {
    if (machine_.progress) machine_.progress(progress_);
  }

  /// The device without work, before the first run of this machine; windows as long as a sample.
  Result<void> idle_baseline() {
    const MeterInfo info = machine_.meter->info();
    if (info.source == "none" || !(plan_.protocol.idle_time > units::Duration{})) return {};
    FLOPWATT_TRY(const auto known, store_.idle());
    for (const IdleRecord& idle : known) {
      if (idle.host == machine_.host && idle.power_source == info.source) return {};
    }
    tell(Progress::Phase::idle);
    const double end = monotonic_seconds() + plan_.protocol.idle_time.in(second);
    std::vector<IdleRecord> readings;
    for (double begin = monotonic_seconds(); begin < end;) {
      const units::Duration left = (end - begin) * second;
      if (pause(std::min(left, plan_.protocol.sample_time), machine_.stop)) return interrupt();
      const double now = monotonic_seconds();
      const MeterReading reading =
          machine_.meter->read({.begin_seconds = begin, .end_seconds = now, .seed = readings.size()});
      readings.push_back({.host = machine_.host,
                          .device_name = "",
                          .begin_unix_seconds = unix_seconds() - (now - begin),
                          .seconds = now - begin,
                          .power_watts = reading.power_watts,
                          .power_missing = reading.power_missing,
                          .utilization = reading.utilization,
                          .memory_utilization = reading.memory_utilization,
                          .temperature_celsius = reading.temperature_celsius,
                          .power_source = info.source,
                          .power_kind = info.kind,
                          .power_scope = info.scope});
      begin = now;
    }
    // All or none: half a baseline would be taken for a whole one by the next call.
    FLOPWATT_TRY(Transaction transaction, Transaction::begin(store_.database()));
    for (const IdleRecord& reading : readings) FLOPWATT_TRY_VOID(store_.add(reading));
    return transaction.commit();
  }

  Result<void> interrupt() {
    counts_.interrupted = true;
    return {};
  }

  /// What is measured as a peak, once a machine and dtype.
  Result<void> ceilings() {
    if (plan_.peak.source != PeakPlan::Source::measured) return {};
    std::set<units::Precision> wanted;
    for (const Repeat& repeat : remaining_.runs) wanted.insert(configurations_[repeat.configuration].dtype);
    FLOPWATT_TRY(const auto known, store_.ceilings());
    for (const units::Precision dtype : wanted) {
      if (counts_.interrupted) return {};
      const bool there = std::any_of(known.begin(), known.end(), [&](const CeilingRecord& ceiling) {
        return ceiling.host == machine_.host && ceiling.dtype == units::name(dtype);
      });
      if (!there) FLOPWATT_TRY_VOID(measure_ceiling(dtype));
    }
    return {};
  }

  Result<void> measure_ceiling(units::Precision dtype) {
    progress_.configuration = units::name(dtype);
    tell(Progress::Phase::ceiling);
    workload::Job job;
    job.kind = workload::Kind::ceiling;
    job.device = plan_.device;
    job.dtype = dtype;
    if (plan_.protocol.threads > 0) job.threads = plan_.protocol.threads;
    job.seed = plan_.seed;
    job.sample_seconds = kCeilingSpell.in(second);
    CeilingRecord record{.host = machine_.host, .dtype = std::string{units::name(dtype)}};
    const auto take = [&](const workload::Event& event) -> Result<std::optional<Ending>> {
      if (const auto* ready = std::get_if<workload::Ready>(&event)) {
        record.device_name = ready->device_name;
        record.library = ready->library;
      } else if (const auto* ceiling = std::get_if<workload::Ceiling>(&event)) {
        record.flops_per_second = ceiling->flops_per_second;
        record.bytes_per_second = ceiling->bytes_per_second;
        record.matrix_size = ceiling->matrix_size;
        record.copy_bytes = ceiling->copy_bytes;
        return Ending{RunState::finished, "", ""};
      }
      return std::optional<Ending>{};
    };
    FLOPWATT_TRY(const Ending ending, converse(machine_.workload, job, plan_.protocol.time_limit, machine_.stop, take));
    if (ending.state == RunState::interrupted) return interrupt();
    if (ending.foreign && !understood_) return fail(*ending.foreign);
    understood_ = understood_ || !ending.foreign;
    if (ending.state == RunState::finished && record.flops_per_second > 0 && record.bytes_per_second > 0) {
      return store_.add(record);
    }
    counts_.notes.push_back(fmt::format("The ceiling of {} could not be measured: {} {}", units::name(dtype),
                                        ending.reason, ending.detail));
    return {};
  }

  /// The run that this repeat goes on with, or a new one.
  Result<RunRecord> open_run(const Repeat& repeat, const Configuration& configuration) {
    const std::string id = configuration.id();
    FLOPWATT_TRY(const auto runs, store_.runs());
    const MeterInfo info = machine_.meter->info();
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      if (run->configuration == id && run->repeat == repeat.number && run->state == RunState::interrupted &&
          run->host == machine_.host && run->power_source == info.source) {
        RunRecord again = *run;
        again.state = RunState::running;
        again.reason.clear();
        again.detail.clear();
        FLOPWATT_TRY_VOID(store_.update(again));
        return again;
      }
    }
    RunRecord fresh;
    fresh.configuration = id;
    fresh.repeat = repeat.number;
    fresh.host = machine_.host;
    fresh.begin_unix_seconds = unix_seconds();
    fresh.uid = io::sha256_hex(fmt::format("{}/{}/{}/{:.9f}/{}", id, repeat.number, machine_.host,
                                           fresh.begin_unix_seconds, monotonic_seconds()))
                    .substr(0, 32);
    fresh.power_source = info.source;
    fresh.power_kind = info.kind;
    fresh.power_scope = info.scope;
    FLOPWATT_TRY_VOID(store_.begin(fresh));
    return fresh;
  }

  Result<void> measure_one(const Repeat& repeat) {
    const Configuration& configuration = configurations_[repeat.configuration];
    const auto model =
        std::find_if(models_.begin(), models_.end(), [&](const Model& m) { return m.name == configuration.model; });
    FLOPWATT_CHECK(model != models_.end());
    const model::Architecture& architecture = architectures_[static_cast<std::size_t>(model - models_.begin())];
    progress_.configuration = configuration.text();
    progress_.repeat = repeat.number;
    progress_.samples = 0;
    progress_.mfu = progress_.half_width = {};
    const double begin = monotonic_seconds();
    tell(Progress::Phase::cooldown);
    if (pause(plan_.protocol.cooldown, machine_.stop)) return interrupt();

    FLOPWATT_TRY(RunRecord record, open_run(repeat, configuration));
    describe(record, architecture);
    Recorder recorder{plan_,  architecture, configuration,    job_of(plan_, *model, configuration),
                      store_, machine_,     std::move(record)};
    FLOPWATT_TRY_VOID(recorder.load());
    tell(Progress::Phase::start);
    const Result<Ending> talked = converse(machine_.workload, recorder.job(), plan_.protocol.time_limit, machine_.stop,
                                           [&](const workload::Event& event) -> Result<std::optional<Ending>> {
                                             FLOPWATT_TRY(auto ending, recorder.take(event, progress_));
                                             tell();
                                             return ending;
                                           });
    // Whatever the error is, the run is not to be found running by the next call.
    Ending ending = talked ? *talked : Ending{RunState::interrupted, "error", talked.error().message()};
    // A program that nobody has understood so far would fail each of the runs: the plan is at fault, and no row.
    const bool other_program = ending.foreign && !understood_;
    understood_ = understood_ || !ending.foreign;
    if (other_program) ending.state = RunState::interrupted;
    RunRecord& run = recorder.run();
    run.state = ending.state;
    run.reason = ending.reason;
    run.detail = ending.detail;
    run.end_unix_seconds = unix_seconds();
    const Result<void> stored = store_.update(run);
    if (!talked) return fail(talked.error());
    if (other_program) return fail(*ending.foreign);
    if (!stored) return stored;
    if (ending.state == RunState::interrupted) return interrupt();
    ending.state == RunState::finished ? ++counts_.finished : ++counts_.failed;
    spent_ += monotonic_seconds() - begin;
    const auto done = static_cast<double>(progress_.run);
    progress_.left = spent_ / done * (static_cast<double>(progress_.runs) - done) * second;
    progress_.outcome = ending.detail.empty() ? ending.reason : ending.reason + ": " + ending.detail;
    tell(Progress::Phase::ended);
    return {};
  }

  const Plan& plan_;
  std::span<const Model> models_;
  std::span<const model::Architecture> architectures_;
  std::span<const Configuration> configurations_;
  const Remaining& remaining_;
  Store& store_;
  const Machine& machine_;
  SweepCounts counts_;
  Progress progress_;
  double spent_ = 0;
  bool understood_ = false;  ///< the program has said something that is an event, in this call
};

}  // namespace

Remaining remaining(std::span<const Configuration> configurations, const Plan& plan, std::span<const RunRecord> runs,
                    bool retry_failed) {
  using Key = std::pair<std::string, std::int64_t>;
  std::set<Key> finished;
  std::set<Key> failed;
  for (const RunRecord& run : runs) {
    if (run.state == RunState::finished) finished.emplace(run.configuration, run.repeat);
    if (run.state == RunState::failed) failed.emplace(run.configuration, run.repeat);
  }
  std::vector<std::string> ids;
  for (const Configuration& configuration : configurations) ids.push_back(configuration.id());
  Remaining out;
  for (const Repeat& repeat : schedule(configurations, plan.protocol.repeats, plan.seed)) {
    const Key key{ids[repeat.configuration], repeat.number};
    if (finished.contains(key)) {
      ++out.finished;
    } else if (failed.contains(key) && !retry_failed) {
      ++out.failed;
    } else {
      out.runs.push_back(repeat);
    }
  }
  return out;
}

TimeEstimate estimate(const Plan& plan, std::int64_t runs, bool idle) {
  const Protocol& p = plan.protocol;
  const auto of = [&](std::int64_t samples) {
    const units::Duration run = std::min(static_cast<double>(samples) * p.sample_time, p.time_limit) + p.cooldown;
    return static_cast<double>(runs) * run + (idle ? p.idle_time : units::Duration{});
  };
  return {of(p.min_samples), of(p.max_samples)};
}

SweepCounts run(const Plan& plan, std::span<const Model> models, std::span<const model::Architecture> architectures,
                std::span<const Configuration> configurations, const Remaining& remaining, Store& store,
                const Machine& machine) {
  return Sweep{plan, models, architectures, configurations, remaining, store, machine}.run();
}

}  // namespace flopwatt::sweep
