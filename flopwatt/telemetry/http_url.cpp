#include "flopwatt/telemetry/http_url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace flopwatt::telemetry {
namespace {

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      result += static_cast<char>(16 * hex(text[i + 1]) + hex(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

bool all_of(std::string_view text, std::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    const bool letter_or_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter_or_digit || others.find(c) != std::string_view::npos;
  });
}

tl::unexpected<Error> refused(std::string_view text, std::string what, std::string remedy = {}) {
  return fail(Errc::usage, fmt::format("\"{}\": {}", base::excerpt(text), what), {}, std::move(remedy));
}

}  // namespace

std::string HttpUrl::origin() const {
  const bool ipv6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", secure ? "https" : "http", ipv6 ? "[" : "", host, ipv6 ? "]" : "", port);
}

base::Result<HttpUrl> parse_http_url(std::string_view text) {
  HttpUrl url;
  std::string_view rest = text;
  const bool odd =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
  if (odd) return refused(text, "holds blanks or control characters");
  if (rest.starts_with("https://")) {
    url.secure = true;
    url.port = 443;
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
  } else {
    return refused(text, "is no http:// or https:// address");
  }
  if (const std::size_t hash = rest.find('#'); hash != std::string_view::npos) {
    url.fragment = decoded(rest.substr(hash + 1));
    rest = rest.substr(0, hash);
  }
  const std::size_t path = std::min(rest.find_first_of("/?"), rest.size());
  url.target = path == rest.size() ? "/" : std::string{rest.substr(path)};
  if (url.target.front() == '?') url.target.insert(0, "/");
  std::string_view authority = rest.substr(0, path);
  if (authority.find('@') != std::string_view::npos) {
    return fail(Errc::usage, "an address must not hold a name or password", {},
                "put them into FLOPWATT_METER_USER and FLOPWATT_METER_PASSWORD");
  }
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t close = authority.find(']');
    if (close == std::string_view::npos) return refused(text, "its bracket is not closed");
    url.host = authority.substr(1, close - 1);
    const bool address =
        url.host.find(':') != std::string::npos && all_of(url.host, ":.%-_~");  // with a zone: RFC 6874
    if (!address) return refused(text, "there is no IPv6 address in its brackets");
    authority.remove_prefix(close + 1);
    if (!authority.empty() && authority.front() != ':') return refused(text, "has text after its host");
    port = authority.empty() ? authority : authority.substr(1);
    if (!authority.empty() && port.empty()) return refused(text, "its port is empty");
  } else {
    const std::size_t colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (!all_of(url.host, "-._")) return refused(text, "its host is no name and no address");
    if (colon != std::string_view::npos) {
      port = authority.substr(colon + 1);
      if (port.empty()) return refused(text, "its port is empty");
    }
  }
  if (url.host.empty()) return refused(text, "has no host");
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
    if (error != std::errc{} || end != port.data() + port.size() || url.port < 1 || url.port > 65535) {
      return refused(text, "its port is not between 1 and 65535");
    }
  }
  return url;
}

}  // namespace flopwatt::telemetry
