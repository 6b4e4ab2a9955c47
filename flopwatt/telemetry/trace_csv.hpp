#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/trace.hpp"

namespace flopwatt::telemetry {

/// Our own format of recorded telemetry: a CSV of one row for each snapshot, all devices in one file, in base units. A
/// cell holds a number, or the reason why there is none ("not_supported", "device_lost", …); empty is not_asked.
/// Columns, in the order they are written; a reader needs time_seconds and device, the others may be missing:
///
///   time_seconds, unix_time_seconds, time_error_seconds   steady clock, wall clock, half of how long reading took
///   device, source, vendor, name, uuid, pci_id, scope     who it is; `device` tells the rows of one from another's
///   power_watts, power_kind, power_scope, energy_joules, module_power_watts, limit_watts, utilization, tensor_active,
///   memory_used_bytes, memory_total_bytes, compute_clock_hertz, memory_clock_hertz, temperature_celsius, processes
///   counter_range_joules, counter_resolution_joules, counter_period_seconds, averaging_window_seconds, sensor_duty,
///   part_of                                               traits, equal in all rows of a device
class TraceCsvWriter {
 public:
  TraceCsvWriter();
  TraceCsvWriter(const TraceCsvWriter&) = delete;
  TraceCsvWriter& operator=(const TraceCsvWriter&) = delete;
  ~TraceCsvWriter();

  /// `part_of`: id() of the device that includes this one, or empty.
  void add(const DeviceInfo& device, const Snapshot& snapshot, std::string_view part_of = {});
  /// What was added since the last call, the header first: for appending to a file while it is recorded.
  [[nodiscard]] std::string take();

 private:
  std::string pending_;
};

/// The traces as one file, in the order of the devices.
[[nodiscard]] std::string write_trace_csv(std::span<const Trace> traces);

/// Reads what the writer wrote, one trace for each device in the order of their appearance.  A file that a kill cut off
/// is read up to its last whole row.  Errc::bad_data at "WHERE:LINE" for what is no such table, for a time that runs
/// backwards within a device, and for numbers that cannot be (negative power, a fraction above 1, infinities).
[[nodiscard]] base::Result<std::vector<Trace>> read_trace_csv(std::string_view text, std::string_view where);

}  // namespace flopwatt::telemetry
