#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/text.hpp"

/// Whatever text is given as a quantity: a finite value, or one line that says what is wrong.
template <class T>
static void check(const flopwatt::Result<T>& result, T unit) {
  if (result) {
    const double value = result->in(unit);
    FLOPWATT_CHECK(value - value == 0);
    FLOPWATT_CHECK(!flopwatt::units::to_text(*result).empty());
  } else {
    FLOPWATT_CHECK(result.error().message().find('\n') == std::string::npos);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt::units;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  check(parse_duration(text), second);
  check(parse_energy(text), joule);
  check(parse_power(text), watt);
  check(parse_data_size(text), byte);
  check(parse_bandwidth(text), byte_per_second);
  check(parse_flop_rate(text), flop_per_second);
  return 0;
}
