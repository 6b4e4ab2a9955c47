#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "flopwatt/base/check.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/device/peak.hpp"

/// Whatever is given as a catalogue file: devices whose every peak is positive and finite and can be asked for, or one
/// line that says what is wrong.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt;
  const std::string text{reinterpret_cast<const char*>(data), size};
  const auto catalogue = device::Catalogue::parse(std::vector<device::Document>{{"fuzz.json", text}});
  if (!catalogue) {
    FLOPWATT_CHECK(catalogue.error().code == Errc::bad_data);
    FLOPWATT_CHECK(catalogue.error().message().find('\n') == std::string::npos);
    return 0;
  }
  for (const device::Device& entry : catalogue->devices()) {
    for (const device::Peak& peak : entry.peaks) {
      const double rate = peak.rate.in(units::flop_per_second);
      FLOPWATT_CHECK(rate > 0 && std::isfinite(rate) && !peak.sources.empty());
      FLOPWATT_CHECK(device::peak(entry, peak.precision, {peak.path, peak.accumulate}).has_value());
    }
    (void)catalogue->resolve(entry.family);
  }
  return 0;
}
