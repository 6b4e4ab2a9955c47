#include "flopwatt/telemetry/logs/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "flopwatt/io/text_encoding.hpp"
#include "flopwatt/telemetry/logs/nvidia_smi.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::array<std::string_view, 1> kFormats{"nvidia-smi-csv"};
constexpr std::array<std::string_view, 6> kBases{"absolute",    "assumed_zone", "anchored",
                                                 "time_of_day", "relative",     "counted"};

/// Tools print warnings before their header.
constexpr std::size_t kLinesLookedAt = 50;

std::optional<LogFormat> recognise(std::span<const Line> lines, const LogOptions& options) {
  const std::span<const Line> head = lines.first(std::min(lines.size(), kLinesLookedAt));
  for (const Line& line : head) {
    if (is_nvidia_smi_header(line.text)) return LogFormat::nvidia_smi_csv;
  }
  if (!options.columns.empty()) return LogFormat::nvidia_smi_csv;
  for (const Line& line : head) {
    if (is_nvidia_smi_row(line.text)) return LogFormat::nvidia_smi_csv;
  }
  return std::nullopt;
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
  const std::optional<LogFormat> format = options.format ? options.format : recognise(lines, options);
  if (!format) {
    return fail(Errc::bad_data, fmt::format("is in no format that is known ({})", log_format_list()),
                std::string{where}, "see docs/energy.md");
  }
  switch (*format) {
    case LogFormat::nvidia_smi_csv:
      return read_nvidia_smi_csv(lines, where, options);
  }
  return fail(Errc::internal, "no reader for this format", std::string{where});
}

}  // namespace flopwatt::telemetry
