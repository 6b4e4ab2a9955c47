#include "flopwatt/telemetry/http_url.hpp"

#include <gtest/gtest.h>

namespace flopwatt::telemetry {
namespace {

TEST(HttpUrl, Parts) {
  const auto url = parse_http_url("http://192.168.1.5/rpc/Switch.GetStatus?id=0#/apower");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "192.168.1.5");
  EXPECT_EQ(url->port, 80);
  EXPECT_EQ(url->target, "/rpc/Switch.GetStatus?id=0");
  EXPECT_EQ(url->fragment, "/apower");
  EXPECT_EQ(url->origin(), "http://192.168.1.5:80");

  const auto secure = parse_http_url("https://[fd00::1]:8443?x#/a%7E1b");
  ASSERT_TRUE(secure);
  EXPECT_TRUE(secure->secure);
  EXPECT_EQ(secure->host, "fd00::1");
  EXPECT_EQ(secure->target, "/?x");
  EXPECT_EQ(secure->fragment, "/a~1b");
  EXPECT_EQ(secure->origin(), "https://[fd00::1]:8443");
  EXPECT_EQ(parse_http_url("http://plug")->target, "/");
}

TEST(HttpUrl, Refused) {
  for (const char* text : {"",
                           "plug",
                           "ftp://plug/",
                           "http://",
                           "http:///x",
                           "http://plug:0/",
                           "http://plug:99999/",
                           "http://plug:/",
                           "http://plug:80x/",
                           "http://[::1/",
                           "http://[::1]x/",
                           "http://plug/a b",
                           "http://plug/\r\nHost: evil",
                           "http://user:secret@plug/",
                           "http://[[x]/",
                           "http://[plug]/",
                           "http://[]/",
                           "http://[::1\\]/",
                           "http://a]b/",
                           "http://pl\x7fug/",
                           "http://a\"b/"}) {
    const auto url = parse_http_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().code, Errc::usage);
    EXPECT_EQ(url.error().message().find("secret"), std::string::npos);
  }
}

}  // namespace
}  // namespace flopwatt::telemetry
