#include "flopwatt/telemetry/http_meter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace flopwatt::telemetry {
namespace {

using ::testing::HasSubstr;
using units::watt;

/// A meter on this machine that says what a test wants.
class HttpMeterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.Get("/rpc/Switch.GetStatus", [this](const httplib::Request& request, httplib::Response& response) {
      ++requests_;
      authorization_ = request.get_header_value("Authorization");
      if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
      if (failures_ > 0) {
        --failures_;
        response.status = 503;
        return;
      }
      response.status = status_;
      if (!location_.empty()) response.set_header("Location", location_);
      response.set_content(body_, "application/json");
    });
    server_.Get("/elsewhere", [this](const httplib::Request&, httplib::Response&) { ++followed_; });
    server_.Get(R"(/redfish/v1/Chassis/(\w+)/Power)", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(
          R"({"Name": ")" + request.matches[1].str() + R"(", "PowerControl": [{"PowerConsumedWatts": 344}]})",
          "application/json");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    ASSERT_GT(port_, 0);
    thread_ = std::thread{[this] { server_.listen_after_bind(); }};
    while (!server_.is_running()) std::this_thread::yield();
  }
  void TearDown() override {
    server_.stop();
    thread_.join();
  }

  HttpMeterOptions options(const std::string& tail = "/rpc/Switch.GetStatus?id=0#/apower") const {
    auto parsed = parse_meter("http://127.0.0.1:" + std::to_string(port_) + tail);
    EXPECT_TRUE(parsed) << parsed.error().message();
    parsed->patience = 0.3 * units::second;
    return *parsed;
  }
  Reading<units::Power> power() const { return power(options()); }
  static Reading<units::Power> power(const HttpMeterOptions& options) {
    const OpenedSource source = open_http_meter(options);
    return source ? (*source)->read(0).power.value : Reading<units::Power>{source.error().reason};
  }

  httplib::Server server_;
  std::thread thread_;
  int port_ = 0;
  std::atomic<int> requests_ = 0, failures_ = 0, followed_ = 0;
  int status_ = 200;
  std::chrono::milliseconds delay_{0};
  std::string body_ = R"({"id": 0, "output": true, "apower": 106.3, "aenergy": {"total": 267.813}})";
  std::string location_, authorization_;
};

TEST_F(HttpMeterTest, ReadsTheNumberAtThePointer) {
  const OpenedSource source = open_http_meter(options());
  ASSERT_TRUE(source) << source.error().detail;
  ASSERT_EQ((*source)->devices().size(), 1U);
  EXPECT_EQ((*source)->devices()[0].scope, Scope::external_meter);
  const Snapshot snapshot = (*source)->read(0);
  EXPECT_DOUBLE_EQ(snapshot.power.value->in(watt), 106.3);
  EXPECT_GT(snapshot.time_error.count(), 0);
  EXPECT_LT(std::abs((wall_now() - snapshot.wall).count()), 5'000'000'000);
}

TEST_F(HttpMeterTest, UnitsTextsAndEscapes) {
  body_ = R"({"a/b": [0, {"m~n": "1500"}]})";
  HttpMeterOptions milliwatts = options("/rpc/Switch.GetStatus#/a~1b/1/m~0n");
  milliwatts.watts_per_unit = 1e-3;
  EXPECT_DOUBLE_EQ(power(milliwatts)->in(watt), 1.5);
}

TEST_F(HttpMeterTest, WhatIsNoPowerIsAbsent) {
  for (const char* body : {"", "hello", "{\"apower\": 10", "[]", "{}", "{\"apower\": true}", "{\"apower\": \"much\"}",
                           "{\"apower\": -5}", "{\"apower\": 1e300}", "{\"apower\": {}}"}) {
    body_ = body;
    EXPECT_TRUE(power().absent_for(Absence::garbage)) << body;
  }
  body_ = "{\"apower\": null}";
  EXPECT_TRUE(power().absent_for(Absence::not_supported));
  body_ = "{\"apower\": 10, \"more\": \"" + std::string(2'000'000, 'x') + "\"}";
  EXPECT_TRUE(power().absent_for(Absence::garbage));
}

TEST_F(HttpMeterTest, StatusesAreReasons) {
  status_ = 401;
  EXPECT_TRUE(power().absent_for(Absence::no_permission));
  status_ = 404;
  EXPECT_TRUE(power().absent_for(Absence::not_present));
  status_ = 500;
  EXPECT_TRUE(power().absent_for(Absence::unknown_error));
}

TEST_F(HttpMeterTest, RedirectsAreNotFollowed) {
  status_ = 302;
  location_ = "/elsewhere";
  const OpenedSource source = open_http_meter(options());
  ASSERT_FALSE(source);
  EXPECT_THAT(source.error().detail, HasSubstr("/elsewhere"));
  EXPECT_EQ(followed_, 0);
}

TEST_F(HttpMeterTest, ASlowMeterIsTimedOutAndAskedAgain) {
  const OpenedSource source = open_http_meter(options());
  ASSERT_TRUE(source);
  delay_ = std::chrono::milliseconds{600};
  requests_ = 0;
  EXPECT_TRUE((*source)->read(0).power.value.absent_for(Absence::timed_out));
  EXPECT_GE(requests_, 1);
  delay_ = std::chrono::milliseconds{0};
  EXPECT_DOUBLE_EQ((*source)->read(0).power.value->in(watt), 106.3);
}

TEST_F(HttpMeterTest, AMeterThatIsGone) {
  const HttpMeterOptions gone = options();
  server_.stop();
  const OpenedSource source = open_http_meter(gone);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().reason, Absence::not_present);
  EXPECT_EQ(source.error().error().code, Errc::unavailable);
}

TEST_F(HttpMeterTest, CredentialsComeFromTheEnvironment) {
  ::setenv("FLOPWATT_METER_USER", "someone", 1);
  ::setenv("FLOPWATT_METER_PASSWORD", "secret", 1);
  HttpMeterOptions with = options();
  credentials_from_environment(with);
  ::unsetenv("FLOPWATT_METER_USER");
  ::unsetenv("FLOPWATT_METER_PASSWORD");
  EXPECT_TRUE(power(with));
  EXPECT_EQ(authorization_, "Basic c29tZW9uZTpzZWNyZXQ=");  // base64 of someone:secret
  EXPECT_TRUE(power());
  EXPECT_EQ(authorization_, "");
}

TEST_F(HttpMeterTest, Presets) {
  EXPECT_EQ(parse_meter("shelly1:plug")->url.target, "/status");
  EXPECT_EQ(parse_meter("shelly2:plug:8080")->url.port, 8080);
  EXPECT_EQ(parse_meter("tasmota:plug")->url.target, "/cm?cmnd=Status%208");
  const auto redfish = parse_meter("redfish-power:bmc/Self");
  ASSERT_TRUE(redfish);
  EXPECT_TRUE(redfish->url.secure);
  EXPECT_EQ(redfish->scope, Scope::node);
  EXPECT_EQ(redfish->url.target, "/redfish/v1/Chassis/Self/Power");
  HttpMeterOptions here = *redfish;
  here.url.secure = false;
  here.url.host = "127.0.0.1";
  here.url.port = port_;
  EXPECT_DOUBLE_EQ(power(here)->in(watt), 344);

  EXPECT_FALSE(parse_meter("http://plug/status"));
  EXPECT_FALSE(parse_meter("shelly1:"));
  // A preset knows its page: what would make it ask for another one is no host.
  for (const char* word :
       {"shelly1:plug#x", "shelly2:plug/a", "tasmota:plug?b", "redfish-power:bmc/1#", "redfish-power:bmc/1/2"}) {
    const auto meter = parse_meter(word);
    ASSERT_FALSE(meter) << word;
    EXPECT_EQ(meter.error().code, Errc::usage);
  }
  EXPECT_TRUE(is_meter("tasmota:plug"));
  EXPECT_FALSE(is_meter("nvml"));
}

}  // namespace
}  // namespace flopwatt::telemetry
