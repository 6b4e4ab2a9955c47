#pragma once

#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/log.hpp"

namespace flopwatt::telemetry {

/// The answer of Prometheus' /api/v1/query_range, or its "data": a matrix of series.
///
/// Series of one device are joined: by the label UUID (dcgm-exporter), else by host and gpu.  Metrics: those of
/// dcgm-exporter, AMD's device-metrics-exporter, nvidia_gpu_exporter and node_exporter's RAPL, and any whose name ends
/// in _watts or _joules(_total).  A series without a name, as functions leave them, is refused: power or a rate of
/// energy cannot be told apart.
[[nodiscard]] Result<Log> read_prometheus_json(std::string_view text, std::string_view where,
                                               const LogOptions& options);

}  // namespace flopwatt::telemetry
