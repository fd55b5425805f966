#include "lab/certificates.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

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

Checked<CertificateFiles> issue(const fs::path& folder, const CertificateChoice& choice,
                                const std::string& address = "10.203.1.1") {
  auto authority = LabAuthority::create(folder);
  return authority ? authority->issue(choice, "proxy", "proxy.lab", address)
                   : Checked<CertificateFiles>(std::unexpected(authority.error()));
}

TEST_F(Certificates, VerifyForTheProxysAddressAndNoOther) {
  const auto files = issue(folder_, {});
  ASSERT_TRUE(files) << describe(files.error());
  const std::string verify = "verify -x509_strict -purpose sslserver -CAfile ca.pem ";
  EXPECT_EQ(openssl(verify + "-verify_ip 10.203.1.1 proxy.pem"), "proxy.pem: OK\n");
  EXPECT_EQ(openssl(verify + "-verify_hostname proxy.lab proxy.pem"), "proxy.pem: OK\n");
  EXPECT_NE(openssl(verify + "-verify_ip 10.203.1.2 proxy.pem").find("IP address mismatch"), std::string::npos);
  EXPECT_NE(openssl("verify -x509_strict proxy.pem").find("failed"), std::string::npos);
}

TEST_F(Certificates, AreOfTheKindAskedForAndTheKeyIsTheOwnersAlone) {
  const struct {
    const char* kind;
    std::vector<std::string> words;
  } cases[] = {{"ecdsa-p256", {"id-ecPublicKey", "NIST CURVE: P-256", "ecdsa-with-SHA256"}},
               {"ecdsa-p384", {"id-ecPublicKey", "NIST CURVE: P-384", "ecdsa-with-SHA384"}},
               {"rsa-2048", {"rsaEncryption", "(2048 bit)", "sha256WithRSAEncryption"}},
               {"rsa-3072", {"rsaEncryption", "(3072 bit)", "sha256WithRSAEncryption"}},
               {"ml-dsa-44", {"Signature Algorithm: "}},
               {"ml-dsa-65", {"Signature Algorithm: "}}};
  for (const auto& [kind, words] : cases) {
    const auto files = issue(folder_, {.kind = kind});
    ASSERT_TRUE(files) << describe(files.error());
    const std::string text = openssl("x509 -in proxy.pem -noout -text");
    for (const std::string& word : words) {
      EXPECT_NE(text.find(word), std::string::npos) << kind << "\n" << text;
    }
    struct stat key{};
    ASSERT_EQ(stat(files->key.c_str(), &key), 0);
    EXPECT_EQ(key.st_mode & 0777U, 0600U);
    if (!std::string(kind).starts_with("ml-dsa")) {  // the system's openssl may be older than those
      EXPECT_EQ(openssl("pkey -in proxy.key -pubout"), openssl("x509 -in proxy.pem -noout -pubkey"));
    }
  }
}

TEST_F(Certificates, AChainIsAsLongAsAskedForAndVerifies) {
  const auto files = issue(folder_, {.kind = "rsa-2048", .chain = 3});
  ASSERT_TRUE(files) << describe(files.error());
  EXPECT_EQ(openssl("crl2pkcs7 -nocrl -certfile proxy.pem | openssl pkcs7 -print_certs -noout | grep -c subject"),
            "3\n");
  EXPECT_EQ(openssl("verify -x509_strict -CAfile ca.pem -untrusted proxy.pem proxy.pem"), "proxy.pem: OK\n");
  EXPECT_NE(openssl("verify -x509_strict -CAfile ca.pem proxy.pem").find("unable to get local issuer"),
            std::string::npos);
}

TEST_F(Certificates, OneFileHoldsTheRootsOfAllKinds) {
  auto authority = LabAuthority::create(folder_);
  ASSERT_TRUE(authority);
  ASSERT_TRUE(authority->issue({}, "a", "a.lab", "10.0.0.1"));
  ASSERT_TRUE(authority->issue({.kind = "rsa-2048"}, "b", "b.lab", "10.0.0.2"));
  EXPECT_EQ(openssl("verify -x509_strict -CAfile ca.pem a.pem b.pem"), "a.pem: OK\nb.pem: OK\n");
}

TEST_F(Certificates, AnAddressThatWouldAddNamesIsRefused) {
  EXPECT_FALSE(issue(folder_, {}, "10.0.0.1,DNS:evil.example"));
  EXPECT_FALSE(issue(folder_, {.kind = "rsa-512"}));
}

TEST_F(Certificates, AFolderThatIsNotThereIsNamed) {
  const auto files = issue(folder_ / "absent", {});
  ASSERT_FALSE(files);
  EXPECT_NE(files.error().where.find("absent/ca.pem"), std::string::npos);
}

}  // namespace
}  // namespace tlstrata::lab
