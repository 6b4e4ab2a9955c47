#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/stamp.hpp"
#include "flopwatt/telemetry/trace.hpp"
#include "flopwatt/units/quantity.hpp"

/// What other tools have recorded, as traces.

namespace flopwatt::telemetry {

/// Formats that are read (docs/energy.md says which columns and keys of each).
enum class LogFormat : std::uint8_t {
  nvidia_smi_csv,   ///< nvidia-smi --query-gpu=… --format=csv[,noheader][,nounits]
  nvidia_smi_dmon,  ///< nvidia-smi dmon [-o DT]
  dcgmi_dmon,       ///< dcgmi dmon -e …
  xpu_smi_csv,      ///< xpu-smi dump, xpumcli dump
  amd_smi_csv,      ///< amd-smi metric|monitor --csv [--watch]
  amd_smi_json,     ///< amd-smi metric --json [--watch]
  rocm_smi_csv,     ///< rocm-smi … --csv
  rocm_smi_json,    ///< rocm-smi … --json
  prometheus_json,  ///< the answer of /api/v1/query_range
  wandb_csv,        ///< system metrics of Weights & Biases
  slurm_sacct,      ///< sacct --parsable2
  trace_csv,        ///< our own (trace_csv.hpp)
};
[[nodiscard]] std::string_view key(LogFormat format) noexcept;
[[nodiscard]] bool parse_key(std::string_view text, LogFormat& format) noexcept;
/// One of them by number, for tests that go through all; any number will do.
[[nodiscard]] LogFormat log_format(std::size_t number) noexcept;
/// "nvidia-smi-csv, …": all of them, for messages.
[[nodiscard]] std::string log_format_list();

/// When the first sample was taken, for logs that do not tell: a moment, or the day of a log with times of day.
struct LogStart {
  std::chrono::nanoseconds time{};  ///< since 1970-01-01, of UTC where `kind` is utc, else where the log was written
  StampKind kind = StampKind::utc;
  bool day_only = false;  ///< midnight
};

/// "2026-05-06" or any moment that parse_stamp dates; Errc::usage for anything else.
[[nodiscard]] Result<LogStart> parse_start(std::string_view text);

struct LogOptions {
  std::optional<LogFormat> format;                 ///< empty: told by the content
  std::optional<std::chrono::seconds> utc_offset;  ///< of times that do not say their zone; empty: UTC, and a note
  std::optional<LogStart> start;
  std::optional<units::Duration> interval;  ///< between samples, for logs without times
  /// Where a log holds both: the sensor's last value instead of its mean over a second.
  bool instant = false;
  std::vector<std::string> columns;  ///< of a CSV without a header, as they were asked for: "timestamp", "power.draw"
};

/// What the times of a log are.
enum class TimeBase : std::uint8_t {
  absolute,      ///< epoch numbers or dates with zone
  assumed_zone,  ///< dates without a zone: LogOptions::utc_offset
  anchored,      ///< told by LogOptions::start
  time_of_day,   ///< since the midnight before the first sample, on an unknown day
  relative,      ///< since an origin that the log does not tell
  counted,       ///< number of the sample times LogOptions::interval
};
[[nodiscard]] std::string_view key(TimeBase base) noexcept;
/// Whether a trace's times are those of the calendar (Snapshot::time is then nanoseconds since 1970-01-01 UTC).
[[nodiscard]] constexpr bool is_dated(TimeBase base) noexcept { return base <= TimeBase::anchored; }

/// Lines of a log that are no samples: cut, mixed with other output, of another shape.
struct SkippedLines {
  std::size_t count = 0;
  std::vector<std::size_t> first;  ///< at most ten line numbers
};

struct Log {
  std::string where;
  LogFormat format = LogFormat::nvidia_smi_csv;
  TimeBase time_base = TimeBase::absolute;
  std::vector<Trace> traces;  ///< by device, in the order in which they appear; none is empty
  SkippedLines skipped;
  bool torn_tail = false;          ///< the last line was cut and is left out
  std::vector<std::string> notes;  ///< what was assumed or preferred, one sentence each
};

/// Reads a log.  `where` is its display name.  Text in any encoding of io/text_encoding.hpp.
///
/// Errc::bad_data at WHERE or WHERE:LINE for: a format that is not known (the message lists those that are), no sample
/// at all, more lines without sense than with, no times and no LogOptions::interval, truncated JSON.
[[nodiscard]] Result<Log> read_log(std::string_view bytes, std::string_view where, const LogOptions& options = {});

}  // namespace flopwatt::telemetry
