#include "flopwatt/telemetry/logs/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "flopwatt/io/text_encoding.hpp"
#include "flopwatt/telemetry/logs/amd_json.hpp"
#include "flopwatt/telemetry/logs/nvidia_smi.hpp"
#include "flopwatt/telemetry/logs/prometheus.hpp"
#include "flopwatt/telemetry/logs/sacct.hpp"
#include "flopwatt/telemetry/logs/table.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"
#include "flopwatt/telemetry/logs/wandb.hpp"
#include "flopwatt/telemetry/trace_csv.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::array<std::string_view, 12> kFormats{
    "nvidia-smi-csv", "nvidia-smi-dmon", "dcgmi-dmon",      "xpu-smi-csv", "amd-smi-csv", "amd-smi-json",
    "rocm-smi-csv",   "rocm-smi-json",   "prometheus-json", "wandb-csv",   "slurm-sacct", "flopwatt-csv"};
static_assert(kFormats.size() == static_cast<std::size_t>(LogFormat::trace_csv) + 1);
constexpr std::array<std::string_view, 6> kBases{"absolute",    "assumed_zone", "anchored",
                                                 "time_of_day", "relative",     "counted"};

/// Tools print warnings before their header.
constexpr std::size_t kLinesLookedAt = 50;

const TableFormat* table_of(LogFormat format) {
  switch (format) {
    case LogFormat::nvidia_smi_dmon:
      return &nvidia_dmon_format();
    case LogFormat::dcgmi_dmon:
      return &dcgmi_dmon_format();
    case LogFormat::xpu_smi_csv:
      return &xpu_smi_format();
    case LogFormat::amd_smi_csv:
      return &amd_smi_csv_format();
    case LogFormat::rocm_smi_csv:
      return &rocm_smi_csv_format();
    default:
      return nullptr;
  }
}

/// By keys that only one of them has, in the first few kilobytes.
std::optional<LogFormat> recognise_json(std::string_view text) {
  const std::string_view head = text.substr(0, 65536);
  const auto holds = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
  if (holds("\"resultType\"")) return LogFormat::prometheus_json;
  if (holds("\"card0\"") || holds("Graphics Package Power (W)\"") || holds("\"Accumulated Energy (uJ)\"")) {
    return LogFormat::rocm_smi_json;
  }
  if (holds("\"gpu_data\"") || holds("socket_power\"") || holds("\"total_energy_consumption\"")) {
    return LogFormat::amd_smi_json;
  }
  return std::nullopt;
}

std::optional<LogFormat> recognise(std::string_view text, std::span<const Line> lines, const LogOptions& options) {
  if (!options.columns.empty()) return LogFormat::nvidia_smi_csv;
  const std::span<const Line> head = lines.first(std::min(lines.size(), kLinesLookedAt));
  for (const Line& line : head) {
    if (line.text.starts_with("time_seconds,")) return LogFormat::trace_csv;
    for (std::size_t i = 0; i < kFormats.size(); ++i) {
      const TableFormat* table = table_of(log_format(i));
      if (table != nullptr && table->is_header(line.text)) return log_format(i);
    }
    if (is_wandb_header(line.text)) return LogFormat::wandb_csv;
    if (is_sacct_header(line.text)) return LogFormat::slurm_sacct;
    if (is_nvidia_smi_header(line.text)) return LogFormat::nvidia_smi_csv;
  }
  for (const Line& line : head) {
    const std::string_view begin = trimmed(line.text);
    if (begin.starts_with('{') || begin.starts_with('[')) {
      if (const auto format = recognise_json(text)) return format;
    }
    if (is_nvidia_smi_row(line.text)) return LogFormat::nvidia_smi_csv;
  }
  return std::nullopt;
}

/// Our own traces are on two clocks; the spacing is the steady one's, the moment of the first sample the wall's.
Result<Log> read_own_trace(std::string_view text, std::string_view where) {
  FLOPWATT_TRY(std::vector<Trace> traces, read_trace_csv(text, where));
  Log log{.where = std::string{where}, .format = LogFormat::trace_csv};
  for (const Trace& trace : traces) {
    if (trace.empty()) continue;
    if (trace.front().wall <= WallTime{}) log.time_base = TimeBase::relative;
  }
  for (Trace& trace : traces) {
    if (trace.empty()) continue;
    const bool dated = log.time_base == TimeBase::absolute;
    const std::chrono::nanoseconds shift =
        dated ? trace.front().wall - trace.front().time : -traces.front().front().time;
    Trace moved{trace.device(), trace.size()};
    for (std::size_t i = 0; i < trace.size(); ++i) {
      Snapshot sample = trace[i];
      sample.time += shift;
      sample.wall = dated ? sample.time : WallTime{};
      moved.add(sample);
    }
    log.traces.push_back(std::move(moved));
  }
  if (log.traces.empty()) return fail(Errc::bad_data, "holds no sample", std::string{where});
  return log;
}

Result<Log> read_as(LogFormat format, std::string_view text, std::span<const Line> lines, std::string_view where,
                    const LogOptions& options) {
  if (const TableFormat* table = table_of(format)) return read_table(*table, lines, where, options);
  switch (format) {
    case LogFormat::nvidia_smi_csv:
      return read_nvidia_smi_csv(lines, where, options);
    case LogFormat::amd_smi_json:
      return read_amd_smi_json(text, where, options);
    case LogFormat::rocm_smi_json:
      return read_rocm_smi_json(text, where, options);
    case LogFormat::prometheus_json:
      return read_prometheus_json(text, where, options);
    case LogFormat::wandb_csv:
      return read_wandb_csv(lines, where, options);
    case LogFormat::slurm_sacct:
      return read_sacct(lines, where, options);
    case LogFormat::trace_csv:
      return read_own_trace(text, where);
    default:
      break;
  }
  return fail(Errc::internal, "no reader for this format", std::string{where});
}

/// Of several logs one may need an option that another has no use for: a note of that one, and no error.
void note_without_effect(const LogOptions& options, Log& log) {
  if (options.interval && log.time_base != TimeBase::counted) {
    log.notes.emplace_back("Without effect: --interval; the log has times.");
  }
  if (options.start && log.time_base != TimeBase::anchored) {
    log.notes.emplace_back("Without effect: --start; the log has dates.");
  }
  if (!options.columns.empty() && log.format != LogFormat::nvidia_smi_csv) {
    log.notes.push_back(
        fmt::format("Without effect: --columns; they are those of nvidia-smi-csv, and this is {}.", key(log.format)));
  }
}

}  // namespace

std::string_view key(LogFormat format) noexcept { return kFormats[static_cast<std::size_t>(format)]; }

bool parse_key(std::string_view text, LogFormat& format) noexcept {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i] == text) return format = static_cast<LogFormat>(i), true;
  }
  return false;
}

LogFormat log_format(std::size_t number) noexcept { return static_cast<LogFormat>(number % kFormats.size()); }

std::string log_format_list() { return fmt::format("{}", fmt::join(kFormats, ", ")); }

std::string_view key(TimeBase base) noexcept { return kBases[static_cast<std::size_t>(base)]; }

Result<LogStart> parse_start(std::string_view text) {
  std::optional<Stamp> stamp = parse_stamp(text);
  if (stamp && (stamp->kind == StampKind::utc || stamp->kind == StampKind::local)) {
    return LogStart{stamp->time, stamp->kind, false};
  }
  stamp = parse_stamp(fmt::format("{} 00:00", text));
  if (stamp && stamp->kind == StampKind::local) return LogStart{stamp->time, stamp->kind, true};
  return fail(Errc::usage, fmt::format("\"{}\" is no date", base::excerpt(text)), {},
              "write 2026-05-06, or 2026-05-06T10:00:00Z");
}

Result<Log> read_log(std::string_view bytes, std::string_view where, const LogOptions& options) {
  std::string storage;
  FLOPWATT_TRY(const std::string_view text, io::decode_text(bytes, where, storage));
  const std::vector<Line> lines = lines_of(text);
  if (lines.empty()) return fail(Errc::bad_data, "is empty", std::string{where});
  const std::optional<LogFormat> format = options.format ? options.format : recognise(text, lines, options);
  if (!format) {
    return fail(Errc::bad_data, fmt::format("is in no format that is known ({})", log_format_list()),
                std::string{where}, "see docs/energy.md");
  }
  FLOPWATT_TRY(Log log, read_as(*format, text, lines, where, options));
  note_without_effect(options, log);
  return log;
}

}  // namespace flopwatt::telemetry
