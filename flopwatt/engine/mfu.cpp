#include "flopwatt/engine/mfu.hpp"

#include <fmt/core.h>

#include "flopwatt/units/text.hpp"
#include "flopwatt/work/conventions.hpp"
#include "flopwatt/work/traffic.hpp"

namespace flopwatt::engine {
namespace {

using units::byte;
using units::Duration;
using units::second;

Result<Duration> elapsed(const MfuRequest& request, const work::Totals& job) {
  if (request.tokens_per_second.has_value() == request.elapsed_seconds.has_value()) {
    return fail(Errc::usage, "one measured rate is needed", {},
                "give one of --tokens-per-second, --step-time and --elapsed-seconds");
  }
  if (request.elapsed_seconds) return *request.elapsed_seconds * second;
  return job.tokens.to_double() / *request.tokens_per_second * second;
}

/// Bytes of one device, each of which runs its share of the batch on all of the weights; none where the batch cannot
/// be shared evenly.
Result<std::optional<units::DataSize>> bytes_per_device(const answers::Mfu& answer) {
  const work::Workload& job = answer.workload;
  if (answer.devices > 1 && (job.batch % answer.devices != 0 || !job.sequence_lengths.empty())) return std::nullopt;
  work::Workload share = job;
  share.batch /= answer.devices;
  if (answer.mbu_definition == metrics::MbuDefinition::weights) {
    FLOPWATT_TRY(const work::WeightTraffic traffic, work::weight_traffic(answer.architecture, share));
    return traffic.total.to_double() * byte;
  }
  FLOPWATT_TRY(const work::Ledger ledger, work::count(answer.architecture, share));
  return ledger.totals().bytes.total.to_double() * byte;
}

Result<void> compare_with_formulas(answers::Mfu& answer) {
  const auto devices = static_cast<double>(answer.devices);
  for (const work::Formula formula : {work::Formula::sixn, work::Formula::palm}) {
    FLOPWATT_TRY(const work::Comparison comparison, work::compare(answer.architecture, answer.workload, formula));
    const units::FlopRate rate = comparison.formula_step.to_double() * units::flop / (devices * answer.elapsed);
    answer.other_counts.push_back({.comparison = comparison, .mfu = rate / answer.peak.rate});
  }
  return {};
}

void flag_the_impossible(answers::Mfu& answer) {
  if (answer.utilization.above_peak()) {
    answer.flags.push_back(
        {"above_peak",
         "More FLOPs a second than the peak: a wrong rate (tokens of several devices, a step that "
         "was timed before it was finished), a wrong device or dtype, or a wrong --batch or --seq."});
  }
  if (answer.utilization.above_bandwidth()) {
    answer.flags.push_back({"above_bandwidth",
                            "More bytes a second than the memory moves: a wrong rate, device, --batch or --seq, or "
                            "weights that stay in a cache."});
  }
}

/// A reported MFU is taken to be per device, like ours.
void check_reported(answers::Mfu& answer, double reported) {
  answer.reported = {
      .mfu = reported,
      .implied = audit::implied_peak(answer.utilization.model_flops, reported, answer.device, answer.peak.rate)};
  const audit::ImpliedPeak& implied = answer.reported->implied;
  if (implied.agrees) return;
  answer.flags.push_back(
      {"reported_mfu_differs",
       fmt::format("The reported MFU implies a peak of {}, {:.2f} times the one used here{}.",
                   units::to_text(implied.rate), implied.rate / answer.peak.rate,
                   implied.explained_by.empty() ? ", which is no peak of this device that is known"
                                                : fmt::format(": it is the {}", implied.explained_by))});
}

void add_notes(answers::Mfu& answer) {
  if (answer.peak.precision == units::Precision::float32 && answer.peak.path == device::Path::vector &&
      device::peak(answer.device, units::Precision::tf32)) {
    answer.notes.push_back(
        "float32 is normalised by the vector units; where the framework ran its products as TF32, use --dtype tf32.");
  }
  if (!answer.device.memory_bandwidth) {
    answer.notes.push_back("There is no MBU: the memory bandwidth of the device is unknown; state --mem-bw-gbs.");
  } else if (!answer.utilization.mbu) {
    answer.notes.push_back("There is no MBU: the batch cannot be shared evenly by the devices.");
  }
  if (const std::int64_t batch = answer.workload.batch; batch % answer.devices != 0) {
    answer.notes.push_back(fmt::format(
        "--batch {} does not divide over --gpus {}: it counts over all devices, and replicas would hold {} or {} "
        "sequences each; the MFU is that of the whole job.",
        batch, answer.devices, batch / answer.devices, batch / answer.devices + 1));
  }
  if (answer.devices > 1) {
    answer.notes.push_back("MFU, HFU and MBU are per device; the devices are taken as data-parallel replicas.");
  }
  if (!answer.other_counts.empty()) {
    answer.notes.push_back(
        "The MFU counts operators: every product that the model executes, backward twice the forward, and nothing "
        "else. "
        "Recorders that count by a formula, that also count norms or softmax, or that round the FLOPs to a few digits "
        "give slightly other values for the same run.");
  }
}

}  // namespace

Result<answers::Mfu> mfu(const Facts& facts, const MfuRequest& request) {
  answers::Mfu answer;
  answer.devices = request.devices;
  answer.mbu_definition = request.mbu;
  FLOPWATT_TRY(answer.architecture, facts.model(request.model, request.as_family));
  FLOPWATT_TRY(answer.workload, complete(request.workload, answer.architecture, answer.notes));
  FLOPWATT_TRY(answer.device, facts.device(request.device, answer.workload.precision));
  FLOPWATT_TRY(answer.peak, peak_of(answer.device, answer.workload.precision));

  FLOPWATT_TRY(const work::Ledger ledger, work::count(answer.architecture, answer.workload));
  answer.job = ledger.totals();
  FLOPWATT_TRY(answer.elapsed, elapsed(request, answer.job));
  answer.job_tokens = answer.job.tokens.to_double() * units::token / answer.elapsed;

  FLOPWATT_TRY(const std::optional<units::DataSize> bytes, bytes_per_device(answer));
  metrics::Denominator denominator{.peak = answer.peak.rate, .bandwidth = {}};
  if (bytes && answer.device.memory_bandwidth) denominator.bandwidth = answer.device.memory_bandwidth->value;
  const auto devices = static_cast<double>(request.devices);
  FLOPWATT_TRY(answer.utilization, metrics::utilization(answer.job, devices * bytes.value_or(units::DataSize{}),
                                                        devices * answer.elapsed, denominator));
  if (answer.workload.phase == work::Phase::train) FLOPWATT_TRY_VOID(compare_with_formulas(answer));
  FLOPWATT_TRY(const work::ConventionEffects conventions,
               work::against_default_conventions(answer.architecture, answer.workload, ledger));
  if (!conventions.all_default()) {
    answer.default_conventions_mfu =
        answer.utilization.mfu * conventions.step.by_default.to_double() / conventions.step.chosen.to_double();
  }
  flag_the_impossible(answer);
  if (request.reported_mfu) check_reported(answer, *request.reported_mfu);
  add_notes(answer);
  return answer;
}

}  // namespace flopwatt::engine
