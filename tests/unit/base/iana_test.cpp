#include "base/iana.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tlstrata {
namespace {

TEST(Groups, NamesAndCodePointsAreOneToOne) {
  std::set<std::string> names;
  for (const NamedGroup& group : named_groups()) {
    EXPECT_EQ(group_name(group.code), group.name);
    EXPECT_EQ(group_code_point(group.name), group.code) << group.name;
    EXPECT_TRUE(names.insert(std::string(group.name)).second) << group.name;
  }
}

TEST(Groups, TheOnesThisProgramIsAbout) {
  EXPECT_EQ(group_code_point("X25519MLKEM768"), 0x11EC);
  EXPECT_EQ(group_code_point("secp256r1mlkem768"), 0x11EB);
  EXPECT_EQ(group_code_point("SECP384R1MLKEM1024"), 0x11ED);
  EXPECT_EQ(group_code_point("mlkem1024"), 0x0202);
  EXPECT_EQ(group_code_point("x25519"), 0x001D);
  EXPECT_EQ(group_code_point("X25519MLKEM512"), 0x2FB6);
  EXPECT_EQ(group_code_point("X25519Kyber768Draft00"), 0x6399);
  EXPECT_EQ(group_name(0x001D), "X25519");
  EXPECT_EQ(group_name(0x0017), "secp256r1");
}

TEST(Groups, AliasesAndCodePoints) {
  for (const char* name : {"P-256", "p-256", "prime256v1", "secp256r1", "23", "0x17", "0X0017"}) {
    EXPECT_EQ(group_code_point(name), 0x0017) << name;
  }
  EXPECT_EQ(group_code_point("0x1a2b"), 0x1A2B);
  EXPECT_EQ(group_name(0x1A2B), "0x1a2b");
}

TEST(Groups, WhatIsNoGroup) {
  for (const char* text :
       {"", "X25519 ", " X25519", "X2551", "*X25519", "65536", "-1", "0x", "0x10000", "0xzz", "12a"}) {
    EXPECT_EQ(group_code_point(text), std::nullopt) << text;
  }
}

TEST(CipherSuites, NamesOfCommonSuites) {
  EXPECT_EQ(cipher_suite_name(0x1301), "TLS_AES_128_GCM_SHA256");
  EXPECT_EQ(cipher_suite_name(0x1302), "TLS_AES_256_GCM_SHA384");
  EXPECT_EQ(cipher_suite_name(0x1303), "TLS_CHACHA20_POLY1305_SHA256");
  EXPECT_EQ(cipher_suite_name(0xC02F), "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
  EXPECT_EQ(cipher_suite_name(0xCCA8), "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256");
  EXPECT_EQ(cipher_suite_name(0x00FF), "TLS_EMPTY_RENEGOTIATION_INFO_SCSV");
  EXPECT_EQ(cipher_suite_name(0xABCD), "0xabcd");
}

TEST(Alerts, NamesOfCommonOnes) {
  EXPECT_EQ(alert_name(40), "handshake_failure");
  EXPECT_EQ(alert_name(0), "close_notify");
  EXPECT_EQ(alert_name(116), "certificate_required");
  EXPECT_EQ(alert_name(99), "alert 99");
}

TEST(Grease, ExactlySixteenValues) {
  int count = 0;
  for (std::uint32_t code = 0; code <= 0xFFFF; ++code) {
    count += is_grease(static_cast<std::uint16_t>(code)) ? 1 : 0;
  }
  EXPECT_EQ(count, 16);
  EXPECT_TRUE(is_grease(0x0A0A));
  EXPECT_TRUE(is_grease(0xFAFA));
  EXPECT_FALSE(is_grease(0x0A1A));
}

}  // namespace
}  // namespace tlstrata
