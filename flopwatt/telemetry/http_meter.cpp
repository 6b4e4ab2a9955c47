#include "flopwatt/telemetry/http_meter.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "flopwatt/io/json.hpp"
#include "flopwatt/telemetry/logs/cell.hpp"

namespace flopwatt::telemetry {
namespace {

constexpr std::string_view kHttp = "http";

struct Preset {
  std::string_view key;
  std::string_view name;
  std::string_view scheme;
  std::string_view before, after;  ///< the target, around the chassis where there is one
  std::string_view pointer;
  Scope scope;
  bool has_chassis;
};
constexpr std::array kPresets{
    // shelly-api-docs.shelly.cloud/gen1: /status, meters[].power in W.
    Preset{"shelly1", "Shelly plug (first generation)", "http", "/status", "", "/meters/0/power", Scope::external_meter,
           false},
    // shelly-api-docs.shelly.cloud/gen2: Switch.GetStatus, apower in W.
    Preset{"shelly2", "Shelly plug", "http", "/rpc/Switch.GetStatus?id=0", "", "/apower", Scope::external_meter, false},
    // tasmota.github.io/docs/Commands: Status 8 (10 is its newer name), ENERGY.Power in W.
    Preset{"tasmota", "Tasmota plug", "http", "/cm?cmnd=Status%208", "", "/StatusSNS/ENERGY/Power",
           Scope::external_meter, false},
    // DMTF DSP2046, Power (deprecated, but what most controllers have): PowerControl[].PowerConsumedWatts.
    Preset{"redfish-power", "Redfish chassis", "https", "/redfish/v1/Chassis/", "/Power",
           "/PowerControl/0/PowerConsumedWatts", Scope::node, true},
    // DMTF DSP2046, EnvironmentMetrics: PowerWatts.Reading.
    Preset{"redfish-environment", "Redfish chassis", "https", "/redfish/v1/Chassis/", "/EnvironmentMetrics",
           "/PowerWatts/Reading", Scope::node, true},
};

const Preset* preset_of(std::string_view word) {
  const std::string_view key = word.substr(0, word.find(':'));
  for (const Preset& preset : kPresets) {
    if (preset.key == key && key.size() < word.size()) return &preset;
  }
  return nullptr;
}

struct Failure {
  Absence reason = Absence::unknown_error;
  std::string detail;
};
using Answer = tl::expected<std::string, Failure>;

Failure failure_of(httplib::Error error) {
  switch (error) {
    case httplib::Error::Connection:
    case httplib::Error::BindIPAddress:
      return {Absence::not_present, "no connection"};
    case httplib::Error::ConnectionTimeout:
      return {Absence::timed_out, "no connection in time"};
    case httplib::Error::Read:
      return {Absence::timed_out, "no complete answer in time"};
    case httplib::Error::Canceled:
      return {Absence::garbage, "the answer is too long or too slow"};
    case httplib::Error::SSLConnection:
    case httplib::Error::SSLLoadingCerts:
    case httplib::Error::SSLServerVerification:
      return {Absence::no_permission, "the certificate is not trusted"};
    default:
      return {Absence::unknown_error, httplib::to_string(error)};
  }
}

std::optional<Failure> failure_of_status(const httplib::Response& response) {
  const int status = response.status;
  if (status == 200) return std::nullopt;
  if (status == 401 || status == 403) return Failure{Absence::no_permission, fmt::format("answers {}", status)};
  if (status >= 300 && status < 400) {
    return Failure{Absence::garbage, fmt::format("answers {}: a redirect to {}, which is not followed", status,
                                                 base::excerpt(response.get_header_value("Location")))};
  }
  if (status == 404) return Failure{Absence::not_present, "answers 404: no such page"};
  return Failure{Absence::unknown_error, fmt::format("answers {}", status)};
}

class HttpMeter final : public Source {
 public:
  explicit HttpMeter(HttpMeterOptions options) : options_{std::move(options)}, client_{options_.url.origin()} {
    const auto patience = std::chrono::microseconds{std::llround(options_.patience.in(units::microsecond))};
    client_.set_connection_timeout(patience);
    client_.set_read_timeout(patience);
    client_.set_write_timeout(patience);
    client_.set_follow_location(false);
    client_.set_keep_alive(true);
#ifdef CPPHTTPLIB_OPENSSL_SUPPORT
    client_.enable_server_certificate_verification(options_.verify_certificate);
#endif
    if (!options_.bearer_token.empty()) {
      client_.set_bearer_token_auth(options_.bearer_token);
    } else if (!options_.user.empty()) {
      client_.set_basic_auth(options_.user, options_.password);
    }
    DeviceInfo info;
    info.source = kHttp;
    info.name = options_.name;
    info.path = options_.url.origin() + options_.url.target;
    info.scope = options_.scope;
    info.notes.emplace_back("all that hangs at this meter, power supplies included");
    devices_.push_back(std::move(info));
  }

  [[nodiscard]] std::string_view name() const override { return kHttp; }
  [[nodiscard]] std::span<const DeviceInfo> devices() const override { return devices_; }

  Snapshot read(std::size_t /*device*/) override {
    Snapshot snapshot;
    snapshot.power = {Absence::not_asked, PowerKind::unknown, options_.scope};
    const SteadyTime before = steady_now();
    const auto power = ask();
    const SteadyTime after = steady_now();
    snapshot.time = before + (after - before) / 2;
    snapshot.time_error = (after - before) / 2;
    snapshot.wall = wall_now() - (steady_now() - snapshot.time);
    snapshot.power.value = power ? Reading<units::Power>{*power} : Reading<units::Power>{power.error().reason};
    return snapshot;
  }

  /// Power now, or the last attempt's failure.
  tl::expected<units::Power, Failure> ask() {
    Failure last;
    for (int attempt = 0; attempt < std::max(1, options_.attempts); ++attempt) {
      const Answer answer = get();
      if (!answer) {
        last = answer.error();
        // What will not be different a moment later is not asked again.
        if (last.reason != Absence::timed_out && last.reason != Absence::not_present) break;
        continue;
      }
      return power_in(*answer);
    }
    return tl::unexpected{last};
  }

 private:
  Answer get() {
    const SteadyTime deadline = steady_now() + 2 * SteadyTime{std::llround(options_.patience.in(units::second) * 1e9)};
    std::string body;
    const httplib::Result result = client_.Get(options_.url.target, [&](const char* data, std::size_t size) {
      if (body.size() + size > options_.max_bytes || steady_now() > deadline) return false;
      body.append(data, size);
      return true;
    });
    if (!result) return tl::unexpected{failure_of(result.error())};
    if (const auto failure = failure_of_status(*result)) return tl::unexpected{*failure};
    return body;
  }

  tl::expected<units::Power, Failure> power_in(const std::string& body) const {
    const auto garbage = [](std::string detail) {
      return tl::unexpected{Failure{Absence::garbage, std::move(detail)}};
    };
    const Result<io::Json> json = io::parse_json(body, "answer");
    if (!json) return garbage("does not answer with JSON: " + json.error().message());
    const io::Json* value = &*json;
    std::string_view rest = options_.pointer;
    while (!rest.empty()) {
      rest.remove_prefix(1);  // the slash
      const std::string token = unescaped(rest.substr(0, rest.find('/')));
      rest = rest.find('/') == std::string_view::npos ? std::string_view{} : rest.substr(rest.find('/'));
      value = step(*value, token);
      if (value == nullptr) return garbage(fmt::format("the answer has no {}", base::excerpt(options_.pointer)));
    }
    Reading<double> reading = Absence::garbage;
    if (value->is_number()) reading = value->get<double>();
    if (value->is_string()) reading = read_cell(value->get_ref<const std::string&>(), Dimension::number, 1);
    if (value->is_null()) return tl::unexpected{Failure{Absence::not_supported, "the meter has no reading (null)"}};
    if (!reading) return garbage(fmt::format("{} is no number", base::excerpt(options_.pointer)));
    const double watts = *reading * options_.watts_per_unit;
    if (!std::isfinite(watts) || watts < 0 || watts > 1e6) {
      return garbage(fmt::format("{} W cannot be", watts));
    }
    return watts * units::watt;
  }

  static const io::Json* step(const io::Json& value, const std::string& token) {
    if (value.is_object()) {
      const auto found = value.find(token);
      return found == value.end() ? nullptr : &*found;
    }
    if (!value.is_array() || token.empty() || token.size() > 6) return nullptr;
    std::size_t index = 0;
    for (const char c : token) {
      if (c < '0' || c > '9') return nullptr;
      index = 10 * index + static_cast<std::size_t>(c - '0');
    }
    return index < value.size() ? &value[index] : nullptr;
  }

  /// "~1" is '/', "~0" is '~' (RFC 6901).
  static std::string unescaped(std::string_view token) {
    std::string result;
    for (std::size_t i = 0; i < token.size(); ++i) {
      const bool escape = token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
      result += escape ? (token[++i] == '1' ? '/' : '~') : token[i];
    }
    return result;
  }

  HttpMeterOptions options_;
  httplib::Client client_;
  std::vector<DeviceInfo> devices_;
};

}  // namespace

bool is_meter(std::string_view word) {
  return word.starts_with("http://") || word.starts_with("https://") || preset_of(word) != nullptr;
}

std::vector<std::string_view> meter_presets() {
  std::vector<std::string_view> keys;
  for (const Preset& preset : kPresets) keys.push_back(preset.key);
  return keys;
}

base::Result<HttpMeterOptions> parse_meter(std::string_view word) {
  HttpMeterOptions options;
  const Preset* preset = preset_of(word);
  if (preset == nullptr) {
    FLOPWATT_TRY(options.url, parse_http_url(word));
    options.pointer = options.url.fragment;
    options.name = "HTTP meter";
    if (!options.pointer.starts_with('/')) {
      return fail(Errc::usage, "the address does not say where in the answer the power stands", {},
                  "append a JSON pointer, as in http://192.168.1.5/status#/meters/0/power");
    }
    return options;
  }
  std::string_view host = word.substr(preset->key.size() + 1);
  std::string chassis = "1";
  if (const std::size_t slash = host.find('/'); preset->has_chassis && slash != std::string_view::npos) {
    chassis = host.substr(slash + 1);
    host = host.substr(0, slash);
  }
  if (host.find_first_of("/?#") != std::string_view::npos || chassis.find_first_of("/?#") != std::string::npos) {
    return fail(Errc::usage, fmt::format("behind '{}:' stands {} alone", preset->key,
                                         preset->has_chassis ? "HOST or HOST/CHASSIS" : "HOST"));
  }
  const std::string target =
      preset->has_chassis ? fmt::format("{}{}{}", preset->before, chassis, preset->after) : std::string{preset->before};
  FLOPWATT_TRY(options.url, parse_http_url(fmt::format("{}://{}{}", preset->scheme, host, target)));
  options.pointer = preset->pointer;
  options.scope = preset->scope;
  options.name = preset->name;
  return options;
}

void credentials_from_environment(HttpMeterOptions& options) {
  const auto take = [](const char* name, std::string& target) {
    if (const char* value = std::getenv(name); value != nullptr) target = value;
  };
  take("FLOPWATT_METER_USER", options.user);
  take("FLOPWATT_METER_PASSWORD", options.password);
  take("FLOPWATT_METER_TOKEN", options.bearer_token);
}

OpenedSource open_http_meter(const HttpMeterOptions& options) {
  const auto absent = [&](Absence reason, std::string detail, std::string remedy) {
    return tl::unexpected{SourceAbsence{.source = std::string{kHttp},
                                        .reason = reason,
                                        .detail = options.url.origin() + options.url.target + ": " + detail,
                                        .remedy = std::move(remedy)}};
  };
#ifndef CPPHTTPLIB_OPENSSL_SUPPORT
  if (options.url.secure) {
    return absent(Absence::not_supported, "this build's HTTP library has no TLS", "build with a cpp-httplib that has");
  }
#endif
  auto meter = std::make_unique<HttpMeter>(options);
  if (const auto power = meter->ask(); !power) {
    const bool refused = power.error().reason == Absence::no_permission;
    return absent(power.error().reason, power.error().detail,
                  refused ? "set FLOPWATT_METER_USER and FLOPWATT_METER_PASSWORD, or FLOPWATT_METER_TOKEN"
                          : "check the address and that the meter is on");
  }
  return OpenedSource{std::move(meter)};
}

}  // namespace flopwatt::telemetry
