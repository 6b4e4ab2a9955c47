#pragma once

#include <span>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/log.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"

namespace flopwatt::telemetry {

/// Whether a line is the header of `nvidia-smi --query-gpu=… --format=csv`: it names a property with a dot in it, as
/// only that tool does.
[[nodiscard]] bool is_nvidia_smi_header(std::string_view line);
/// Whether a line looks like a row of it: nvidia-smi's own date, or a cell in watts.
[[nodiscard]] bool is_nvidia_smi_row(std::string_view line);

[[nodiscard]] Result<Log> read_nvidia_smi_csv(std::span<const Line> lines, std::string_view where,
                                              const LogOptions& options);

/// How the sensor of an NVIDIA device behaves whose driver's name this is.
[[nodiscard]] SensorTraits nvidia_sensor(std::string_view name, PowerKind kind);
/// What `power.draw` means on a device of this name: the mean of a second from Ampere on except on GA100, the sensor's
/// last value before (nvidia-smi --help-query-gpu); unknown for a name that is not known.
[[nodiscard]] PowerKind nvidia_power_kind(std::string_view name);

}  // namespace flopwatt::telemetry
