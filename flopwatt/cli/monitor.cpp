#include "flopwatt/engine/monitor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "flopwatt/cli/interrupt.hpp"
#include "flopwatt/cli/shared_options.hpp"
#include "flopwatt/cli/verbs.hpp"
#include "flopwatt/engine/metrics_server.hpp"
#include "flopwatt/io/file.hpp"
#include "flopwatt/report/monitor_frame.hpp"
#include "flopwatt/telemetry/trace_csv.hpp"

namespace flopwatt::cli {
namespace {

using std::chrono::steady_clock;

struct MonitorOptions {
  engine::MonitorRequest request;
  double interval = 1;
  std::optional<std::int64_t> count;
  std::optional<double> duration;
  bool list = false, csv = false, jsonl = false;
  std::string prometheus, textfile;
  OutputOptions output;
};

/// What each look at the devices becomes.
class Display {
 public:
  Display(const MonitorOptions& options, Console& console)
      : options_{options}, console_{console}, live_{wants_table() && ::isatty(STDOUT_FILENO) == 1} {}

  Result<void> begin(const engine::Monitor& monitor) {
    if (!options_.prometheus.empty()) {
      FLOPWATT_TRY(server_, engine::MetricsServer::start(options_.prometheus));
      std::fprintf(stderr, "Serving %s\n", server_->url().c_str());
    }
    for (const telemetry::SourceAbsence& absence : monitor.sources().absent) {
      if (!options_.request.sources.empty()) console_.complain(absence.error());
    }
    return {};
  }

  Result<void> show(const answers::MonitorFrame& frame) {
    using report::MetricsFormat;
    if (server_) {
      server_->publish(report::monitor_metrics(frame, MetricsFormat::prometheus),
                       report::monitor_metrics(frame, MetricsFormat::open_metrics));
    }
    if (!options_.textfile.empty()) {
      FLOPWATT_TRY_VOID(
          io::write_file_atomic(options_.textfile, report::monitor_metrics(frame, MetricsFormat::prometheus)));
    }
    if (options_.csv) return write(csv_rows(frame));
    if (options_.jsonl) return write(report::monitor_jsonl(frame));
    if (!wants_table() || !options_.output.file.empty()) return {};
    return live_ ? redraw(report::monitor_table(frame)) : console_.print(report::monitor_lines(frame));
  }

  [[nodiscard]] bool wants_summary() const { return !options_.csv && !options_.jsonl; }

 private:
  [[nodiscard]] bool wants_table() const {
    return !options_.csv && !options_.jsonl && options_.output.format == report::Format::text;
  }

  std::string csv_rows(const answers::MonitorFrame& frame) {
    for (const answers::MonitorDevice& device : frame.devices) csv_.add(device.info, device.snapshot, device.part_of);
    return csv_.take();
  }

  /// A stream: what is written stays if the monitor is killed.
  Result<void> write(const std::string& text) {
    if (options_.output.file.empty()) return console_.print(text);
    if (!file_) {
      file_.reset(std::fopen(options_.output.file.c_str(), "w"));
      if (!file_) return fail(Errc::bad_data, "cannot be written", options_.output.file);
    }
    const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
    if (!written || std::fflush(file_.get()) != 0)
      return fail(Errc::bad_data, "cannot be written", options_.output.file);
    return {};
  }

  /// Over the last frame, line by line, so that nothing flickers and what stood above stays.
  Result<void> redraw(const std::string& table) {
    std::string out = lines_ > 0 ? fmt::format("\x1b[{}A", lines_) : std::string{};
    lines_ = 0;
    for (std::size_t at = 0; at < table.size();) {
      const std::size_t end = std::min(table.find('\n', at), table.size());
      out += table.substr(at, end - at) + "\x1b[K\n";
      at = end + 1;
      ++lines_;
    }
    return console_.print(out + "\x1b[J");
  }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const MonitorOptions& options_;
  Console& console_;
  bool live_;
  std::size_t lines_ = 0;
  telemetry::TraceCsvWriter csv_;
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<engine::MetricsServer> server_;
};

/// Waits for a moment, or for Ctrl-C.
void wait_until(steady_clock::time_point due) {
  constexpr std::chrono::milliseconds kSlice{50};
  while (Interrupt::signal() == 0 && steady_clock::now() < due) {
    std::this_thread::sleep_for(std::min<steady_clock::duration>(kSlice, due - steady_clock::now()));
  }
}

Result<void> watch(const MonitorOptions& options, Console& console) {
  engine::MonitorRequest request = options.request;
  request.interval = options.interval * units::second;
  FLOPWATT_TRY(const std::unique_ptr<engine::Monitor> monitor, engine::Monitor::open(request));
  const Interrupt interrupt;
  Display display{options, console};
  FLOPWATT_TRY_VOID(display.begin(*monitor));
  const auto seconds = [](double number) {
    return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>{number});
  };
  const steady_clock::time_point start = steady_clock::now();
  answers::MonitorSummary summary{.sources = monitor->sources()};
  while (true) {
    summary.last = monitor->look();
    ++summary.frames;
    FLOPWATT_TRY_VOID(display.show(summary.last));
    const bool counted = options.count && summary.frames >= static_cast<std::size_t>(*options.count);
    const auto due = start + seconds(options.interval * static_cast<double>(summary.frames));
    const bool over = options.duration && due > start + seconds(*options.duration) + std::chrono::milliseconds{1};
    if (counted || over || summary.last.over || Interrupt::signal() != 0) break;
    wait_until(due);
    if (Interrupt::signal() != 0) {
      summary.last = monitor->look();
      break;
    }
  }
  return display.wants_summary() ? present(console, options.output, summary) : Result<void>{};
}

Result<void> run_monitor(const MonitorOptions& options, Console& console) {
  if (options.csv && options.jsonl) return fail(Errc::usage, "only one of them can be given", "--csv, --jsonl");
  if (!options.textfile.empty() && !options.textfile.ends_with(".prom")) {
    return fail(Errc::usage, "the textfile collector reads names that end in .prom", "--textfile");
  }
  if (!options.request.replay.empty() && !options.request.sources.empty()) {
    return fail(Errc::usage, "only one of them can be given", "--source, --replay");
  }
  const bool streams = options.csv || options.jsonl;
  if (streams && options.output.format != report::Format::text) {
    return fail(Errc::usage, "asks for another format than the rows", options.csv ? "--csv" : "--jsonl",
                "leave --json and --format out");
  }
  if (!options.list) return watch(options, console);
  if (streams || options.count || options.duration || !options.prometheus.empty() || !options.textfile.empty()) {
    return fail(Errc::usage, "reads nothing, it only says what there is", "--list",
                "leave it out to watch, or leave the other options out");
  }
  FLOPWATT_TRY(const answers::MonitorSources sources, engine::Monitor::list(options.request));
  return present(console, options.output, sources);
}

void add_sources(Command& command, MonitorOptions& options) {
  command.group("What is read");
  command.add("--source", "NAME,…",
              "nvml, amd, rocm, rapl, hwmon, shelly2:HOST, http://…#/pointer; default: all there is",
              [&options](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(options.request.sources, read_word_list(word));
                return {};
              });
  command.text("--replay", "LOG", options.request.replay, "play a log of any format that `energy` reads");
  command.real("--speed", "X", options.request.replay_speed, {.min = 0, .max = 1e6}, "of the replay; default 1")
      .only_with("--replay");
  command.flag("--instant", options.request.instant, "the sensor's last value where the driver offers it");
  command
      .add("--meter-unit", "W|mW|kW", "of what a meter's pointer names; default W",
           [&options](const std::string& word) -> Result<void> {
             static constexpr std::string_view kUnits[] = {"W", "mW", "kW"};
             static constexpr double kWatts[] = {1, 1e-3, 1e3};
             for (std::size_t i = 0; i < 3; ++i) {
               if (word == kUnits[i]) return options.request.watts_per_unit = kWatts[i], Result<void>{};
             }
             return fail(Errc::usage, fmt::format("\"{}\" is none of W, mW, kW", base::excerpt(word)));
           })
      .only_with("--source");
  command.flag("--insecure", options.request.insecure, "do not check the certificate of an https meter")
      .only_with("--source");
  command.flag("--list", options.list, "say what there is, and why the rest is not");
  command.group("How long");
  command.real("--interval", "SECONDS", options.interval, {.min = 0.009, .max = 86400}, "between two looks; default 1");
  command.whole("--count", options.count, {}, "end after so many looks");
  command.real("--duration", "SECONDS", options.duration, {.min = 0, .max = 1e9}, "end after so long");
}

}  // namespace

Verb monitor_verb() {
  return {.name = "monitor",
          .summary = "Live power, limit, utilisation and energy of what this machine has, or of a recording.",
          .example = "flopwatt monitor --interval 0.5 --csv -o power.csv",
          .declare = [](Command& command) -> Run {
            const auto options = std::make_shared<MonitorOptions>();
            add_sources(command, *options);
            command.group("Where it goes");
            command.flag("--csv", options->csv, "rows that `energy` reads, on stdout or -o");
            command.flag("--jsonl", options->jsonl, "a JSON object a device and look, on stdout or -o");
            command.text("--prometheus", "[ADDR:]PORT", options->prometheus,
                         "serve /metrics; on 127.0.0.1 unless told");
            command.text("--textfile", "FILE.prom", options->textfile, "for node_exporter, replaced at each look");
            add_output(command, options->output);
            return [options](Console& console) { return run_monitor(*options, console); };
          }};
}

}  // namespace flopwatt::cli
