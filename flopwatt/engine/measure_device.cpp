#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <variant>

#include "flopwatt/device/peak.hpp"
#include "flopwatt/engine/devices.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"
#include "flopwatt/workload/process.hpp"
#include "flopwatt/workload/torch_program.hpp"

namespace flopwatt::engine {
namespace {

using units::Precision;
using workload::Place;
using workload::Process;

/// Sizes of products that are tried, and the copy; beside them the library starts, and a slow product takes its time.
constexpr double kSpells = 8;
constexpr std::chrono::seconds kMeasuringPatience{120};

struct Measured {
  std::optional<workload::Ready> ready;
  std::optional<workload::Ceiling> ceiling;
  std::string reason;            ///< why there is no ceiling
  std::optional<Error> foreign;  ///< the program is not the one that is meant
};

/// Whether what answers may be the device that was named.  A processor may not unless the catalogue knows it by this
/// name; a device that the catalogue does not know is taken at the caller's word, with a note.
bool may_be(const Facts& facts, const std::string& named, const Place& place, const std::string& reported) {
  if (named.empty()) return true;
  const auto is = facts.devices().find_all(reported);
  if (is.empty()) return place.type != Place::Type::cpu;
  const auto meant = facts.devices().find_all(named);
  return std::find_first_of(is.begin(), is.end(), meant.begin(), meant.end()) != is.end();
}

/// Takes events until the last one, or until a device answers that is not `wanted`; the reason for an end that none of
/// them tells.
Result<void> listen(const std::string& program, Process& process, std::chrono::milliseconds patience,
                    const std::function<bool(const std::string&)>& wanted, Measured& measured) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < deadline) {
    FLOPWATT_TRY(const Process::Read read, process.read_line(std::chrono::milliseconds{200}));
    if (std::holds_alternative<Process::Quiet>(read)) continue;
    const auto* const line = std::get_if<Process::Line>(&read);
    if (line == nullptr) {
      const auto exit = process.wait(std::chrono::seconds{5});
      measured.reason = "ended without a word: " + (exit ? exit->message() : std::string{"still running"});
      return {};
    }
    const Result<workload::Event> read_back = workload::read_event(line->text);
    if (!read_back) {
      if (!measured.ready) measured.foreign = workload::not_understood(program, line->text, read_back.error());
      return fail(read_back.error());
    }
    const workload::Event& event = *read_back;
    if (const auto* ready = std::get_if<workload::Ready>(&event)) {
      measured.ready = *ready;
      if (!wanted(ready->device_name)) return {};
    }
    if (const auto* ceiling = std::get_if<workload::Ceiling>(&event)) measured.ceiling = *ceiling;
    if (const auto* failed = std::get_if<workload::Failed>(&event)) {
      measured.reason = fmt::format("{}: {}", workload::name(failed->reason), failed->detail);
      if (failed->reason == workload::Failed::Reason::protocol) {
        measured.foreign = workload::not_understood(program, *failed);
      }
      return {};
    }
    if (std::holds_alternative<workload::Done>(event)) return {};
  }
  measured.reason =
      fmt::format("took longer than {} s", std::chrono::duration_cast<std::chrono::seconds>(patience).count());
  return {};
}

Result<Measured> measure(const std::string& program, const workload::Job& job,
                         const std::function<bool(const std::string&)>& wanted) {
  FLOPWATT_TRY(Process process, Process::start({program}));
  FLOPWATT_TRY_VOID(process.write_line(workload::write(job)));
  Measured measured;
  const auto patience =
      kMeasuringPatience + std::chrono::milliseconds{static_cast<std::int64_t>(kSpells * 1e3 * job.sample_seconds)};
  if (const auto heard = listen(program, process, patience, wanted, measured); !heard)
    measured.reason = heard.error().message();
  return measured;
}

std::vector<Precision> dtypes_of(const Place& place) {
  if (place.type == Place::Type::cpu) return {Precision::float32, Precision::bfloat16, Precision::float16};
  return {Precision::float32, Precision::tf32, Precision::bfloat16, Precision::float16};
}

/// The catalogue's device: by the name that was given, else by what the library reports.
Result<std::optional<device::Device>> datasheet(const Facts& facts, const std::string& given,
                                                const std::string& reported) {
  if (!given.empty()) {
    FLOPWATT_TRY(device::Device device, facts.devices().resolve(given));
    return device;
  }
  auto device = facts.devices().resolve(reported);
  return device ? std::optional{*std::move(device)} : std::nullopt;
}

}  // namespace

Result<answers::Devices> measure_device(const Facts& facts, const MeasureRequest& request) {
  FLOPWATT_TRY(const Place place, workload::parse_place(request.place));
  if (!request.name.empty()) {
    FLOPWATT_TRY_VOID(facts.devices().resolve(request.name).map([](const auto&) {}));
  }
  for (const Precision dtype : request.dtypes) {
    if (dtype > Precision::bfloat16) {
      return fail(Errc::usage, fmt::format("{} is not measured", units::name(dtype)), "--dtype",
                  "choose float32, tf32, float16 or bfloat16");
    }
  }
  FLOPWATT_TRY(const std::string program, workload::torch_program());
  answers::Devices answer;
  answers::MeasuredDevice& here = answer.measured.emplace();
  answer.asked = request.name;
  here.place = workload::to_string(place);
  workload::Job job;
  job.kind = workload::Kind::ceiling;
  job.device = place;
  job.threads = request.threads;
  job.sample_seconds = request.spell.in(units::second);
  const auto wanted = [&](const std::string& reported) { return may_be(facts, request.name, place, reported); };
  for (const Precision dtype : request.dtypes.empty() ? dtypes_of(place) : request.dtypes) {
    if (request.progress) request.progress(dtype);
    job.dtype = dtype;
    FLOPWATT_TRY(const Measured measured, measure(program, job, wanted));
    if (measured.foreign) return fail(*measured.foreign);
    if (measured.ready) {
      if (!wanted(measured.ready->device_name)) {
        return fail(
            Errc::usage,
            fmt::format("{} is '{}', not {}", here.place, base::excerpt(measured.ready->device_name), request.name),
            "--device", "leave the name out, or say where it is, such as --device cuda:0");
      }
      here.name = measured.ready->device_name;
      here.library = measured.ready->library;
      here.threads = measured.ready->threads;
    }
    answers::MeasuredCeiling& row = here.ceilings.emplace_back();
    row.dtype = dtype;
    row.reason = measured.reason;
    if (!measured.ceiling) continue;
    row.flops = measured.ceiling->flops_per_second * units::flop_per_second;
    row.matrix_size = measured.ceiling->matrix_size;
    row.bandwidth = measured.ceiling->bytes_per_second * units::byte_per_second;
    row.copy_bytes = measured.ceiling->copy_bytes;
  }
  const bool any = std::any_of(here.ceilings.begin(), here.ceilings.end(), [](const auto& row) { return row.flops; });
  if (!any) {
    return fail(Errc::unavailable, "nothing could be measured on " + here.place + ": " + here.ceilings.front().reason,
                "--measure", "try --device cpu");
  }
  FLOPWATT_TRY(const auto known, datasheet(facts, request.name, here.name));
  if (known) {
    for (answers::MeasuredCeiling& row : here.ceilings) {
      if (auto peak = device::peak(*known, row.dtype)) row.datasheet = *std::move(peak);
    }
    answer.devices.push_back(*known);
    if (!request.name.empty() && facts.devices().find_all(here.name).empty()) {
      answer.notes.push_back(fmt::format("{}; that it is the {} of the datasheet is what was said.",
                                         facts.devices().not_here(here.name), known->name));
    }
  } else {
    answer.notes.push_back(fmt::format("The catalogue has no device called '{}': nothing to compare with.", here.name));
  }
  answer.notes.emplace_back(
      "A ceiling is the fastest of several sizes: square matrix products; a copy, bytes read and bytes written.");
  return answer;
}

}  // namespace flopwatt::engine
