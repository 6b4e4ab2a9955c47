#include "flopwatt/engine/train.hpp"

#include <fmt/core.h>

#include "flopwatt/engine/power_basics.hpp"
#include "flopwatt/engine/power_source.hpp"
#include "flopwatt/units/text.hpp"

namespace flopwatt::engine {
namespace {

using units::byte;
using units::to_text;

Result<std::int64_t> micro_batches(const TrainRequest& request) {
  const std::int64_t micro = request.workload.workload.batch;
  const std::int64_t global = request.global_batch.value_or(micro);
  if (global % micro != 0) {
    return fail(Errc::usage, fmt::format("{} is no multiple of the micro-batch of {}", global, micro), "--global-batch",
                "choose a multiple of it");
  }
  return global / micro;
}

Result<power::Prediction> predict(const answers::Train& answer, const PowerSource& source,
                                  const TrainRequest& request) {
  power::Query query;
  query.dtype = answer.workload.precision;
  query.flops = answer.utilization.model_flops;
  query.bytes = answer.utilization.bytes;
  FLOPWATT_TRY(query.traffic,
               traffic_of(answer.architecture, answer.workload, answer.micro_batches, answer.step_time.total));
  query.batch = answer.workload.batch;
  query.sequence = static_cast<double>(answer.workload.sequence);
  query.form = request.form;
  query.level = request.level;
  return source.predict(query);
}

void add_flags(answers::Train& answer) {
  answer.flags = answers::flags_of(answer.power);
  const train::StepTime& time = answer.step_time;
  if (time.faster_than_memory()) {
    answer.flags.push_back({"faster_than_memory",
                            fmt::format("the stated rate makes a step of {}, but its bytes take {} at the full memory "
                                        "bandwidth",
                                        to_text(time.total), to_text(*time.memory_bound))});
  }
  if (answer.utilization.above_peak()) {
    answer.flags.push_back({"above_peak", "the stated rate asks for more FLOPs a second than the peak"});
  }
  if (answer.fits == false) {
    answer.flags.push_back(
        {"out_of_memory", fmt::format("needs {} of {}", units::to_binary_text(answer.memory.total.to_double() * byte),
                                      units::to_binary_text(answer.device.memory->value))});
  }
}

void add_notes(answers::Train& answer) {
  if (const auto* roofline = std::get_if<train::Roofline>(&answer.pace)) {
    answer.notes.push_back(fmt::format(
        "Assumption: no rate was given, so that each operator class runs at {:g} % of the peak or of the memory "
        "bandwidth, whichever takes longer; state --mfu, --tokens-per-second or --efficiency.",
        100 * roofline->efficiency));
  }
  answer.notes.push_back(
      "One device without parallelism: no time is spent on communication or in pipeline bubbles, and the power of a "
      "step is one segment, so that its peak is its mean.");
  if (!answer.length.tokens && !answer.length.steps) {
    answer.notes.push_back("Neither --tokens nor --steps was given: time and energy are those of one step.");
  }
  if (!answer.fits) answer.notes.push_back("The device's memory is unknown: whether the run fits was not checked.");
  for (const std::string& note : answer.power.notes) answer.notes.push_back(note);
}

}  // namespace

Result<answers::Train> train(const Facts& facts, const TrainRequest& request) {
  answers::Train answer;
  answer.pace = request.pace;
  answer.length = request.length;
  answer.tariff = request.tariff;
  FLOPWATT_TRY(answer.architecture, facts.model(request.model, request.as_family));
  FLOPWATT_TRY(answer.workload, complete(request.workload, answer.architecture, answer.notes));
  FLOPWATT_TRY(answer.micro_batches, micro_batches(request));
  FLOPWATT_TRY(answer.device, facts.device(request.device, answer.workload.precision));
  FLOPWATT_TRY(answer.peak, peak_of(answer.device, answer.workload.precision));
  FLOPWATT_TRY(const PowerSource source, PowerSource::open(facts, answer.device, request.calibration_file));

  FLOPWATT_TRY(const work::Ledger micro_batch, work::count(answer.architecture, answer.workload));
  const work::Ledger step = train::optimizer_step(micro_batch, answer.micro_batches);
  answer.step = step.totals();
  FLOPWATT_TRY(answer.memory, work::memory(answer.architecture, answer.workload));
  if (answer.device.memory) answer.fits = answer.memory.total.to_double() * byte <= answer.device.memory->value;

  train::Hardware hardware{.peak = answer.peak.rate, .bandwidth = {}};
  if (answer.device.memory_bandwidth) hardware.bandwidth = answer.device.memory_bandwidth->value;
  FLOPWATT_TRY(answer.step_time, train::step_time(step, hardware, request.pace));
  FLOPWATT_TRY(answer.utilization,
               metrics::utilization(answer.step, answer.step.bytes.total.to_double() * byte, answer.step_time.total,
                                    {.peak = hardware.peak, .bandwidth = hardware.bandwidth}));
  answer.calibration = source.used(answer.workload.precision);
  FLOPWATT_TRY(answer.power, predict(answer, source, request));
  FLOPWATT_TRY(answer.run, train::price(answer.step_time.total, answer.step.tokens.to_double(), answer.power,
                                        request.length, request.tariff));
  add_flags(answer);
  if (const auto flag = source.peak_flag(answer.workload.precision, true)) answer.flags.push_back(*flag);
  if (const auto flag = source.synthetic_flag()) answer.flags.push_back(*flag);
  add_notes(answer);
  return answer;
}

}  // namespace flopwatt::engine
