#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/logs/log.hpp"
#include "flopwatt/telemetry/logs/sample_field.hpp"
#include "flopwatt/telemetry/logs/text_line.hpp"

/// Tables with one row for each device and time: what most tools write, in different dress.

namespace flopwatt::telemetry {

struct TableColumn {
  enum class Role : std::uint8_t { other, stamp, date, time, device, part, name, value };
  Role role = Role::other;
  SampleField field = SampleField::none;
  double factor = 1;  ///< of a bare number, to the base unit
  PowerKind kind = PowerKind::unknown;
  /// Of several columns of power the one of the lowest rank is read; with LogOptions::instant an instant one first.
  int rank = 0;
};

struct TableFormat {
  LogFormat format{};
  std::string_view vendor;
  enum class Cut : std::uint8_t {
    delimiter,   ///< fields between commas, semicolons or tabs; the header is the first line that is one
    words,       ///< words between blanks; header and comments begin with '#' (nvidia-smi dmon)
    dcgm_words,  ///< the same, where two words name a device ("GPU 0") and a line of units begins with "ID"
  };
  Cut cut = Cut::delimiter;
  /// What a title means.
  TableColumn (*column)(std::string_view title) = nullptr;
  /// Whether a line is the header.
  bool (*is_header)(std::string_view line) = nullptr;
  /// Scope of a row that names a part (a tile) of its device.
  Scope part_scope = Scope::partition;
};

[[nodiscard]] Result<Log> read_table(const TableFormat& format, std::span<const Line> lines, std::string_view where,
                                     const LogOptions& options);

/// nvidia-smi dmon; dcgmi dmon; xpu-smi dump; amd-smi … --csv; rocm-smi … --csv
[[nodiscard]] const TableFormat& nvidia_dmon_format();
[[nodiscard]] const TableFormat& dcgmi_dmon_format();
[[nodiscard]] const TableFormat& xpu_smi_format();
[[nodiscard]] const TableFormat& amd_smi_csv_format();
[[nodiscard]] const TableFormat& rocm_smi_csv_format();

}  // namespace flopwatt::telemetry
