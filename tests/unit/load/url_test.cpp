#include "load/url.h"

#include <gtest/gtest.h>

namespace tlstrata::load {
namespace {

TEST(Url, Parts) {
  const auto url = parse_url("HTTPS://Example.org:8443/a/b?c=d#fragment");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "Example.org");
  EXPECT_FALSE(url->host_is_address);
  EXPECT_EQ(url->port, 8443);
  EXPECT_EQ(url->target, "/a/b?c=d");
}

TEST(Url, Defaults) {
  const auto url = parse_url("https://192.0.2.1");
  ASSERT_TRUE(url);
  EXPECT_TRUE(url->host_is_address);
  EXPECT_EQ(url->port, 443);
  EXPECT_EQ(url->target, "/");
  EXPECT_EQ(parse_url("https://h?x=1")->target, "/?x=1");
}

TEST(Url, Ipv6) {
  const auto url = parse_url("https://[2001:db8::1]:444/x");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->host, "2001:db8::1");
  EXPECT_TRUE(url->host_is_address);
  EXPECT_EQ(url->port, 444);
  EXPECT_EQ(parse_url("https://[::1]")->port, 443);
}

TEST(Url, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "https://",
                           "http://a/",
                           "ftp://a",
                           "a.org",
                           "https:/a",
                           "https:///x",
                           "https://:443/",
                           "https://a:/",
                           "https://a:0/",
                           "https://a:65536/",
                           "https://a:-1/",
                           "https://a:44x/",
                           "https://u@a/",
                           "https://u:p@a/",
                           "https://a b/",
                           "https://a/x y",
                           "https://a/\r\nX: y",
                           "https://[::1/",
                           "https://::1/",
                           "https://[1.2.3.4]/",
                           "https://[zz]/",
                           "https://[::1]x/",
                           "https://m\xc3\xbcller.de/",
                           "https://a/\xc3\xa4"}) {
    const auto url = parse_url(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().exit_code, ExitCode::usage);
  }
}

}  // namespace
}  // namespace tlstrata::load
