#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/device/derive.hpp"

/// Whatever is given as a device name or a derivation: a device, or one line that says what is wrong.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt;
  static const auto catalogue = device::Catalogue::shipped();
  FLOPWATT_CHECK(catalogue.has_value());
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto found = catalogue->find(text);
  const auto all = catalogue->find_all(text);
  FLOPWATT_CHECK(found.has_value() == (all.size() == 1));
  FLOPWATT_CHECK(catalogue->resolve(text).has_value() == !all.empty());
  if (!found) FLOPWATT_CHECK(found.error().message().find('\n') == std::string::npos);
  if (const auto request = device::parse_derive(text)) {
    if (const auto derived = device::derive(*request)) FLOPWATT_CHECK(!derived->peaks.empty());
  }
  return 0;
}
