#include "analyze/selection.h"

#include <gtest/gtest.h>

#include "analyze/grouping.h"
#include "tcp/address.h"

namespace tlstrata::analyze {
namespace {

strata::Transaction row_of(const char* server, Nanos start_ns) {
  strata::Transaction row;
  row.connection.client = tcp::parse_endpoint("192.0.2.9:40000").value();
  row.connection.server = tcp::parse_endpoint(server).value();
  row.connection.server_name = "shop.example";
  row.connection.start_ns = start_ns;
  row.connection.group = 0x11EC;
  return row;
}

TEST(Selection, EmptyWantsEverything) {
  EXPECT_TRUE(Selection{}.wants(row_of("192.0.2.1:443", 5)));
}

TEST(Selection, ServersByAddressPortBothOrName) {
  const auto wants = [](const char* server, const char* wanted) {
    return Selection{.servers = {wanted}, .since_ns = {}, .until_ns = {}}.wants(row_of(server, 5));
  };
  EXPECT_TRUE(wants("192.0.2.1:443", "192.0.2.1"));
  EXPECT_TRUE(wants("192.0.2.1:443", "192.0.2.1:443"));
  EXPECT_TRUE(wants("192.0.2.1:443", ":443"));
  EXPECT_TRUE(wants("192.0.2.1:443", "shop.example"));
  EXPECT_TRUE(wants("192.0.2.1:443", "Shop.EXAMPLE"));
  EXPECT_TRUE(wants("[2001:db8::1]:443", "2001:db8::1"));
  EXPECT_FALSE(wants("192.0.2.1:443", ":44"));
  EXPECT_FALSE(wants("192.0.2.1:443", "192.0.2.11"));
  EXPECT_FALSE(wants("192.0.2.1:443", "192.0.2.9")) << "the client's address";
}

TEST(Selection, TimesIncludeTheFirstAndExcludeTheLast) {
  const Selection selection{.servers = {}, .since_ns = 10, .until_ns = 20};
  EXPECT_FALSE(selection.wants(row_of("192.0.2.1:443", 9)));
  EXPECT_TRUE(selection.wants(row_of("192.0.2.1:443", 10)));
  EXPECT_TRUE(selection.wants(row_of("192.0.2.1:443", 19)));
  EXPECT_FALSE(selection.wants(row_of("192.0.2.1:443", 20)));
}

TEST(ParseTime, CalendarAndEpoch) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:01Z").value(), 1'000'000'000);
  EXPECT_EQ(parse_time("2026-11-30T19:08:45.25Z").value(), 1'796'065'725'250'000'000);
  EXPECT_EQ(parse_time("1796065725.000000001").value(), 1'796'065'725'000'000'001);
  EXPECT_EQ(parse_time("1796065725").value(), 1'796'065'725'000'000'000);
}

TEST(ParseTime, WhatIsNoTimeIsAUsageError) {
  for (const char* text : {"", "now", "2026-11-30", "2026-13-30T00:00:00Z", "2026-02-30T00:00:00Z", "-5", "1.",
                           "1.1234567890", "2026-11-30T19:08:45", "99999999999"}) {
    const auto time = parse_time(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().exit_code, ExitCode::usage);
  }
}

TEST(Grouping, LabelsJoinTheKeys) {
  const auto keys = parse_keys("group,server,hrr");
  ASSERT_TRUE(keys);
  EXPECT_EQ(label(row_of("192.0.2.1:443", 5), *keys), "X25519MLKEM768, 192.0.2.1:443, no retry");
}

TEST(Grouping, UnknownKeysAreNamed) {
  const auto keys = parse_keys("group,colour");
  ASSERT_FALSE(keys);
  EXPECT_EQ(keys.error().where, "colour");
  EXPECT_EQ(keys.error().exit_code, ExitCode::usage);
  EXPECT_FALSE(parse_keys(""));
  EXPECT_FALSE(parse_keys("group,"));
}

}  // namespace
}  // namespace tlstrata::analyze
