// Groups that a configuration adds: they compute what OpenSSL's own hybrids compute, and bad ones are told.
#include <gmock/gmock.h>

#include "unit/provider/support.h"

namespace tlstrata::provider {
namespace {

using testing::HasSubstr;

Settings example() {
  return group_settings(1, "Test", "0xFE01", "ML-KEM-768", "X25519", "mlkem-first", "128");
}

std::string refusal(const Settings& settings) {
  ERR_clear_error();
  const Library library(settings);
  const std::string said = errors();
  EXPECT_FALSE(library.is_loaded()) << said;
  return said;
}

std::string refusal_of(const std::string& key, const std::string& value) {
  Settings settings = example();
  for (auto& [name, old] : settings) {
    if (name == "group1." + key) {
      old = value;
    }
  }
  return refusal(settings);
}

struct OwnHybrid {
  const char* name;  // OpenSSL's
  const char* mlkem;
  const char* classical;
  const char* order;
};

class OwnHybridTest : public testing::TestWithParam<OwnHybrid> {};

// OpenSSL's own hybrids, made again from their parts: shares go both ways and the secrets are the same.
TEST_P(OwnHybridTest, ComputesWhatOpensslDoes) {
  const OwnHybrid& own = GetParam();
  const Library library(group_settings(1, "Again", "0xFE01", own.mlkem, own.classical, own.order, "128"));
  ASSERT_TRUE(library.is_loaded()) << errors();
  for (const auto& [client, server] : {std::pair(own.name, "Again"), std::pair("Again", own.name)}) {
    const Key key = library.generate(client);
    ASSERT_NE(key, nullptr) << errors();
    const Key peer = library.from_share(server, share_of(key.get()));
    ASSERT_NE(peer, nullptr) << errors();
    const auto sent = library.encapsulate(peer.get());
    ASSERT_TRUE(sent) << errors();
    EXPECT_EQ(library.decapsulate(key.get(), sent->ciphertext), sent->secret) << client;
  }
}

INSTANTIATE_TEST_SUITE_P(All, OwnHybridTest,
                         testing::Values(OwnHybrid{"X25519MLKEM768", "ML-KEM-768", "X25519", "mlkem-first"},
                                         OwnHybrid{"SecP256r1MLKEM768", "ML-KEM-768", "P-256", "classical-first"},
                                         OwnHybrid{"SecP384r1MLKEM1024", "ML-KEM-1024", "P-384", "classical-first"}),
                         [](const auto& tested) { return std::string(tested.param.name); });

// Every combination of parts, in both orders: 30 groups over two loads.
TEST(ConfiguredGroupTest, EveryCombinationWorks) {
  for (const char* order : {"mlkem-first", "classical-first"}) {
    Settings settings;
    int number = 0;
    for (const char* mlkem : {"ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"}) {
      for (const char* classical : {"X25519", "X448", "P-256", "P-384", "P-521"}) {
        ++number;
        const std::string name = "G" + std::to_string(number);
        const Settings more =
            group_settings(number, name, std::to_string(65000 + number), mlkem, classical, order, "128");
        settings.insert(settings.end(), more.begin(), more.end());
      }
    }
    const Library library(settings);
    ASSERT_TRUE(library.is_loaded()) << errors();
    for (; number > 0; --number) {
      const std::string name = "G" + std::to_string(number);
      const Key key = library.generate(name);
      ASSERT_NE(key, nullptr) << name << errors();
      const Key again = library.import(name, share_of(key.get()), private_of(key.get()));
      ASSERT_NE(again, nullptr) << name << errors();
      const Key peer = library.from_share(name, share_of(key.get()));
      ASSERT_NE(peer, nullptr) << name << errors();
      const auto sent = library.encapsulate(peer.get());
      ASSERT_TRUE(sent) << name << errors();
      EXPECT_EQ(library.decapsulate(again.get(), sent->ciphertext), sent->secret) << name << order;
      EXPECT_EQ(private_of(again.get()), private_of(key.get()));
    }
  }
}

TEST(ConfiguredGroupTest, PointsAreUncompressedAndOnTheCurve) {
  const Library library(group_settings(1, "Test", "0xFE01", "ML-KEM-512", "P-256", "classical-first", "128"));
  ASSERT_TRUE(library.is_loaded());
  const Bytes share = share_of(library.generate("Test").get());
  ASSERT_EQ(share.size(), 65U + 800U);
  ASSERT_NE(library.from_share("Test", share), nullptr);
  Bytes off = share;
  off[64] ^= 1U;
  EXPECT_EQ(library.from_share("Test", off), nullptr);
  for (const std::uint8_t form : Bytes{0, 2, 3, 5, 6, 7}) {
    Bytes other = share;
    other[0] = form;
    EXPECT_EQ(library.from_share("Test", other), nullptr) << int{form};
  }
  ERR_clear_error();
}

TEST(ConfiguredGroupTest, NumbersMayHaveGapsAndOurOwnGroupStays) {
  Settings settings = group_settings(16, "Last", "65281", "ml-kem-512", "p-521", "MLKEM-FIRST", "256");
  const Library library(settings);
  ASSERT_TRUE(library.is_loaded()) << errors();
  EXPECT_NE(library.generate("Last"), nullptr);
  EXPECT_NE(library.generate("X25519MLKEM512"), nullptr);
}

TEST(HostileConfigurationTest, EachKeyIsRequired) {
  const Settings complete = example();
  for (std::size_t missing = 0; missing < complete.size(); ++missing) {
    Settings settings = complete;
    settings.erase(settings.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_THAT(refusal(settings), HasSubstr(complete[missing].first + ": is missing; write "));
  }
}

TEST(HostileConfigurationTest, ValuesAreNamedWithWhatIsWrong) {
  const std::string long_name(64, 'a');
  for (const std::string& name :
       {std::string(), std::string("1st"), std::string("a:b"), std::string("*a"), std::string("a b"),
        std::string("a/b"), long_name, std::string(100'000, 'a'), std::string("a\n\x1b[31mred"), std::string("\xff")}) {
    EXPECT_THAT(refusal_of("name", name), HasSubstr("group1.name")) << name.substr(0, 70);
  }
  for (const char* name :
       {"X25519", "x25519", "EC", "RSA", "ML-KEM-512", "MLKEM512", "secp256r1", "P-256", "X25519MLKEM768"}) {
    EXPECT_THAT(refusal_of("name", name), HasSubstr("OpenSSL itself has an algorithm or group of this name"));
  }
  for (const char* name : {"X25519MLKEM512", "x25519mlkem512", "x25519_mlkem512"}) {
    EXPECT_THAT(refusal_of("name", name), HasSubstr("another group of this provider has this name"));
  }
  for (const char* code : {"", "0", "0x", "65536", "0x10000", "-1", "+5", " 5", "5 ", "0xFE0G", "1e3", "0x0A0A",
                           "0xfafa", "99999999999999999999"}) {
    EXPECT_THAT(refusal_of("code_point", code), HasSubstr("no code point of a group")) << code;
  }
  for (const char* code : {"0x001D", "29", "0x11EC", "0x0200", "0x2FB6"}) {
    EXPECT_THAT(refusal_of("code_point", code), HasSubstr("another group has this code point")) << code;
  }
  EXPECT_THAT(refusal_of("mlkem", "ML-KEM-256"),
              HasSubstr("group1.mlkem = ML-KEM-256: no parameter set of ML-KEM; write"));
  EXPECT_THAT(refusal_of("classical", "RSA"), HasSubstr("no group for the classical part; write X25519"));
  EXPECT_THAT(refusal_of("order", "first"), HasSubstr("write mlkem-first or classical-first"));
  for (const char* bits : {"", "0", "79", "193", "1000000", "-128", "0x"}) {
    EXPECT_THAT(refusal_of("security_bits", bits), HasSubstr("more or less than these two parts can have")) << bits;
  }
}

TEST(HostileConfigurationTest, WhatIsShownIsShortAndPrintable) {
  const std::string said = refusal_of("mlkem", "\x1b[2J\r\n" + std::string(100'000, '%'));
  EXPECT_LT(said.size(), 1000U);
  EXPECT_EQ(said.find('\x1b'), std::string::npos);
  EXPECT_THAT(said, HasSubstr("?[2J??%%"));
}

TEST(HostileConfigurationTest, TwoGroupsOfOneNameOrCodePoint) {
  Settings settings = example();
  const Settings same_name = group_settings(2, "TEST", "0xFE02", "ML-KEM-768", "X25519", "mlkem-first", "128");
  settings.insert(settings.end(), same_name.begin(), same_name.end());
  EXPECT_THAT(refusal(settings), HasSubstr("group2.name = TEST: another group of this provider"));
  settings = example();
  const Settings same_code = group_settings(2, "Other", "65025", "ML-KEM-768", "X25519", "mlkem-first", "128");
  settings.insert(settings.end(), same_code.begin(), same_code.end());
  EXPECT_THAT(refusal(settings), HasSubstr("group2.code_point = 65025: another group has this code point"));
}

TEST(HostileConfigurationTest, NumbersEndAtSixteen) {
  for (const int number : {0, 17, 64}) {
    EXPECT_THAT(refusal(group_settings(number, "Test", "0xFE01", "ML-KEM-768", "X25519", "mlkem-first", "128")),
                HasSubstr("no such number; write group1 to group16"));
  }
}

TEST(ProviderTest, LoadsAndUnloadsAgainAndAgain) {
  for (int i = 0; i < 20; ++i) {
    const Library library(example());
    ASSERT_TRUE(library.is_loaded());
    ASSERT_NE(library.generate("Test"), nullptr);
  }
}

}  // namespace
}  // namespace tlstrata::provider
