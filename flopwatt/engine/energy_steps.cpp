#include "flopwatt/engine/energy_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flopwatt/engine/step_log.hpp"
#include "flopwatt/io/file.hpp"
#include "flopwatt/units/text.hpp"
#include "flopwatt/work/ledger.hpp"

namespace flopwatt::engine {
namespace {

using std::chrono::nanoseconds;
using telemetry::StampKind;
using telemetry::SteadyTime;
using units::second;

nanoseconds to_nanoseconds(double seconds) { return nanoseconds{std::llround(seconds * 1e9)}; }

/// A stamp of the step log on the clock of the energy logs.
Result<SteadyTime> on_clock(const telemetry::Stamp& stamp, const LoggedDevice& device, const EnergyRequest& request,
                            std::size_t line) {
  const nanoseconds offset = request.reading.utc_offset.value_or(std::chrono::seconds{0});
  const bool dated = is_dated(device.time_base);
  if (dated && stamp.kind == StampKind::utc) return stamp.time;
  if (dated && stamp.kind == StampKind::local) return stamp.time - offset;
  if (device.time_base == telemetry::TimeBase::time_of_day && stamp.kind == StampKind::time_of_day) return stamp.time;
  return fail(Errc::bad_data,
              fmt::format("its times cannot be compared with those of the log, which are '{}'", key(device.time_base)),
              fmt::format("{}:{}", request.steps_file, line), "date both, or log step times without dates");
}

/// Puts the steps on the clock, and leaves out those that the caller's window does not hold.
class Placer {
 public:
  Placer(const EnergyRequest& request, const LoggedDevice& device) : request_{request}, device_{device} {}

  Result<StepsInTime> run(const StepLog& log) {
    FLOPWATT_TRY(from_, window_end(request_.from, "--from"));
    FLOPWATT_TRY(to_, window_end(request_.to, "--to"));
    result_.steps.file = request_.steps_file;
    result_.steps.located =
        std::all_of(log.steps.begin(), log.steps.end(), [](const LoggedStep& step) { return step.end || step.start; });
    const bool timed = std::any_of(log.steps.begin(), log.steps.end(),
                                   [](const LoggedStep& step) { return step.end || step.start || step.seconds; });
    if (!timed && !(request_.from && request_.to)) {
      return fail(Errc::bad_data, "its steps have no times: which part of the energy is theirs cannot be told",
                  request_.steps_file,
                  "log when each step ended (end) or how long it took (step_time_seconds), or state --from and --to");
    }
    for (const LoggedStep& step : log.steps) FLOPWATT_TRY_VOID(take(step));
    if (result_.steps.count == 0) {
      return fail(Errc::bad_data, "no step lies in the window", request_.steps_file);
    }
    if (all_seconds_) result_.steps.time = seconds_ * second;
    if (all_tokens_) result_.steps.tokens = tokens_ * units::token;
    if (all_flops_) {
      result_.steps.flops = flops_ * units::flop;
      result_.steps.flops_origin = "step log";
    }
    return std::move(result_);
  }

 private:
  Result<std::optional<SteadyTime>> window_end(const std::optional<std::string>& word, std::string_view option) const {
    if (!word) return std::nullopt;
    FLOPWATT_TRY(const SteadyTime time, moment_of(word, option, device_, {}, request_.reading));
    return time;
  }

  Result<void> take(const LoggedStep& step) {
    std::optional<double> seconds = step.seconds;
    if (result_.steps.located) {
      std::optional<SteadyTime> start;
      std::optional<SteadyTime> end;
      if (step.start) {
        FLOPWATT_TRY(start, on_clock(*step.start, device_, request_, step.line));
      }
      if (step.end) {
        FLOPWATT_TRY(end, on_clock(*step.end, device_, request_, step.line));
      }
      if (!end && start && seconds) end = *start + to_nanoseconds(*seconds);
      if (!start && end && seconds) start = *end - to_nanoseconds(*seconds);
      if (!start) start = last_end_;
      const bool follows = start && end;
      if (end) last_end_ = end;
      if (!follows) return {};
      if (*end < *start) {
        return fail(Errc::bad_data, "a step ends before it begins",
                    fmt::format("{}:{}", request_.steps_file, step.line));
      }
      if ((from_ && *start < *from_) || (to_ && *end > *to_)) return {};
      if (!result_.from || *start < *result_.from) result_.from = start;
      if (!result_.to || *end > *result_.to) result_.to = end;
      if (!seconds) seconds = telemetry::to_duration(*end - *start).in(second);
    }
    ++result_.steps.count;
    add(seconds_, all_seconds_, seconds);
    add(tokens_, all_tokens_, step.tokens);
    add(flops_, all_flops_, step.flops);
    return {};
  }

  static void add(double& sum, bool& all, const std::optional<double>& value) {
    if (value) {
      sum += *value;
    } else {
      all = false;
    }
  }

  const EnergyRequest& request_;
  const LoggedDevice& device_;
  StepsInTime result_;
  std::optional<SteadyTime> from_, to_, last_end_;
  double seconds_ = 0, tokens_ = 0, flops_ = 0;
  bool all_seconds_ = true, all_tokens_ = true, all_flops_ = true;
};

/// The scope whose energy the steps are priced with: the devices' own where they are metered.
const answers::EnergyTotal* priced_total(const answers::Energy& answer) {
  for (const answers::EnergyTotal& total : answer.totals) {
    if (total.scope == telemetry::Scope::device) return &total;
  }
  return answer.totals.empty() ? nullptr : &answer.totals.front();
}

/// Accelerators that the energy covers: a reading of a package covers both of its dies.
std::size_t accelerators(const answers::Energy& answer, telemetry::Scope scope) {
  std::size_t count = 0;
  for (const answers::EnergyDevice& device : answer.devices) {
    if (device.counted && device.window.scope == scope) count += device.info.dies;
  }
  return count;
}

Result<void> count_work(const Facts& facts, const EnergyRequest& request, answers::EnergySteps& steps,
                        std::optional<units::Precision>& precision, answers::Energy& answer) {
  if (request.model.empty()) return {};
  FLOPWATT_TRY(const model::Architecture architecture, facts.model(request.model, request.as_family));
  FLOPWATT_TRY(const work::Workload workload, complete(request.workload, architecture, answer.notes));
  FLOPWATT_TRY(const work::Ledger ledger, work::count(architecture, workload));
  precision = workload.precision;
  const auto count = static_cast<double>(steps.count);
  if (!steps.flops) {
    steps.flops = count * ledger.totals().step.to_double() * units::flop;
    steps.flops_origin = fmt::format("{}, counted", request.model);
  }
  const double tokens = count * ledger.totals().tokens.to_double();
  if (!steps.tokens) {
    steps.tokens = tokens * units::token;
  } else if (std::abs(steps.tokens->in(units::token)-tokens) > 1e-6 * tokens) {
    answer.notes.push_back(fmt::format(
        "The step log tells of {:.0f} tokens, {} steps of --batch and --seq are {:.0f}: the FLOPs are those "
        "of the latter.",
        steps.tokens->in(units::token), steps.count, tokens));
  }
  return {};
}

Result<void> compare_with_peak(const Facts& facts, const EnergyRequest& request,
                               const std::optional<units::Precision>& precision, answers::EnergySteps& steps,
                               answers::Energy& answer) {
  if (!steps.flops || !precision) return {};
  DeviceWords words = request.hardware;
  const bool asked = !words.name.empty() || words.given.peak;
  if (!asked) {
    for (const answers::EnergyDevice& device : answer.devices) {
      if (device.counted && device.window.scope == steps.scope) words.name = device.info.name;
    }
  }
  if (words.name.empty() && !words.given.peak) {
    answer.notes.push_back("There is no MFU: the logs do not name their device; state --hardware or --peak-tflops.");
    return {};
  }
  const Result<device::Device> device = facts.device(words, *precision);
  const Result<device::Peak> peak = device ? peak_of(*device, *precision) : Result<device::Peak>{fail(device.error())};
  if (!peak) {
    if (asked) return fail(peak.error());
    answer.notes.push_back(fmt::format("There is no MFU: {}", peak.error().message()));
    return {};
  }
  steps.peak = peak->rate;
  steps.peak_source = device->name;
  const units::Duration time = steps.time.value_or(steps.window);
  const auto devices = static_cast<double>(accelerators(answer, steps.scope));
  if (time > units::Duration{} && devices > 0) steps.mfu = *steps.flops / (time * devices) / peak->rate;
  if (steps.mfu && *steps.mfu > 1) {
    answer.flags.push_back({"above_peak",
                            "More FLOPs a second than the peak: wrong step times, wrong tokens, a device that the logs "
                            "lack, or a wrong --batch, --seq or --dtype."});
  }
  return {};
}

void hold_against_window(const answers::EnergySteps& steps, answers::Energy& answer) {
  if (steps.located) return;
  if (!steps.time) {
    answer.flags.push_back({"steps_do_not_fill_window",
                            "Not every step says when it was or how long it took: the energy is that of the whole "
                            "window. Choose it with --from and --to, or log when each step ended."});
    return;
  }
  const double share = *steps.time / steps.window;
  if (share > 0.95 && share < 1.02) return;
  answer.flags.push_back(
      {"steps_do_not_fill_window",
       fmt::format(
           "The steps take {} of a window of {}, and their log does not say when they were: the energy is that of "
           "the whole window. Choose it with --from and --to, or log when each step ended.",
           units::to_text(*steps.time), units::to_text(steps.window))});
}

}  // namespace

Result<StepsInTime> read_steps(const EnergyRequest& request, const std::vector<LoggedDevice>& devices,
                               answers::Energy& answer) {
  FLOPWATT_TRY(const std::string bytes, io::read_file(request.steps_file));
  FLOPWATT_TRY(const StepLog log, read_step_log(bytes, request.steps_file));
  if (log.torn_tail) answer.notes.push_back(request.steps_file + ": its last line was cut and was left out.");
  return Placer{request, devices.front()}.run(log);
}

Result<void> price_steps(const Facts& facts, const EnergyRequest& request, answers::EnergySteps steps,
                         answers::Energy& answer) {
  const answers::EnergyTotal* total = priced_total(answer);
  if (total != nullptr) {
    steps.scope = total->scope;
    steps.devices = total->devices;
    steps.complete = total->complete;
    if (total->energy > units::Energy{} || total->complete) steps.energy = total->energy;
    steps.uncertainty = total->uncertainty;
    for (const answers::EnergyDevice& device : answer.devices) {
      if (device.counted && device.window.scope == steps.scope) steps.window = device.window.duration;
    }
  }
  hold_against_window(steps, answer);
  std::optional<units::Precision> precision = request.workload.dtype;
  FLOPWATT_TRY_VOID(count_work(facts, request, steps, precision, answer));
  FLOPWATT_TRY_VOID(compare_with_peak(facts, request, precision, steps, answer));
  answer.steps = std::move(steps);
  return {};
}

}  // namespace flopwatt::engine
