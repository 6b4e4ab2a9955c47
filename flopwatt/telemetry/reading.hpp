#pragma once

/// What one look at a device yields: readings, each a value or the reason why there is none.

#include <chrono>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::telemetry {

/// Why a reading, or a whole source, has no value.
enum class Absence : std::uint8_t {
  not_asked,         ///< nobody asked for it
  not_supported,     ///< the device, its driver or its virtualisation does not offer it
  no_permission,     ///< the operating system or the driver refuses this user
  not_present,       ///< no such device, file, library or sensor on this machine
  not_loaded,        ///< the library is there, but the kernel's driver is not loaded
  version_mismatch,  ///< library and kernel driver are of different versions (an update without a restart)
  missing_symbol,    ///< the driver's library is too old to know the call
  device_lost,       ///< the device fell off the bus or has to be reset
  timed_out,         ///< the driver did not answer in time
  garbage,           ///< the driver answered with something that cannot be
  below_resolution,  ///< the counter moved by less than it can resolve
  counter_reset,     ///< the counter fell without wrapping
  counter_stuck,     ///< the counter stood still while power was drawn
  wrapped_twice,     ///< the counter may have wrapped more often than can be told
  range_unknown,     ///< the counter fell, and the value at which it wraps is not known
  stale,             ///< the last value is too old to stand for now
  no_samples,        ///< too few samples to say
  in_other_reading,  ///< the value is part of another device's reading (second die of a package)
  not_held,          ///< it was recorded, but is no longer kept
  unknown_error,     ///< the driver gave an error that says nothing more
};

/// "not supported by the device or driver", … one phrase without a full stop.
[[nodiscard]] std::string_view text(Absence reason) noexcept;
/// "not_supported", … as it stands in JSON and CSV.
[[nodiscard]] std::string_view key(Absence reason) noexcept;
/// The reverse of key(); false leaves `reason` as it is.
[[nodiscard]] bool parse_key(std::string_view text, Absence& reason) noexcept;

/// A value, or the reason why there is none.  As small as the two; copying one allocates nothing.
template <class T>
class Reading {
 public:
  constexpr Reading() noexcept = default;                               ///< absent: not asked
  constexpr Reading(T value) noexcept : value_{value}, there_{true} {}  // NOLINT(*-explicit-*)
  constexpr Reading(Absence reason) noexcept : reason_{reason} {}       // NOLINT(*-explicit-*)
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return there_; }
  [[nodiscard]] constexpr bool has_value() const noexcept { return there_; }
  [[nodiscard]] constexpr const T& operator*() const noexcept {
    FLOPWATT_CHECK(there_);
    return value_;
  }
  [[nodiscard]] constexpr const T* operator->() const noexcept { return &**this; }
  /// Only of an absent reading.
  [[nodiscard]] constexpr Absence reason() const noexcept {
    FLOPWATT_CHECK(!there_);
    return reason_;
  }
  [[nodiscard]] constexpr bool absent_for(Absence reason) const noexcept { return !there_ && reason_ == reason; }

 private:
  T value_{};
  Absence reason_ = Absence::not_asked;
  bool there_ = false;
};

/// Over what time a power reading is taken.  The kinds are never mixed: a series has one of them.
enum class PowerKind : std::uint8_t {
  unknown,
  average_1s,  ///< mean of the last second (NVML on recent devices)
  average,     ///< mean over some shorter time of the driver's choice
  instant,     ///< the sensor's last value (NVML field 186)
  current,     ///< AMD's current socket power: the firmware's last value, lightly filtered
  counter,     ///< not read at all: derived from an energy counter
};
[[nodiscard]] std::string_view key(PowerKind kind) noexcept;
[[nodiscard]] bool parse_key(std::string_view text, PowerKind& kind) noexcept;

/// What a power or energy reading covers.  Never a process: a board's energy includes whatever else runs on it.
enum class Scope : std::uint8_t {
  device,          ///< accelerator board
  module,          ///< accelerator and host processor on one module (GH200, GB200, GB300), or both dies of a package
  partition,       ///< part of a device (MIG, CPX)
  package,         ///< host processor socket
  core,            ///< the cores inside a package
  uncore,          ///< integrated graphics and the rest inside a package
  dram,            ///< memory of a socket
  platform,        ///< everything that the platform meter sees (RAPL psys)
  rail,            ///< one supply rail of a board
  node,            ///< a whole computer, as its baseboard controller or a meter sees it
  external_meter,  ///< whatever hangs at a plug
  unknown,
};
[[nodiscard]] std::string_view key(Scope scope) noexcept;
[[nodiscard]] bool parse_key(std::string_view text, Scope& scope) noexcept;

/// A moment on the clock that never jumps, in nanoseconds since an origin that means nothing outside the process (a
/// recorded trace keeps its own).
using SteadyTime = std::chrono::nanoseconds;
/// A moment in nanoseconds since 1970-01-01 UTC.  For people and for joining logs; never for differences.
using WallTime = std::chrono::nanoseconds;

[[nodiscard]] SteadyTime steady_now() noexcept;
[[nodiscard]] WallTime wall_now() noexcept;
[[nodiscard]] constexpr units::Duration to_duration(std::chrono::nanoseconds time) noexcept {
  return static_cast<double>(time.count()) / 1e9 * units::second;
}

struct PowerReading {
  Reading<units::Power> value;
  PowerKind kind = PowerKind::unknown;
  Scope scope = Scope::device;
};

/// Everything read from one device at one time.
struct Snapshot {
  SteadyTime time{};        ///< when power and counter were read: the middle of the two calls
  WallTime wall{};          ///< the same moment
  SteadyTime time_error{};  ///< half of how long those calls took
  PowerReading power;
  /// Total energy since some moment of the past, as the counter says; where it wraps and how coarse it is stands in
  /// DeviceInfo::counter.
  Reading<units::Energy> energy;
  /// When the device's counter was last brought up to date, on the device's own clock (AMD); two equal ones are one.
  Reading<std::chrono::nanoseconds> energy_updated;
  PowerReading module_power;      ///< of the module around the device, where that is metered beside it
  Reading<units::Power> limit;    ///< enforced power limit; a limit of 0 is absent
  Reading<double> utilization;    ///< fraction of the time during which a kernel ran; says nothing of how well
  Reading<double> tensor_active;  ///< fraction of cycles with the tensor pipe busy, where profiling gives it
  Reading<units::DataSize> memory_used;
  Reading<units::DataSize> memory_total;
  Reading<units::Frequency> compute_clock;
  Reading<units::Frequency> memory_clock;
  Reading<double> temperature_celsius;
  Reading<std::uint32_t> processes;  ///< compute processes on the device, ours and others'
};

/// Power over limit, 0.9 = 90 %; absent where either is, or where the limit is 0.
[[nodiscard]] Reading<double> power_over_limit(const Snapshot& snapshot) noexcept;

}  // namespace flopwatt::telemetry
