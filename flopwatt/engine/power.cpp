#include "flopwatt/engine/power.hpp"

#include <fmt/core.h>

#include "flopwatt/engine/power_basics.hpp"
#include "flopwatt/metrics/utilization.hpp"
#include "flopwatt/power/traffic.hpp"
#include "flopwatt/train/pace.hpp"

namespace flopwatt::engine {
namespace {

/// Prices the query and fills what both forms of the answer share.
Result<answers::Power> priced(const OpenedPower& opened, answers::Power answer) {
  answer.device = opened.device.name;
  answer.calibration = opened.source.used(answer.query.dtype);
  FLOPWATT_TRY(answer.prediction, opened.source.predict(answer.query));
  if (const auto peak = opened.source.peak(answer.query.dtype)) answer.mfu = answer.query.flops / *peak;
  if (opened.device.memory_bandwidth && answer.query.bytes) {
    answer.mbu = *answer.query.bytes / opened.device.memory_bandwidth->value;
  }
  answer.flags = answers::flags_of(answer.prediction);
  if (const auto flag = opened.source.peak_flag(answer.query.dtype, false)) answer.flags.push_back(*flag);
  if (const auto flag = opened.source.synthetic_flag()) answer.flags.push_back(*flag);
  add_ratio_flags(answer.mfu, answer.mbu, answer.flags);
  for (const std::string& note : answer.prediction.notes) answer.notes.push_back(note);
  return answer;
}

/// The device asked about; a calibration file names its own, which the catalogue need not know.
Result<device::Device> device_of(const Facts& facts, const PowerBasics& basics, units::Precision dtype) {
  if (basics.calibration_file.empty()) return facts.device(basics.device, dtype);
  FLOPWATT_TRY(const FoundCalibration found, read_calibration_file(basics.calibration_file));
  DeviceWords words = basics.device;
  if (words.name.empty()) words.name = found.calibration.device;
  if (!same_name(words.name, found.calibration.device) || !facts.devices().find_all(words.name).empty()) {
    return facts.device(words, dtype);
  }
  device::Device device;
  device.name = device.family = found.calibration.device;
  return words.given.empty() ? device : device::with_given(std::move(device), dtype, words.given);
}

/// Adds what the model's own dtype has to do with an error about a dtype that nobody gave.
Error about_the_models_dtype(Error error, const model::Architecture& architecture, units::Precision dtype) {
  if (error.code != Errc::usage) return error;
  error.what = fmt::format("no --dtype was given and {} is {} by its config: {}", architecture.name, units::name(dtype),
                           error.what);
  error.where = "--dtype";
  if (error.remedy.empty()) error.remedy = "state the dtype of the run";
  return error;
}

}  // namespace

void add_ratio_flags(std::optional<double> mfu, std::optional<double> mbu, std::vector<answers::Flag>& flags) {
  if (mfu && *mfu > 1) {
    flags.push_back({"above_peak", fmt::format("an MFU of {:.4g} is more FLOPs a second than the peak", *mfu)});
  }
  if (mbu && *mbu > 1) {
    flags.push_back(
        {"above_bandwidth", fmt::format("an MBU of {:.4g} is more bytes a second than the memory moves", *mbu)});
  }
}

Result<OpenedPower> open_power(const Facts& facts, const PowerBasics& basics, std::vector<std::string>& notes) {
  OpenedPower opened;
  opened.query.dtype = basics.dtype.value_or(units::Precision::bfloat16);
  if (!basics.dtype) notes.push_back("No --dtype was given: bfloat16 is assumed.");
  opened.query.form = basics.form;
  opened.query.level = basics.level;
  FLOPWATT_TRY(opened.device, device_of(facts, basics, opened.query.dtype));
  FLOPWATT_TRY(opened.source, PowerSource::open(facts, opened.device, basics.calibration_file));
  return opened;
}

Result<power::Traffic> traffic_of(const model::Architecture& architecture, const work::Workload& workload,
                                  std::int64_t micro_batches, units::Duration step_time) {
  work::Workload eager = workload;
  eager.execution = work::Execution::eager;
  FLOPWATT_TRY(const work::Ledger ledger, work::count(architecture, eager));
  return power::traffic(train::optimizer_step(ledger, micro_batches).totals(), step_time);
}

Result<units::Bandwidth> byte_rate(const device::Device& device, double mbu) {
  if (!device.memory_bandwidth) {
    return fail(Errc::usage, fmt::format("the memory bandwidth of {} is unknown", device.name), "--mbu",
                "state --mem-bw-gbs");
  }
  return mbu * device.memory_bandwidth->value;
}

Result<answers::Power> power_at_mfu(const Facts& facts, const PowerAtMfuRequest& request) {
  answers::Power answer;
  FLOPWATT_TRY(const OpenedPower opened, open_power(facts, request.basics, answer.notes));
  answer.query = opened.query;
  answer.query.batch = request.batch;
  if (request.sequence) answer.query.sequence = static_cast<double>(*request.sequence);
  FLOPWATT_TRY(answer.query.flops, opened.source.flop_rate(answer.query.dtype, request.mfu));
  if (request.mbu) {
    FLOPWATT_TRY(answer.query.bytes, byte_rate(opened.device, *request.mbu));
  }
  return priced(opened, std::move(answer));
}

Result<answers::Power> power_of_model(const Facts& facts, const PowerOfModelRequest& request) {
  answers::Power answer;
  FLOPWATT_TRY(const model::Architecture architecture, facts.model(request.model, request.as_family));
  FLOPWATT_TRY(const work::Workload workload, complete(request.workload, architecture, answer.notes));
  PowerBasics basics = request.basics;
  basics.dtype = workload.precision;
  Result<OpenedPower> found = open_power(facts, basics, answer.notes);
  if (found) {
    // What the device lacks is said before anything is counted.
    if (const auto rate = found->source.flop_rate(basics.dtype.value(), 1); !rate) found = fail(rate.error());
  }
  if (!found && !request.workload.dtype) {
    return fail(about_the_models_dtype(std::move(found.error()), architecture, workload.precision));
  }
  FLOPWATT_TRY(const OpenedPower opened, std::move(found));
  FLOPWATT_TRY(const work::Ledger ledger, work::count(architecture, workload));
  const work::Totals totals = ledger.totals();

  const units::TokenRate rate = request.tokens_per_second * units::token_per_second;
  const units::Duration step = totals.tokens.to_double() * units::token / rate;
  answer.model = architecture.name;
  answer.tokens = rate;
  answer.query = opened.query;
  answer.query.batch = workload.batch;
  answer.query.sequence = static_cast<double>(workload.sequence);
  answer.query.flops = totals.step.to_double() * units::flop / step;
  answer.query.bytes = totals.bytes.total.to_double() * units::byte / step;
  FLOPWATT_TRY(answer.query.traffic, traffic_of(architecture, workload, 1, step));
  return priced(opened, std::move(answer));
}

}  // namespace flopwatt::engine
