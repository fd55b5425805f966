#include "io/address.h"

#include <gtest/gtest.h>

#include <utility>

namespace tlstrata::io {
namespace {

TEST(Address, ReadsAndWritesBothFamilies) {
  for (const char* text : {"192.0.2.1:443", "0.0.0.0:0", "[2001:db8::1]:65535", "[::1]:80"}) {
    const auto address = Address::from_text(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), text);
  }
  EXPECT_EQ(Address::from_text("[2001:DB8:0:0::1]:7")->text(), "[2001:db8::1]:7");
  EXPECT_EQ(Address::from_ip("::1", 443)->text(), "[::1]:443");
  EXPECT_EQ(Address::from_ip("[::1]", 443)->family(), AF_INET6);
}

TEST(Address, RefusesWhatIsNone) {
  for (const char* text :
       {"", ":", "127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:8x", "127.1:80",
        "1:80", "localhost:80", "::1:80", "[::1:80", "::1]:80", "[127.0.0.1]:80", "127.0.0.1 :80", "256.0.0.1:80"}) {
    EXPECT_FALSE(Address::from_text(text)) << text;
  }
}

TEST(Address, ResolvesNamesAndNamesTheOneItCannot) {
  const auto loopback = resolve("localhost", 443);
  ASSERT_TRUE(loopback);
  EXPECT_TRUE(loopback->text() == "127.0.0.1:443" || loopback->text() == "[::1]:443") << loopback->text();
  const auto none = resolve("no-such-host.invalid", 443);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().where, "no-such-host.invalid");
  EXPECT_EQ(none.error().exit_code, ExitCode::unusable);
}

}  // namespace
}  // namespace tlstrata::io
