#include "lab/provider_environment.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "ossl/provider.h"

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;

class ProviderEnvironmentTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / "provider environment";
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(ProviderEnvironmentTest, GroupsOfOpensslNeedNothing) {
  const auto environment = provider_environment("X25519:X25519MLKEM768:MLKEM1024", folder_);
  ASSERT_TRUE(environment);
  EXPECT_TRUE(environment->empty());
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ProviderEnvironmentTest, AGroupOfOursGetsAConfigurationAndTheModulesFolder) {
  for (const char* groups : {"X25519MLKEM512", "X25519:X25519MLKEM512", "0x2FB6:X25519"}) {
    const auto environment = provider_environment(groups, folder_);
    ASSERT_TRUE(environment) << environment.error().what;
    EXPECT_THAT(*environment, testing::ElementsAre("OPENSSL_CONF=" + (folder_ / "openssl.cnf").string(),
                                                   "OPENSSL_MODULES=" + ossl::find_provider()->parent_path().string()));
    std::ostringstream text;
    text << std::ifstream(folder_ / "openssl.cnf").rdbuf();
    EXPECT_EQ(text.str(), ossl::provider_configuration());
  }
}

TEST_F(ProviderEnvironmentTest, AFolderThatIsNotThereIsTold) {
  const auto environment = provider_environment("X25519MLKEM512", folder_ / "none");
  ASSERT_FALSE(environment);
  EXPECT_THAT(environment.error().where, testing::HasSubstr("openssl.cnf"));
}

}  // namespace
}  // namespace tlstrata::lab
