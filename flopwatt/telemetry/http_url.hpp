#pragma once

#include <string>
#include <string_view>

#include "flopwatt/base/result.hpp"

namespace flopwatt::telemetry {

struct HttpUrl {
  bool secure = false;
  std::string host;      ///< without the brackets of an IPv6 address
  int port = 80;         ///< 443 where secure
  std::string target;    ///< path and query, begins with '/'
  std::string fragment;  ///< after '#', percent signs decoded: a JSON pointer

  /// "http://host:port"
  [[nodiscard]] std::string origin() const;
};

/// "http://192.168.1.5/rpc/Switch.GetStatus?id=0#/apower".  Errc::usage for another scheme, a missing host, a port that
/// cannot be, blanks and control characters, and for a name and password in the URL: those come from the environment.
[[nodiscard]] base::Result<HttpUrl> parse_http_url(std::string_view text);

}  // namespace flopwatt::telemetry
