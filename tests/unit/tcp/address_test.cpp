#include "tcp/address.h"

#include <gtest/gtest.h>

namespace tlstrata::tcp {
namespace {

TEST(Address, BothFamiliesGoBothWays) {
  for (const char* text : {"10.0.0.1:443", "255.255.255.255:65535", "0.0.0.0:0", "[2001:db8::1]:443", "[::1]:1",
                           "[fe80::1234:5678:9abc:def0]:50000"}) {
    const auto parsed = parse_endpoint(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(to_string(*parsed), text);
    EXPECT_EQ(parsed->is_v6, text[0] == '[') << text;
  }
}

TEST(Address, Ipv6IsPrintedInTheCanonicalForm) {
  EXPECT_EQ(to_string(parse_endpoint("[2001:0DB8:0:0:0:0:0:0001]:443").value()), "[2001:db8::1]:443");
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* text :
       {"", "10.0.0.1", ":443", "10.0.0.1:", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1:4x", "10.0.0:443",
        "2001:db8::1:443x", "[2001:db8::1:443", "[10.0.0.1]:443", "host:443", "10.0.0.1 :443", "[::1%lo]:1"}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
}

}  // namespace
}  // namespace tlstrata::tcp
