#include "flopwatt/engine/metrics_server.hpp"

#include <gtest/gtest.h>
#include <httplib.h>

#include <string>

namespace flopwatt::engine {
namespace {

TEST(MetricsServer, ServesWhatWasPublishedInTheFormatAskedFor) {
  const auto server = MetricsServer::start(":0");
  ASSERT_TRUE(server) << server.error().message();
  const std::string& url = (*server)->url();
  ASSERT_TRUE(url.starts_with("http://127.0.0.1:")) << url;
  httplib::Client client{url.substr(0, url.rfind('/'))};
  (*server)->publish("text 1\n", "open 1\n# EOF\n");
  auto answer = client.Get("/metrics");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "text 1\n");
  EXPECT_EQ(answer->get_header_value("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  answer = client.Get("/metrics", {{"Accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "open 1\n# EOF\n");
  EXPECT_EQ(answer->get_header_value("Content-Type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
  EXPECT_EQ(client.Get("/etc/passwd")->status, 404);
}

TEST(MetricsServer, APortIsTakenOnce) {
  const auto first = MetricsServer::start("0");
  ASSERT_TRUE(first);
  const std::string& url = (*first)->url();
  const std::string port = url.substr(url.rfind(':') + 1, url.rfind('/') - url.rfind(':') - 1);
  const auto second = MetricsServer::start(port);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::unavailable);
}

TEST(MetricsServer, RefusesWhatIsNoAddress) {
  for (const char* address : {"", "x", ":", "70000", "-1", "127.0.0.1:", "a b:9101", "1:2:3:x"}) {
    const auto server = MetricsServer::start(address);
    ASSERT_FALSE(server) << address;
    EXPECT_EQ(server.error().code, Errc::usage) << address;
  }
}

}  // namespace
}  // namespace flopwatt::engine
