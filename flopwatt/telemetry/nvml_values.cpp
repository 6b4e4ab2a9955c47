#include "flopwatt/telemetry/nvml_values.hpp"

#include <cmath>
#include <cstring>
#include <optional>

namespace flopwatt::telemetry::nvml {
namespace {

// Beyond these a number is an error code, a negative number or noise: the largest module known draws 2.9 kW (GB300).
constexpr double kMostMilliwatts = 20e6;
constexpr double kMostMillijoules = 1e15;  // thirty years at 1 kW
constexpr std::uint32_t kMostMegahertz = 20'000;
constexpr std::uint32_t kMostCelsius = 200;

Reading<units::Power> watts(double milliwatts) {
  if (!std::isfinite(milliwatts) || milliwatts < 0 || milliwatts > kMostMilliwatts) return Absence::garbage;
  return milliwatts * units::milliwatt;
}

std::optional<double> number(const FieldValue& field) {
  switch (field.type) {
    case kDouble:
      return field.value.real;
    case kUnsignedInt:
      return field.value.uint32;
    case kUnsignedLong:
    case kUnsignedLongLong:
      return static_cast<double>(field.value.uint64);
    case kSignedLongLong:
      return static_cast<double>(field.value.int64);
    case kSignedInt:
      return field.value.int32;
    default:
      return std::nullopt;
  }
}

}  // namespace

Reading<units::Power> power_usage(const Library& library, Device device) {
  std::uint32_t milliwatts = 0;
  if (const auto done = call(library.power, device, &milliwatts); !done) return done.reason();
  return watts(milliwatts);
}

Reading<units::Power> power_field(const Library& library, Device device, std::uint32_t field, std::uint32_t scope) {
  FieldValue value{};
  value.field = field;
  value.scope = scope;
  if (const auto done = call(library.fields, device, 1, &value); !done) return done.reason();
  if (value.result != kSuccess) {
    // A driver that does not know the field calls it an invalid argument.
    return value.result == kInvalidArgument ? Absence::not_supported : nvml_absence(value.result);
  }
  const std::optional<double> milliwatts = number(value);
  return milliwatts ? watts(*milliwatts) : Absence::garbage;
}

Reading<units::Energy> total_energy(const Library& library, Device device) {
  std::uint64_t millijoules = 0;
  if (const auto done = call(library.energy, device, &millijoules); !done) return done.reason();
  const auto value = static_cast<double>(millijoules);
  if (value > kMostMillijoules) return Absence::garbage;
  return value * 1e-3 * units::joule;
}

Reading<units::Power> power_limit(const Library& library, Device device) {
  std::uint32_t milliwatts = 0;
  if (const auto done = call(library.limit, device, &milliwatts); !done) return done.reason();
  if (milliwatts == 0) return Absence::not_supported;
  return watts(milliwatts);
}

Reading<double> utilization(const Library& library, Device device) {
  Utilization percent{};
  if (const auto done = call(library.utilization, device, &percent); !done) return done.reason();
  if (percent.gpu > 100) return Absence::garbage;
  return 0.01 * percent.gpu;
}

Reading<Memory> memory(const Library& library, Device device) {
  Memory bytes{};
  if (const auto done = call(library.memory, device, &bytes); !done) return done.reason();
  if (bytes.total == 0 || bytes.used > bytes.total) return Absence::garbage;
  return bytes;
}

Reading<units::Frequency> clock(const Library& library, Device device, std::uint32_t which) {
  std::uint32_t megahertz = 0;
  if (const auto done = call(library.clock, device, which, &megahertz); !done) return done.reason();
  if (megahertz > kMostMegahertz) return Absence::garbage;
  return static_cast<double>(megahertz) * units::megahertz;
}

Reading<double> temperature(const Library& library, Device device) {
  std::uint32_t celsius = 0;
  if (const auto done = call(library.temperature, device, kTemperatureGpu, &celsius); !done) return done.reason();
  if (celsius > kMostCelsius) return Absence::garbage;
  return static_cast<double>(celsius);
}

Reading<std::uint32_t> process_count(const Library& library, Device device) {
  if (library.processes == nullptr) return Absence::missing_symbol;
  // Asked with no room, it says how many there are.
  std::uint32_t count = 0;
  const std::uint32_t code = library.processes(device, &count, nullptr);
  if (code != kSuccess && code != kInsufficientSize) return nvml_absence(code);
  return count;
}

}  // namespace flopwatt::telemetry::nvml
