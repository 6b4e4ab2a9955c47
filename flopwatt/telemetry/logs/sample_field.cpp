#include "flopwatt/telemetry/logs/sample_field.hpp"

namespace flopwatt::telemetry {
namespace {

template <class Unit>
Reading<Unit> quantity(const Reading<double>& value, Unit unit) {
  return value ? Reading<Unit>{*value * unit} : Reading<Unit>{value.reason()};
}

}  // namespace

Dimension dimension_of(SampleField field) noexcept {
  switch (field) {
    case SampleField::power:
    case SampleField::limit:
      return Dimension::power;
    case SampleField::energy:
      return Dimension::energy;
    case SampleField::utilization:
    case SampleField::tensor_active:
      return Dimension::fraction;
    case SampleField::memory_used:
    case SampleField::memory_total:
      return Dimension::data_size;
    case SampleField::compute_clock:
    case SampleField::memory_clock:
      return Dimension::frequency;
    case SampleField::temperature:
      return Dimension::temperature;
    case SampleField::none:
      break;
  }
  return Dimension::number;
}

void set_field(Snapshot& sample, SampleField field, const Reading<double>& value, PowerKind kind, Scope scope) {
  switch (field) {
    case SampleField::power:
      sample.power = {quantity(value, units::watt), kind, scope};
      break;
    case SampleField::energy:
      sample.energy = quantity(value, units::joule);
      break;
    case SampleField::limit:
      sample.limit = quantity(value, units::watt);
      if (value && *value <= 0) sample.limit = Absence::not_supported;
      break;
    case SampleField::utilization:
      sample.utilization = value;
      break;
    case SampleField::tensor_active:
      sample.tensor_active = value;
      break;
    case SampleField::memory_used:
      sample.memory_used = quantity(value, units::byte);
      break;
    case SampleField::memory_total:
      sample.memory_total = quantity(value, units::byte);
      break;
    case SampleField::compute_clock:
      sample.compute_clock = quantity(value, units::hertz);
      break;
    case SampleField::memory_clock:
      sample.memory_clock = quantity(value, units::hertz);
      break;
    case SampleField::temperature:
      sample.temperature_celsius = value;
      break;
    case SampleField::none:
      break;
  }
}

}  // namespace flopwatt::telemetry
