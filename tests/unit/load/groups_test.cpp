#include "load/groups.h"

#include <gtest/gtest.h>

#include <array>

#include "ossl/groups.h"

namespace tlstrata::load {
namespace {

constexpr std::uint16_t x25519 = 0x001D;
constexpr std::uint16_t p256 = 0x0017;
constexpr std::uint16_t hybrid = 0x11EC;
constexpr std::uint16_t mlkem1024 = 0x0202;
constexpr std::array<std::uint16_t, 4> supported{p256, x25519, mlkem1024, hybrid};
using Codes = std::vector<std::uint16_t>;

Checked<std::vector<Configuration>> parse(std::string_view groups, std::string_view key_shares = "") {
  return parse_configurations(groups, key_shares, supported, 2);
}

TEST(GroupLanguage, OneGroupIsOfferedAndShared) {
  const auto configurations = parse("x25519");
  ASSERT_TRUE(configurations);
  ASSERT_EQ(configurations->size(), 1U);
  EXPECT_EQ((*configurations)[0].name, "X25519");
  EXPECT_EQ((*configurations)[0].groups, Codes{x25519});
  EXPECT_EQ((*configurations)[0].key_shares, Codes{x25519});
  EXPECT_EQ((*configurations)[0].weight, 1U);
}

TEST(GroupLanguage, OffersConfigurationsAndWeights) {
  const auto configurations = parse("X25519MLKEM768:X25519,MLKEM1024=2,0x0017:prime256v1x");
  ASSERT_FALSE(configurations);
  const auto fine = parse("X25519MLKEM768:X25519,MLKEM1024=2,0x0017");
  ASSERT_TRUE(fine);
  ASSERT_EQ(fine->size(), 3U);
  EXPECT_EQ((*fine)[0].groups, (Codes{hybrid, x25519}));
  EXPECT_EQ((*fine)[0].key_shares, Codes{hybrid}) << "only the first of an offer is shared";
  EXPECT_EQ((*fine)[0].name, "X25519MLKEM768:X25519");
  EXPECT_EQ((*fine)[1].weight, 2U);
  EXPECT_EQ((*fine)[2].name, "secp256r1");
}

TEST(GroupLanguage, KeySharesAreASeparateKnob) {
  const auto one = parse("X25519MLKEM768:X25519:P-256", "P-256");
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)[0].key_shares, Codes{p256});
  const auto ordered = parse("X25519MLKEM768:X25519", "X25519:X25519MLKEM768");
  ASSERT_TRUE(ordered);
  EXPECT_EQ((*ordered)[0].key_shares, (Codes{hybrid, x25519})) << "in the offer's order";
  const auto each = parse("X25519MLKEM768:X25519,MLKEM1024:P-256", "X25519,MLKEM1024");
  ASSERT_TRUE(each);
  EXPECT_EQ((*each)[0].key_shares, Codes{x25519});
  EXPECT_EQ((*each)[1].key_shares, Codes{mlkem1024});
  const auto shared = parse("X25519MLKEM768:X25519,P-256:X25519", "X25519");
  ASSERT_TRUE(shared);
  EXPECT_EQ((*shared)[1].key_shares, Codes{x25519});
}

TEST(GroupLanguage, ErrorsAreUsageAndNameTheGroup) {
  const struct {
    const char* groups;
    const char* key_shares;
    const char* named;
  } cases[] = {
      {"X2551", "", "X2551"},
      {"X25519:MLKEM512", "", "MLKEM512"},
      {"0x1234", "", "0x1234"},
      {"", "", "missing"},
      {"X25519:", "", "missing"},
      {",X25519", "", "missing"},
      {"X25519,,P-256", "", "missing"},
      {"*X25519", "", "*X25519"},
      {"?X25519", "", "?X25519"},
      {"-X25519", "", "-X25519"},
      {"X25519:*?P-256", "", "*?P-256"},
      {"X25519/P-256", "", "X25519/P-256"},
      {"X25519:x25519", "", "X25519"},
      {"X25519:0x1d", "", "X25519"},
      {"X25519=0", "", "=0"},
      {"X25519=", "", "="},
      {"X25519=1.5", "", "=1.5"},
      {"X25519=-1", "", "=-1"},
      {"X25519=1000001", "", "=1000001"},
      {"=2", "", "missing"},
      {"X25519", "P-256", "secp256r1"},
      {"X25519", "X2551", "X2551"},
      {"X25519:P-256", "*X25519", "*X25519"},
      {"X25519:P-256", "X25519:", "missing"},
      {"X25519:P-256:X25519MLKEM768", "X25519:P-256:X25519MLKEM768", "3 key shares"},
      {"X25519,P-256", "X25519,P-256,X25519", "3 lists"},
      {"X25519,P-256", "X25519", "X25519"},
  };
  for (const auto& [groups, key_shares, named] : cases) {
    const auto parsed = parse(groups, key_shares);
    ASSERT_FALSE(parsed) << groups << " " << key_shares;
    EXPECT_EQ(parsed.error().exit_code, ExitCode::usage);
    EXPECT_NE(parsed.error().what.find(named), std::string::npos) << parsed.error().what;
  }
  EXPECT_NE(parse("X2551").error().remedy.find("X25519MLKEM768"), std::string::npos) << "lists those known";
}

// What the linked library really takes: every group it knows can be offered alone and shared.
TEST(GroupLanguage, TheLibraryTakesEveryGroupThatItSupports) {
  ASSERT_FALSE(ossl::supported_groups().empty());
  for (const ossl::LibraryGroup& group : ossl::supported_groups()) {
    const Codes alone{group.code};
    EXPECT_EQ(ossl::group_list(alone, alone), "*" + group.library_name);
  }
  EXPECT_EQ(ossl::group_list(Codes{hybrid, x25519}, Codes{x25519}), "X25519MLKEM768:*x25519");
}

}  // namespace
}  // namespace tlstrata::load
