#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace flopwatt::telemetry {

/// What a time in a log is counted from.
enum class StampKind : std::uint8_t {
  utc,          ///< 1970-01-01 UTC: an epoch number, or a date with a zone
  local,        ///< a date and time that does not say its zone
  time_of_day,  ///< a time without a date
  relative,     ///< some origin that the log does not tell: since boot, since the start
};

/// A moment of a log, in nanoseconds since what its kind says (since midnight for a time of day).
struct Stamp {
  std::chrono::nanoseconds time{};
  StampKind kind = StampKind::utc;
};

/// What a bare number of a log counts; `by_magnitude` takes the unit in which it lies between 2000 and 2100, and
/// seconds of a relative time where it does in none of them and is below 10^8.
enum class StampUnit : std::uint8_t { by_magnitude, seconds, milliseconds, microseconds, nanoseconds };

/// Reads "2026-05-06T10:00:00.123Z", "2026-05-06 10:00:00,5+02:00", "2026/05/06 10:00:00.123" (nvidia-smi),
/// "20260506 10:00:00" (nvidia-smi dmon), "06.05.2026 10:00:00" (Germany), "10:00:00.123" (xpu-smi), "Wed May  6
/// 10:00:00 UTC 2026" (date), "1778061600.25", also in ms, µs, ns.  Empty for anything else, for a date that the
/// calendar lacks, and for "05/06/2026", whose day and month are anyone's guess.  A number with a stated unit that is
/// no date between 2000 and 2100 in it is a relative time (NVML's own sample times count µs since boot).
[[nodiscard]] std::optional<Stamp> parse_stamp(std::string_view text, StampUnit unit = StampUnit::by_magnitude);

/// "Z", "UTC", "+02:00", "-0530", "+2" as seconds east of Greenwich; empty for anything else.
[[nodiscard]] std::optional<std::chrono::seconds> parse_utc_offset(std::string_view text);

}  // namespace flopwatt::telemetry
