#include "load/local_addresses.h"

#include <gtest/gtest.h>

namespace tlstrata::load {
namespace {

std::vector<std::string> parsed(std::string_view text, int family = AF_INET) {
  std::vector<std::string> texts;
  const auto addresses = parse_local_addresses(text, family);
  EXPECT_TRUE(addresses) << text;
  for (const io::Address& address : addresses.value_or(std::vector<io::Address>())) {
    texts.push_back(address.text());
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(LocalAddresses, ListsRangesAndNetworks) {
  EXPECT_EQ(parsed("127.0.0.1"), Texts({"127.0.0.1:0"}));
  EXPECT_EQ(parsed("10.0.0.9,10.0.0.254-10.0.1.1"),
            Texts({"10.0.0.9:0", "10.0.0.254:0", "10.0.0.255:0", "10.0.1.0:0", "10.0.1.1:0"}));
  EXPECT_EQ(parsed("192.0.2.77/30"), Texts({"192.0.2.77:0", "192.0.2.78:0"}));
  EXPECT_EQ(parsed("192.0.2.77/32"), Texts({"192.0.2.77:0"}));
  EXPECT_EQ(parsed("192.0.2.76/31"), Texts({"192.0.2.76:0", "192.0.2.77:0"}));
  EXPECT_EQ(parsed("127.0.0.0/17").size(), 32'766U);
  EXPECT_EQ(parsed("2001:db8::ffff-2001:db8::1:1", AF_INET6),
            Texts({"[2001:db8::ffff]:0", "[2001:db8::1:0]:0", "[2001:db8::1:1]:0"}));
  EXPECT_EQ(parsed("255.255.255.255"), Texts({"255.255.255.255:0"}));
}

TEST(LocalAddresses, WhatIsWrongIsSaid) {
  for (const char* text : {"", "x", "10.0.0.1,", "10.0.0.2-10.0.0.1", "10.0.0.1-", "10.0.0.0/33", "10.0.0.0/",
                           "10.0.0.0/8", "10.0.0.0/0", "10.0.0.1-2001:db8::1", "10.0.0.0/2x", "::1", "::1/127"}) {
    const auto addresses = parse_local_addresses(text, AF_INET);
    ASSERT_FALSE(addresses) << text;
    EXPECT_EQ(addresses.error().exit_code, ExitCode::usage);
  }
  EXPECT_FALSE(parse_local_addresses("2001:db8::/64", AF_INET6));
}

}  // namespace
}  // namespace tlstrata::load
