#pragma once

#include <cstdint>
#include <string_view>

#include "flopwatt/telemetry/logs/cell.hpp"
#include "flopwatt/telemetry/reading.hpp"

namespace flopwatt::telemetry {

/// What a column or key of a log says about a sample.
enum class SampleField : std::uint8_t {
  none,
  power,
  energy,
  limit,
  utilization,
  tensor_active,
  memory_used,
  memory_total,
  compute_clock,
  memory_clock,
  temperature,
};

[[nodiscard]] Dimension dimension_of(SampleField field) noexcept;

/// Puts a value in base units into its place; `kind` and `scope` are of a power.
void set_field(Snapshot& sample, SampleField field, const Reading<double>& value, PowerKind kind = PowerKind::unknown,
               Scope scope = Scope::device);

}  // namespace flopwatt::telemetry
