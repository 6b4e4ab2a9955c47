#include "flopwatt/sweep/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "flopwatt/io/hash.hpp"

namespace flopwatt::sweep {
namespace {

std::optional<Ending> broken(std::string_view what) {
  return Ending{RunState::failed, std::string{reason::kProtocol}, std::string{what}};
}

}  // namespace

Recorder::Recorder(const Plan& plan, const model::Architecture& architecture, const Configuration& configuration,
                   workload::Job job, Store& store, const Machine& machine, RunRecord run)
    : plan_{plan},
      architecture_{architecture},
      configuration_{configuration},
      job_{std::move(job)},
      store_{store},
      machine_{machine},
      run_{std::move(run)} {}

/// Where a run goes on that was interrupted, its samples count.
Result<void> Recorder::load() {
  FLOPWATT_TRY(const auto samples, store_.samples(run_.id));
  for (const SampleRecord& sample : samples) {
    add(sample);
    life_ = std::max(life_, sample.life + 1);
  }
  return {};
}

Result<std::optional<Ending>> Recorder::take(const workload::Event& event, Progress& progress) {
  if (const auto* ready = std::get_if<workload::Ready>(&event)) return on_ready(*ready, progress);
  if (const auto* warm = std::get_if<workload::Warm>(&event)) return on_warm(*warm, progress);
  if (const auto* sample = std::get_if<workload::Sample>(&event)) return on_sample(*sample, progress);
  if (std::holds_alternative<workload::Done>(event)) return std::optional<Ending>{};
  return broken("a ceiling that nobody asked for");
}

Result<std::optional<Ending>> Recorder::on_ready(const workload::Ready& ready, Progress& progress) {
  if (ready_) return broken("ready twice");
  ready_ = ready;
  progress.phase = Progress::Phase::warmup;
  const units::Count parameters = model::census(architecture_).total;
  if (units::Count{ready.parameters} != parameters || ready.tensor_batch < 1 || ready.tensor_sequence < 1 ||
      ready.accumulation < 1) {
    return Ending{
        RunState::failed, std::string{reason::kWrongTensors},
        fmt::format("the workload built {} parameters on tensors of {} × {} × {}; the model has {}", ready.parameters,
                    ready.accumulation, ready.tensor_batch, ready.tensor_sequence, units::to_string(parameters))};
  }
  FLOPWATT_TRY(const auto ceilings, store_.ceilings());
  auto found =
      denominators(plan_.peak, *machine_.catalogue, ceilings, machine_.host, ready.device_name, configuration_.dtype);
  if (!found) return Ending{RunState::failed, std::string{reason::kNoPeak}, found.error().message()};
  denominators_ = *std::move(found);

  if (!run_.device_name.empty() && run_.device_name != ready.device_name) FLOPWATT_TRY_VOID(leave_behind());
  run_.device_name = ready.device_name;
  run_.library = ready.library;
  run_.threads = ready.threads;
  run_.tensor_batch = ready.tensor_batch;
  run_.tensor_sequence = ready.tensor_sequence;
  run_.parameters = ready.parameters;
  run_.peak_flops_per_second = denominators_.value.peak.in(units::flop_per_second);
  run_.peak_source = denominators_.source;
  run_.bandwidth_bytes_per_second.reset();
  if (denominators_.value.bandwidth) {
    run_.bandwidth_bytes_per_second = denominators_.value.bandwidth->in(units::byte_per_second);
  }
  return recount(std::nullopt);
}

/// The samples so far are of another device: they stay where they are, and this run begins anew.
Result<void> Recorder::leave_behind() {
  RunRecord old = run_;
  old.state = RunState::interrupted;
  old.reason = reason::kKilled;
  old.detail = "another device was there when the run was taken up again";
  FLOPWATT_TRY_VOID(store_.update(old));
  run_.uid = io::sha256_hex(run_.uid + "/again").substr(0, 32);
  run_.begin_unix_seconds = unix_seconds();
  mfu_ = utilization_ = Spread{};
  number_ = 0;
  life_ = 1;
  return store_.begin(run_);
}

Result<std::optional<Ending>> Recorder::recount(std::optional<bool> fused) {
  auto work = step_work(architecture_, job_, *ready_, fused);
  if (!work) {
    return Ending{RunState::failed, std::string{reason::kUnsupported}, work.error().message()};
  }
  work_ = *std::move(work);
  run_.step_flops = work_.totals.step;
  run_.hardware_flops = work_.totals.hardware_step;
  run_.step_bytes = units::Count{static_cast<__int128>(work_.bytes.in(units::byte))};
  run_.step_tokens = work_.totals.tokens;
  FLOPWATT_TRY_VOID(store_.update(run_));
  return std::optional<Ending>{};
}

Result<std::optional<Ending>> Recorder::on_warm(const workload::Warm& warm, Progress& progress) {
  if (!ready_ || warm_) return broken(warm_ ? "warm twice" : "warm before it was ready");
  warm_ = true;
  progress.phase = Progress::Phase::sampling;
  if (!warm.counted) return std::optional<Ending>{};
  run_.executed_flops = warm.counted->forward_flops + warm.counted->backward_flops + warm.counted->recompute_flops;
  run_.fused_attention = warm.counted->fused_attention ? 1 : 0;
  return recount(warm.counted->fused_attention);
}

Result<std::optional<Ending>> Recorder::on_sample(const workload::Sample& sample, Progress& progress) {
  if (!warm_) return broken("a sample before it was warm");
  Result<Measured> measured = measure(sample, work_, denominators_);
  if (!measured) {
    return Ending{RunState::failed, std::string{reason::kWrongTensors}, measured.error().message()};
  }
  SampleRecord& record = measured->record;
  record.number = number_ + 1;
  record.life = life_;
  record.begin_unix_seconds = unix_seconds() - (monotonic_seconds() - sample.begin_seconds);
  const Window window{.begin_seconds = sample.begin_seconds,
                      .end_seconds = sample.end_seconds,
                      .flops = measured->rates.model_flops,
                      .bytes = measured->rates.bytes,
                      .seed = seed_of(record.number)};
  const MeterReading reading = machine_.meter->read(window);
  record.power_watts = reading.power_watts;
  record.energy_joules = reading.energy_joules;
  record.energy_uncertainty_joules = reading.energy_uncertainty_joules;
  record.power_method = reading.method;
  record.power_missing = reading.power_missing;
  record.utilization = reading.utilization;
  record.memory_utilization = reading.memory_utilization;
  record.temperature_celsius = reading.temperature_celsius;
  FLOPWATT_TRY_VOID(store_.add(run_.id, record));
  add(record);

  progress.samples = number_;
  progress.mfu = mfu_.mean();
  progress.half_width = mfu_.half_width();
  const Stop stop = judge(mfu_, utilization_, plan_.protocol);
  if (stop == Stop::no) return std::optional<Ending>{};
  const bool with_utilization = utilization_.count() == mfu_.count();
  return Ending{RunState::finished, std::string{name(stop)},
                with_utilization ? "" : "by the MFU alone: the source knows no utilisation"};
}

void Recorder::add(const SampleRecord& sample) {
  number_ = sample.number;
  mfu_.add(sample.mfu);
  if (sample.utilization) utilization_.add(*sample.utilization);
}

std::uint64_t Recorder::seed_of(std::int64_t number) const {
  const std::string hash = io::sha256_hex(fmt::format("{}/{}/{}", run_.configuration, run_.repeat, number));
  std::uint64_t seed = 0;
  std::from_chars(hash.data(), hash.data() + 16, seed, 16);
  return seed;
}

}  // namespace flopwatt::sweep
