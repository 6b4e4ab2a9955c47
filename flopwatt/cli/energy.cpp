#include "flopwatt/engine/energy.hpp"

#include <fmt/format.h>

#include <memory>

#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"
#include "flopwatt/report/energy_table.hpp"

namespace flopwatt::cli {
namespace {

constexpr RealRange kSeconds{.min = 0, .max = 1e9};

struct EnergyVerbOptions {
  engine::EnergyRequest request;
  std::optional<double> interval;
  DataOptions data;
  OutputOptions output;
};

Result<void> read_format(const std::string& word, std::optional<telemetry::LogFormat>& format) {
  telemetry::LogFormat read{};
  if (!telemetry::parse_key(word, read)) {
    return fail(Errc::usage, fmt::format("\"{}\" is none of {}", base::excerpt(word), telemetry::log_format_list()));
  }
  format = read;
  return {};
}

Result<void> run_energy(const EnergyVerbOptions& options, Console& console) {
  engine::EnergyRequest request = options.request;
  if (options.interval) request.reading.interval = *options.interval * units::second;
  if (request.idle_watts && request.idle_seconds) {
    return fail(Errc::usage, "only one of them can be given", "--idle-seconds, --idle-watts");
  }
  FLOPWATT_TRY(const engine::Facts facts, load_facts(options.data));
  FLOPWATT_TRY(const answers::Energy answer, engine::energy(facts, request));
  if (options.output.format == report::Format::csv) {
    return console.deliver(report::to_csv(report::energy_table(answer)), options.output.file);
  }
  return present(console, options.output, answer);
}

void add_reading(Command& command, EnergyVerbOptions& options) {
  telemetry::LogOptions& reading = options.request.reading;
  command.group("Reading");
  command.add("--log-format", "FORMAT", "insist on one instead of telling it by the content",
              [&reading](const std::string& word) { return read_format(word, reading.format); });
  command.add("--columns", "NAME,…", "of a CSV without a header, as nvidia-smi was asked for them",
              [&reading](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(reading.columns, read_word_list(word));
                return {};
              });
  command.add("--timezone", "±HH:MM", "of times that name no zone; default UTC",
              [&reading](const std::string& word) -> Result<void> {
                reading.utc_offset = telemetry::parse_utc_offset(word);
                if (!reading.utc_offset) return fail(Errc::usage, "expected an offset like +02:00, or UTC");
                return {};
              });
  command.add("--start", "TIME", "when a log without dates began, or its day",
              [&reading](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(reading.start, telemetry::parse_start(word));
                return {};
              });
  command.real("--interval", "SECONDS", options.interval, kSeconds, "between the samples of a log without times");
  command.flag("--instant", reading.instant, "the sensor's last value where a log also has its mean");
  command.flag("--merge", options.request.merge, "a device that several logs name alike by index is one");
}

void add_window(Command& command, EnergyVerbOptions& options) {
  engine::EnergyRequest& request = options.request;
  command.group("What of it");
  command.text("--from", "TIME", request.from, "2026-05-06T10:00:00Z, 10:00:00, or \"90 s\" after the beginning");
  command.text("--to", "TIME", request.to, "the same");
  command.add("--device", "DEVICE,…", "indices, UUIDs, PCI ids or names; default: all",
              [&request](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(request.devices, read_word_list(word));
                return {};
              });
  command.group("Idle baseline");
  command.real("--idle-seconds", "SECONDS", request.idle_seconds, kSeconds,
               "mean of so long at the beginning; default: the lowest tenth of the readings");
  command.flag("--idle-at-end", request.idle_at_end, "at the end instead").only_with("--idle-seconds");
  command.real("--idle-watts", "WATTS", request.idle_watts, {.min = 0, .max = 1e5, .min_included = true},
               "as known from elsewhere");
}

void add_steps(Command& command, EnergyVerbOptions& options) {
  engine::EnergyRequest& request = options.request;
  command.group("Steps");
  command.text("--steps", "FILE", request.steps_file,
               "JSONL or CSV of step times or ends, tokens, FLOPs: J/token, FLOP/J");
  command.text("--model", "MODEL", request.model, "whose FLOPs a step has, where the step log does not tell")
      .only_with("--steps");
  command.text("--as", "FAMILY", request.as_family, "read the config as this family whatever its model_type says")
      .only_with("--model");
  command.whole("--batch", request.workload.workload.batch, {}, "sequences a step, over all devices")
      .only_with("--model");
  command.whole("--seq", request.workload.sequence, {}, "tokens a sequence really holds").only_with("--model");
  command.dtype("--dtype", request.workload.dtype, "of the products: which peak the MFU is divided by")
      .only_with("--steps");
  command.text("--hardware", "DEVICE", request.hardware.name, "whose peak it is; default: the name in the logs")
      .only_with("--steps");
  command
      .add("--peak-tflops", "N", "dense peak of the dtype, for a device that is not in the catalogue",
           [&request](const std::string& word) -> Result<void> {
             FLOPWATT_TRY(const double teraflops, read_real(word, {.min = 0, .max = 1e9}));
             request.hardware.given.peak = teraflops * units::teraflop_per_second;
             return {};
           })
      .only_with("--steps");
}

}  // namespace

Verb energy_verb() {
  return {.name = "energy",
          .summary = "Energy from recorded logs: per device, with method, gaps, uncertainty and idle baseline.",
          .example = "flopwatt energy power.csv --from 10:00:00 --to 10:05:00",
          .declare = [](Command& command) -> Run {
            const auto options = std::make_shared<EnergyVerbOptions>();
            command.positionals("LOG", options->request.files, "what nvidia-smi and others have recorded");
            add_reading(command, *options);
            add_window(command, *options);
            add_steps(command, *options);
            add_output(command, options->output);
            add_data(command, options->data);
            return [options](Console& console) { return run_energy(*options, console); };
          }};
}

}  // namespace flopwatt::cli
