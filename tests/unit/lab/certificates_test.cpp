#include "lab/certificates.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace tlstrata::lab {
namespace {

namespace fs = std::filesystem;

class Certificates : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "lab-certificates-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // What another implementation's program says of our files.
  std::string openssl(const std::string& arguments) {
    std::string output;
    std::array<char, 4096> chunk{};
    FILE* pipe = popen(("cd '" + folder_.string() + "' && openssl " + arguments + " 2>&1").c_str(), "r");
    while (pipe != nullptr && fgets(chunk.data(), static_cast<int>(chunk.size()), pipe) != nullptr) {
      output += chunk.data();
    }
    pclose(pipe);
    return output;
  }

  fs::path folder_;
};

TEST_F(Certificates, VerifyForTheProxysAddressAndNoOther) {
  const auto files = make_certificates("ecdsa-p256", "10.203.1.1", folder_);
  ASSERT_TRUE(files) << describe(files.error());
  const std::string verify = "verify -x509_strict -purpose sslserver -CAfile ca.pem ";
  EXPECT_EQ(openssl(verify + "-verify_ip 10.203.1.1 proxy.pem"), "proxy.pem: OK\n");
  EXPECT_EQ(openssl(verify + "-verify_hostname proxy.lab proxy.pem"), "proxy.pem: OK\n");
  EXPECT_NE(openssl(verify + "-verify_ip 10.203.1.2 proxy.pem").find("IP address mismatch"), std::string::npos);
  EXPECT_NE(openssl("verify -x509_strict proxy.pem").find("failed"), std::string::npos);
}

TEST_F(Certificates, AreEcdsaP256AndTheKeyIsTheOwnersAlone) {
  const auto files = make_certificates("ecdsa-p256", "10.203.1.1", folder_);
  ASSERT_TRUE(files) << describe(files.error());
  const std::string text = openssl("x509 -in proxy.pem -noout -text");
  EXPECT_NE(text.find("Public Key Algorithm: id-ecPublicKey"), std::string::npos) << text;
  EXPECT_NE(text.find("NIST CURVE: P-256"), std::string::npos) << text;
  EXPECT_NE(text.find("ecdsa-with-SHA256"), std::string::npos) << text;
  struct stat key{};
  ASSERT_EQ(stat(files->key.c_str(), &key), 0);
  EXPECT_EQ(key.st_mode & 0777U, 0600U);
  EXPECT_EQ(openssl("pkey -in proxy.key -pubout"), openssl("x509 -in proxy.pem -noout -pubkey"));
}

TEST_F(Certificates, AnAddressThatWouldAddNamesIsRefused) {
  EXPECT_FALSE(make_certificates("ecdsa-p256", "10.0.0.1,DNS:evil.example", folder_));
  EXPECT_FALSE(make_certificates("rsa-512", "10.0.0.1", folder_));
}

TEST_F(Certificates, AFolderThatIsNotThereIsNamed) {
  const auto files = make_certificates("ecdsa-p256", "10.203.1.1", folder_ / "absent");
  ASSERT_FALSE(files);
  EXPECT_NE(files.error().where.find("absent/ca.pem"), std::string::npos);
}

}  // namespace
}  // namespace tlstrata::lab
