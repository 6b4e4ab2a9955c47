// Logs of other tools: whatever the bytes, an Error or traces in the order of time whose energy is finite and not
// negative.  The first byte chooses the format, so that every importer is reached whatever recognition says.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/logs/log.hpp"

using namespace flopwatt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  telemetry::LogOptions options{.interval = 1 * units::second};
  constexpr std::uint8_t kFormats = 64;
  if (data[0] < kFormats) options.format = telemetry::log_format(data[0]);
  const std::string_view text{reinterpret_cast<const char*>(data + 1), size - 1};
  const Result<telemetry::Log> log = telemetry::read_log(text, "fuzz.log", options);
  if (!log) {
    FLOPWATT_CHECK(log.error().code == Errc::bad_data && !log.error().message().empty());
    return 0;
  }
  FLOPWATT_CHECK(!log->traces.empty());
  for (const telemetry::Trace& trace : log->traces) {
    FLOPWATT_CHECK(!trace.empty() && trace.dropped() == 0);
    for (std::size_t i = 1; i < trace.size(); ++i) FLOPWATT_CHECK(trace[i - 1].time <= trace[i].time);
    const telemetry::WindowEnergy energy = telemetry::energy_of(trace);
    if (!energy.energy) continue;
    const double joules = energy.energy->in(units::joule);
    FLOPWATT_CHECK(std::isfinite(joules) && joules >= 0);
  }
  return 0;
}
