// Any bytes: recorded telemetry or an error; what was read is written and read back unchanged, and its energy is never
// negative, never without a number behind it, and never of more time than there was.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/trace_csv.hpp"

namespace {

using namespace flopwatt;

void check_energy(const telemetry::Trace& trace) {
  for (const bool use_counter : {true, false}) {
    const telemetry::WindowEnergy energy = telemetry::energy_of(trace, {.use_counter = use_counter});
    FLOPWATT_CHECK(energy.uncertainty >= units::Energy{});
    FLOPWATT_CHECK(energy.covered <= energy.duration * (1 + 1e-9));
    if (energy.energy) {
      FLOPWATT_CHECK(*energy.energy >= units::Energy{} && std::isfinite(energy.energy->in(units::joule)));
      FLOPWATT_CHECK(energy.method != telemetry::EnergyMethod::none && energy.mean_power);
    }
    for (const telemetry::Gap& gap : energy.gaps) FLOPWATT_CHECK(gap.from < gap.to);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto traces = telemetry::read_trace_csv(text, "fuzz.csv");
  if (!traces) {
    FLOPWATT_CHECK(traces.error().code == base::Errc::bad_data && traces.error().message().starts_with("fuzz.csv"));
    return 0;
  }
  for (const telemetry::Trace& trace : *traces) check_energy(trace);
  const std::string written = telemetry::write_trace_csv(*traces);
  const auto again = telemetry::read_trace_csv(written, "again.csv");
  FLOPWATT_CHECK(again.has_value());
  FLOPWATT_CHECK(telemetry::write_trace_csv(*again) == written);
  return 0;
}
