#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/telemetry/http_url.hpp"
#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

/// A meter that answers an HTTP GET with JSON: a smart plug, a baseboard controller.
struct HttpMeterOptions {
  HttpUrl url;
  std::string pointer;        ///< RFC 6901: where in the answer the power stands, a number or a text of one
  double watts_per_unit = 1;  ///< of that number
  Scope scope = Scope::external_meter;
  std::string name;                               ///< "Shelly plug", …
  units::Duration patience = 3 * units::second;   ///< for connecting, and again for the whole answer
  int attempts = 2;                               ///< of one reading, before it is absent
  std::size_t max_bytes = std::size_t{1} << 20U;  ///< a longer answer is none
  /// Basic authentication.  For whoever fills this in: from the environment only (credentials_from_environment).
  std::string user, password;
  std::string bearer_token;
  bool verify_certificate = true;
};

/// "http://…#/pointer", or a preset with an address: "shelly1:HOST", "shelly2:HOST", "tasmota:HOST",
/// "redfish-power:HOST/CHASSIS", "redfish-environment:HOST/CHASSIS" (https; CHASSIS is 1 where it is left out).
/// Errc::usage for an address that is none, or one without a pointer.
[[nodiscard]] base::Result<HttpMeterOptions> parse_meter(std::string_view word);
/// Whether a word is one that parse_meter is for: an address or a preset.
[[nodiscard]] bool is_meter(std::string_view word);
/// The presets, for messages.
[[nodiscard]] std::vector<std::string_view> meter_presets();

/// FLOPWATT_METER_USER, FLOPWATT_METER_PASSWORD, FLOPWATT_METER_TOKEN, where they are set.
void credentials_from_environment(HttpMeterOptions& options);

/// Asks once, and is absent if that gives no power: not_present (no connection, no such page), no_permission (401,
/// 403), timed_out, garbage (a redirect, no JSON, no number at the pointer), not_supported (https where the HTTP
/// library of this build cannot).  Later failures are absent readings.  Redirects are not followed: credentials would
/// go along.
[[nodiscard]] OpenedSource open_http_meter(const HttpMeterOptions& options);

}  // namespace flopwatt::telemetry
