#include "probe/target.h"

#include <gmock/gmock.h>

namespace tlstrata::probe {
namespace {

TEST(TargetTest, HostsWithAndWithoutPort) {
  struct Case {
    const char* text;
    const char* host;
    std::uint16_t port;
    bool is_address;
    const char* back;
  };
  for (const Case& expected : {Case{"example.org", "example.org", 443, false, "example.org:443"},
                               Case{"example.org:8443", "example.org", 8443, false, "example.org:8443"},
                               Case{"192.0.2.1:65535", "192.0.2.1", 65535, true, "192.0.2.1:65535"},
                               Case{"2001:db8::1", "2001:db8::1", 443, true, "[2001:db8::1]:443"},
                               Case{"[2001:db8::1]:99", "2001:db8::1", 99, true, "[2001:db8::1]:99"}}) {
    const auto target = parse_target(expected.text);
    ASSERT_TRUE(target) << expected.text;
    EXPECT_EQ(target->host, expected.host);
    EXPECT_EQ(target->port, expected.port);
    EXPECT_EQ(target->host_is_address, expected.is_address);
    EXPECT_EQ(target->text(), expected.back);
  }
}

TEST(TargetTest, WhatIsNoHostIsAUsageError) {
  for (const char* text : {"", ":443", "host:", "host:0", "host:65536", "host:44x", "https://host", "ho st",
                           "h\x1b[31m", "[2001:db8::1", "[host]:443", "user@host"}) {
    const auto target = parse_target(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().exit_code, ExitCode::usage) << text;
  }
}

TEST(TargetTest, FilesHaveOneALine) {
  const auto targets =
      parse_targets("# all of ours\nexample.org\r\n\n  192.0.2.1:8443 # the old one\nlast.example", "hosts");
  ASSERT_TRUE(targets);
  ASSERT_EQ(targets->size(), 3U);
  EXPECT_EQ((*targets)[1].text(), "192.0.2.1:8443");
  EXPECT_EQ((*targets)[2].text(), "last.example:443");
  const auto wrong = parse_targets("example.org\nexample.org:http\n", "hosts");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().where, "hosts:2");
}

}  // namespace
}  // namespace tlstrata::probe
