#include "ossl/provider.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "ossl/client.h"

namespace tlstrata::ossl {
namespace {

bool contains(std::span<const LibraryGroup> groups, std::uint16_t code) {
  return std::ranges::find(groups, code, &LibraryGroup::code) != groups.end();
}

TEST(ProviderGroupTest, OnlyWhatOpensslLacksNeedsIt) {
  EXPECT_TRUE(needs_provider(0x2FB6));
  for (const std::uint16_t code :
       std::initializer_list<std::uint16_t>{0x001D, 0x11EC, 0x0200, 0x0201, 0x0202, 0xFE01}) {
    EXPECT_FALSE(needs_provider(code)) << code;
  }
}

TEST(ProviderGroupTest, ItIsLoadedWhenAContextAsksForOneOfItsGroupsAndNotBefore) {
  EXPECT_TRUE(contains(supported_groups(), 0x2FB6));
  EXPECT_EQ(group_list(std::vector<std::uint16_t>{0x2FB6, 0x1D}, std::vector<std::uint16_t>{0x2FB6}),
            "*X25519MLKEM512:x25519");
  ClientSettings settings;
  settings.host = "localhost";
  settings.groups = {0x001D};
  settings.key_shares = {0x001D};
  ASSERT_TRUE(ClientContext::create(settings));
  EXPECT_FALSE(contains(library_groups(), 0x2FB6));

  settings.groups = {0x2FB6, 0x001D};
  settings.key_shares = {0x2FB6};
  const auto created = ClientContext::create(settings);
  ASSERT_TRUE(created) << created.error().what;
  EXPECT_TRUE(contains(library_groups(), 0x2FB6));
  // The default provider is still there.
  EXPECT_TRUE(contains(library_groups(), 0x11EC));
  EXPECT_TRUE(provide_groups(settings.groups));
}

TEST(ProviderGroupTest, TheModuleLiesBesideTheProgram) {
  const auto module = find_provider();
  ASSERT_TRUE(module) << module.error().what;
  EXPECT_EQ(module->filename(), provider_module);
}

TEST(ProviderGroupTest, TheConfigurationNamesTheModuleAndTheDefaultProvider) {
  EXPECT_THAT(std::string(provider_configuration()), testing::HasSubstr(std::string("module = ") + provider_module));
  EXPECT_THAT(std::string(provider_configuration()), testing::HasSubstr("default = default_section"));
}

}  // namespace
}  // namespace tlstrata::ossl
