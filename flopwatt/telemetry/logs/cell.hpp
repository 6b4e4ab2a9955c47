#pragma once

#include <cstdint>
#include <string_view>

#include "flopwatt/telemetry/reading.hpp"

namespace flopwatt::telemetry {

/// What a column of a log holds, and with it the base unit of its numbers.
enum class Dimension : std::uint8_t { number, power, energy, data_size, frequency, fraction, temperature };

/// What the tools write where they have no value, as a reason; `unknown_error` for an empty cell.  Not an absence:
/// Absence::not_asked.
///
/// "[N/A]", "N/A", "NA", "-", "[Not Supported]" → not_supported; "[Unknown Error]", "ERR!", "" → unknown_error;
/// "[GPU is lost]", "[Reset required]" → device_lost; "[Insufficient Permissions]" → no_permission;
/// "N/A (Secondary die)" → in_other_reading.
[[nodiscard]] Absence absence_of(std::string_view cell) noexcept;

/// The factor from a unit to the base unit of its dimension (W, J, B, Hz, 1), 0 for a unit that is not of it.  "%" is
/// 0.01, °C stays; case matters where it does in the SI (mW, MW).
[[nodiscard]] double unit_factor(Dimension dimension, std::string_view unit) noexcept;

/// How the numbers of a file are written.
struct NumberStyle {
  bool decimal_comma = false;  ///< "11,17": only where the comma does not part the columns
};

/// A cell as a number in the base unit: its own unit if it carries one ("11.17 W", "8188MiB"), else `header_factor`.
/// Absent: the reason that it states; garbage for text that is no number, an unknown unit, NaN and infinity.
[[nodiscard]] Reading<double> read_cell(std::string_view cell, Dimension dimension, double header_factor,
                                        NumberStyle style = {}) noexcept;

}  // namespace flopwatt::telemetry
