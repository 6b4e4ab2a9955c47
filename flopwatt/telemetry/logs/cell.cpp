#include "flopwatt/telemetry/logs/cell.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>

#include "flopwatt/telemetry/logs/text_line.hpp"

namespace flopwatt::telemetry {
namespace {

struct Unit {
  Dimension dimension;
  std::string_view name;
  double factor;
};
// As the tools write them: nvidia-smi (W, %, MiB, MHz), rocm-smi and amd-smi (W, J, uJ, MB, B, C), xpu-smi (W, J, MiB,
// Celsius Degree), DCGM (W, mJ, MB, C), Prometheus names (watts, joules, bytes).
constexpr std::array kUnits{
    Unit{Dimension::power, "W", 1},
    Unit{Dimension::power, "mW", 1e-3},
    Unit{Dimension::power, "uW", 1e-6},
    Unit{Dimension::power, "kW", 1e3},
    Unit{Dimension::power, "watts", 1},
    Unit{Dimension::energy, "J", 1},
    Unit{Dimension::energy, "mJ", 1e-3},
    Unit{Dimension::energy, "uJ", 1e-6},
    Unit{Dimension::energy, "kJ", 1e3},
    Unit{Dimension::energy, "Wh", 3600},
    Unit{Dimension::energy, "kWh", 3.6e6},
    Unit{Dimension::energy, "joules", 1},
    Unit{Dimension::data_size, "B", 1},
    Unit{Dimension::data_size, "KiB", 1024},
    Unit{Dimension::data_size, "MiB", 1048576},
    Unit{Dimension::data_size, "GiB", 1073741824},
    Unit{Dimension::data_size, "kB", 1e3},
    Unit{Dimension::data_size, "MB", 1e6},
    Unit{Dimension::data_size, "GB", 1e9},
    Unit{Dimension::frequency, "Hz", 1},
    Unit{Dimension::frequency, "kHz", 1e3},
    Unit{Dimension::frequency, "MHz", 1e6},
    Unit{Dimension::frequency, "Mhz", 1e6},
    Unit{Dimension::frequency, "GHz", 1e9},
    Unit{Dimension::fraction, "%", 0.01},
    Unit{Dimension::temperature, "C", 1},
    Unit{Dimension::temperature, "c", 1},
    Unit{Dimension::temperature, "°C", 1},
    Unit{Dimension::temperature, "Celsius", 1},
    Unit{Dimension::temperature, "Celsius Degree", 1},
};

}  // namespace

Absence absence_of(std::string_view cell) noexcept {
  cell = trimmed(cell);
  if (cell.size() >= 2 && cell.front() == '[' && cell.back() == ']') cell = trimmed(cell.substr(1, cell.size() - 2));
  if (cell.empty() || same_letters(cell, "unknown error") || same_letters(cell, "err!") || cell == "ERR")
    return Absence::unknown_error;
  if (same_letters(cell, "n/a") || same_letters(cell, "na") || cell == "-" || same_letters(cell, "not supported") ||
      same_letters(cell, "none") || same_letters(cell, "null"))
    return Absence::not_supported;
  if (same_letters(cell, "gpu is lost") || same_letters(cell, "gpu requires reset") ||
      same_letters(cell, "reset required"))
    return Absence::device_lost;
  if (same_letters(cell, "insufficient permissions") || same_letters(cell, "no permission"))
    return Absence::no_permission;
  if (same_letters(cell, "not found")) return Absence::not_present;
  if (same_letters(cell, "timeout")) return Absence::timed_out;
  if (contains_letters(cell, "secondary die")) return Absence::in_other_reading;
  return Absence::not_asked;
}

double unit_factor(Dimension dimension, std::string_view unit) noexcept {
  for (const Unit& known : kUnits) {
    if (known.dimension == dimension && known.name == unit) return known.factor;
  }
  return 0;
}

Reading<double> read_cell(std::string_view cell, Dimension dimension, double header_factor,
                          NumberStyle style) noexcept {
  cell = trimmed(cell);
  if (const Absence reason = absence_of(cell); reason != Absence::not_asked) return reason;
  std::array<char, 64> digits{};
  std::size_t n = 0;
  bool comma = false;
  for (; n < cell.size() && n < digits.size(); ++n) {
    const char c = cell[n];
    if ((c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+') {
      digits[n] = c;
    } else if (c == ',' && style.decimal_comma && !comma) {
      comma = true;
      digits[n] = '.';
    } else if ((c == 'e' || c == 'E') && n > 0 && n + 1 < cell.size() &&
               (cell[n + 1] == '+' || cell[n + 1] == '-' || (cell[n + 1] >= '0' && cell[n + 1] <= '9'))) {
      digits[n] = c;
    } else {
      break;
    }
  }
  if (n == 0 || n == digits.size()) return Absence::garbage;
  const char* begin = digits.data() + (digits[0] == '+' ? 1 : 0);
  double value = 0;
  const auto [end, error] = std::from_chars(begin, digits.data() + n, value);
  if (error != std::errc{} || end != digits.data() + n || !std::isfinite(value)) return Absence::garbage;
  const std::string_view unit = trimmed(cell.substr(n));
  const double factor = unit.empty() ? header_factor : unit_factor(dimension, unit);
  if (factor == 0 || !std::isfinite(value * factor)) return Absence::garbage;
  return value * factor;
}

}  // namespace flopwatt::telemetry
