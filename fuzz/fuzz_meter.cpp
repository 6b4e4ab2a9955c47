// What names a meter that answers over HTTP: an address with a host, a port and a pointer, or an error of usage.

#include <algorithm>
#include <string>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/telemetry/http_meter.hpp"
#include "flopwatt/telemetry/http_url.hpp"

using namespace flopwatt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  if (const auto url = telemetry::parse_http_url(text)) {
    FLOPWATT_CHECK(!url->host.empty() && url->port >= 1 && url->port <= 65535 && url->target.starts_with('/'));
    // Neither a request's first line nor its Host may be broken up by what was typed.
    const auto splits = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    FLOPWATT_CHECK(std::none_of(url->target.begin(), url->target.end(), splits));
    FLOPWATT_CHECK(std::none_of(url->host.begin(), url->host.end(), splits));
    const auto again = telemetry::parse_http_url(url->origin() + url->target);
    FLOPWATT_CHECK(again && again->origin() == url->origin() && again->target == url->target);
  } else {
    FLOPWATT_CHECK(url.error().code == Errc::usage);
  }
  if (const auto meter = telemetry::parse_meter(text)) {
    FLOPWATT_CHECK(telemetry::is_meter(text) && meter->pointer.starts_with('/'));
  } else {
    FLOPWATT_CHECK(meter.error().code == Errc::usage);
  }
  return 0;
}
