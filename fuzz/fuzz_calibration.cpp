// Calibration files: whatever the bytes, an Error or a calibration that is written the same twice and answers a query.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/power/calibration.hpp"
#include "flopwatt/power/predict.hpp"
#include "flopwatt/power/prior.hpp"

using namespace flopwatt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  (void)power::read_prior(text, "fuzz.json");
  const auto calibration = power::read_calibration(text, "fuzz.json");
  if (!calibration) {
    FLOPWATT_CHECK(calibration.error().code == Errc::bad_data);
    return 0;
  }
  const std::string once = power::write_calibration(*calibration);
  const auto again = power::read_calibration(once, "again.json");
  FLOPWATT_CHECK(again.has_value());
  FLOPWATT_CHECK(power::write_calibration(*again) == once);

  power::Query query;
  query.batch = 1;
  query.sequence = 11;
  query.traffic = power::Traffic{1e11 * units::byte_per_second, 1e10 * units::byte_per_second};
  for (const power::Peak& peak : calibration->peaks) {
    query.dtype = peak.dtype;
    query.flops = 0.3 * peak.rate;
    const auto prediction = power::predict(*calibration, query);
    if (!prediction) FLOPWATT_CHECK(!prediction.error().message().empty());
  }
  return 0;
}
