#pragma once

#include <string>
#include <string_view>

#include "flopwatt/answers/monitor.hpp"

/// What `flopwatt monitor` shows and serves of one look at the devices.

namespace flopwatt::report {

/// A table for a terminal, one line a device.
[[nodiscard]] std::string monitor_table(const answers::MonitorFrame& frame);
/// The same for a log: one line a device, each with its time.
[[nodiscard]] std::string monitor_lines(const answers::MonitorFrame& frame);
/// One JSON object a device, each on a line of its own; `absent` has the reasons.
[[nodiscard]] std::string monitor_jsonl(const answers::MonitorFrame& frame);

enum class MetricsFormat : std::uint8_t {
  prometheus,    ///< text exposition 0.0.4, also for node_exporter's textfile collector
  open_metrics,  ///< OpenMetrics 1.0
};
/// Base units, prefix flopwatt_, scope as a label; what is absent is left out, and stands as
/// flopwatt_reading_absent{reading,reason} 1.
[[nodiscard]] std::string monitor_metrics(const answers::MonitorFrame& frame, MetricsFormat format);

}  // namespace flopwatt::report
