// Shares and secrets of X25519MLKEM512 against the same steps with OpenSSL's own parts, one by one.
#include <gmock/gmock.h>
#include <openssl/evp.h>

#include "unit/ossl/hex.h"
#include "unit/provider/support.h"

namespace tlstrata::provider {
namespace {

using ossl::from_hex;
using testing::HasSubstr;

constexpr const char* group = "X25519MLKEM512";
constexpr std::size_t kem_public = 800;
constexpr std::size_t kem_private = 1632;
constexpr std::size_t kem_ciphertext = 768;
constexpr std::size_t x = 32;

std::string sha256(const Bytes& bytes) {
  Bytes digest(32);
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  std::string text;
  for (const std::uint8_t byte : digest) {
    constexpr const char* digits = "0123456789abcdef";
    text += {digits[byte >> 4U], digits[byte & 15U]};
  }
  return text;
}

class HybridKeyTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(library.is_loaded()) << errors(); }
  void TearDown() override { ERR_clear_error(); }
  Library library;
};

TEST_F(HybridKeyTest, SizesAreThoseOfTheParts) {
  const Key key = library.generate(group);
  ASSERT_NE(key, nullptr) << errors();
  EXPECT_EQ(share_of(key.get()).size(), 832U);
  EXPECT_EQ(private_of(key.get()).size(), kem_private + x);
  EXPECT_EQ(EVP_PKEY_get_security_bits(key.get()), 128);
  EXPECT_EQ(EVP_PKEY_get_size(key.get()), 800);
  const auto sent = library.encapsulate(key.get());
  ASSERT_TRUE(sent) << errors();
  EXPECT_EQ(sent->ciphertext.size(), 800U);
  EXPECT_EQ(sent->secret.size(), 64U);
}

// The client's side: what we sent is taken apart and put together by OpenSSL's own ML-KEM-512 and X25519.
TEST_F(HybridKeyTest, MlkemComesFirstInTheClientsShareAndInTheSecret) {
  const Key key = library.generate(group);
  const Bytes share = share_of(key.get());
  const Key kem = library.import("ML-KEM-512", part(share, 0, kem_public));
  const Key peer = library.import("X25519", part(share, kem_public, x));
  ASSERT_TRUE(kem && peer) << errors();
  const auto sent = library.encapsulate(kem.get());
  const Key own = library.generate("X25519");
  const auto derived = library.derive(own.get(), peer.get());
  ASSERT_TRUE(sent && derived);
  EXPECT_EQ(library.decapsulate(key.get(), sent->ciphertext + share_of(own.get())), sent->secret + *derived);
}

// The server's side.
TEST_F(HybridKeyTest, MlkemComesFirstInTheServersShare) {
  const Key kem = library.generate("ML-KEM-512");
  const Key own = library.generate("X25519");
  const Key key = library.from_share(group, share_of(kem.get()) + share_of(own.get()));
  ASSERT_NE(key, nullptr) << errors();
  const auto sent = library.encapsulate(key.get());
  ASSERT_TRUE(sent) << errors();
  const auto first = library.decapsulate(kem.get(), part(sent->ciphertext, 0, kem_ciphertext));
  const Key peer = library.import("X25519", part(sent->ciphertext, kem_ciphertext, x));
  const auto second = library.derive(own.get(), peer.get());
  ASSERT_TRUE(first && second);
  EXPECT_EQ(sent->secret, *first + *second);
}

TEST_F(HybridKeyTest, EachEncapsulationIsFresh) {
  const Key key = library.generate(group);
  const auto one = library.encapsulate(key.get());
  const auto other = library.encapsulate(key.get());
  ASSERT_TRUE(one && other);
  EXPECT_NE(part(one->ciphertext, 0, kem_ciphertext), part(other->ciphertext, 0, kem_ciphertext));
  EXPECT_NE(part(one->ciphertext, kem_ciphertext, x), part(other->ciphertext, kem_ciphertext, x));
  EXPECT_EQ(library.decapsulate(key.get(), one->ciphertext), one->secret);
  EXPECT_EQ(library.decapsulate(key.get(), other->ciphertext), other->secret);
}

// ML-KEM-512: vector 0 of the key generation and encapsulation tests that OpenSSL publishes with its source. X25519: RFC
// 7748 section 6.1.
TEST_F(HybridKeyTest, KnownAnswer) {
  Bytes seed = from_hex(
      "7c9935a0b07694aa0c6d10e4db6b1add2fd81a25ccb148032dcd739936737f2d"
      "8626ed79d451140800e03b59b956f8210e556067407d13dc90fa9e8b872bfb8f");
  const Bytes entropy = from_hex("147c03f7a5bebba406c8fae1874d7f13c80efe79a3a9a874cc09fe76f6997615");
  const Bytes alice_private = from_hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a");
  const Bytes alice = from_hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  const Bytes bob = from_hex("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  const Bytes mlkem_secret = from_hex("319839e82ab6b222de7b619e80da8391522bbb37677018494a4742c53f9abfdf");
  const Bytes x25519_secret = from_hex("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");

  EVP_PKEY* made = nullptr;
  const OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_ML_KEM_SEED, seed.data(), seed.size()),
                               OSSL_PARAM_construct_end()};
  const Step step(EVP_PKEY_CTX_new_from_name(library.context(), "ML-KEM-512", nullptr));
  ASSERT_EQ(EVP_PKEY_keygen_init(step.get()), 1);
  ASSERT_EQ(EVP_PKEY_CTX_set_params(step.get(), params), 1);
  ASSERT_EQ(EVP_PKEY_generate(step.get(), &made), 1);
  const Key kem(made);
  EXPECT_EQ(sha256(share_of(kem.get())), "852523749efd2b78d1074e5de629060312cd9397933a19ddb7482cfda5e92614");
  const auto sent = library.encapsulate(kem.get(), entropy);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sha256(sent->ciphertext), "bc29d7df8bc5465d980601d800259793e2603825a572da6cd198a512cc6d1a34");

  const Key key = library.import(group, share_of(kem.get()) + alice, private_of(kem.get()) + alice_private);
  ASSERT_NE(key, nullptr) << errors();
  EXPECT_EQ(library.decapsulate(key.get(), sent->ciphertext + bob), mlkem_secret + x25519_secret);
}

TEST_F(HybridKeyTest, KeysAreImportedExportedComparedAndCopied) {
  const Key key = library.generate(group);
  const Bytes shown = share_of(key.get());
  const Bytes hidden = private_of(key.get());
  const Key again = library.import(group, shown, hidden);
  ASSERT_NE(again, nullptr) << errors();
  EXPECT_EQ(private_of(again.get()), hidden);
  const Key public_only = library.import(group, shown);
  ASSERT_NE(public_only, nullptr) << errors();
  EXPECT_TRUE(private_of(public_only.get()).empty());
  EXPECT_EQ(EVP_PKEY_eq(key.get(), again.get()), 1);
  EXPECT_EQ(EVP_PKEY_eq(key.get(), public_only.get()), 1);
  const Key other = library.generate(group);
  EXPECT_NE(EVP_PKEY_eq(key.get(), other.get()), 1);

  const Key copy(EVP_PKEY_dup(key.get()));
  ASSERT_NE(copy, nullptr) << errors();
  const auto sent = library.encapsulate(public_only.get());
  ASSERT_TRUE(sent) << errors();
  EXPECT_EQ(library.decapsulate(copy.get(), sent->ciphertext), sent->secret);
  EXPECT_EQ(library.decapsulate(again.get(), sent->ciphertext), sent->secret);
  EXPECT_EQ(library.decapsulate(public_only.get(), sent->ciphertext), std::nullopt);

  OSSL_PARAM* exported = nullptr;
  ASSERT_EQ(EVP_PKEY_todata(key.get(), EVP_PKEY_KEYPAIR, &exported), 1) << errors();
  const OSSL_PARAM* const param = OSSL_PARAM_locate_const(exported, OSSL_PKEY_PARAM_PRIV_KEY);
  ASSERT_NE(param, nullptr);
  EXPECT_EQ(param->data_size, hidden.size());
  OSSL_PARAM_free(exported);
}

TEST_F(HybridKeyTest, APairWhosePartsDoNotBelongTogetherIsRefused) {
  const Key key = library.generate(group);
  const Key other = library.generate(group);
  Bytes mixed = private_of(key.get());
  const Bytes foreign = private_of(other.get());
  std::copy_n(foreign.begin(), kem_private, mixed.begin());
  EXPECT_EQ(library.import(group, share_of(key.get()), mixed), nullptr);
}

TEST_F(HybridKeyTest, WrongLengthsAreRefused) {
  const Key key = library.generate(group);
  const Bytes share = share_of(key.get());
  const auto sent = library.encapsulate(key.get());
  ASSERT_TRUE(sent);
  for (const std::size_t size : {0U, 1U, 31U, 32U, 768U, 800U, 831U, 833U, 1216U, 65535U}) {
    Bytes wrong = share;
    wrong.resize(size);
    ERR_clear_error();
    EXPECT_EQ(library.from_share(group, wrong), nullptr) << size;
    EXPECT_THAT(errors(), HasSubstr(size == 0 ? "" : "invalid key length")) << size;
    EXPECT_EQ(library.import(group, wrong), nullptr) << size;
    EXPECT_EQ(library.import(group, share, wrong + Bytes(1)), nullptr) << size;
  }
  for (const std::size_t size : {0U, 32U, 767U, 768U, 799U, 801U, 832U, 65535U}) {
    Bytes wrong = sent->ciphertext;
    wrong.resize(size);
    ERR_clear_error();
    EXPECT_EQ(library.decapsulate(key.get(), wrong), std::nullopt) << size;
    EXPECT_THAT(errors(), HasSubstr(size == 0 ? "" : "wrong ciphertext size")) << size;
  }
}

TEST_F(HybridKeyTest, BuffersThatAreTooSmallAreRefused) {
  const Key key = library.generate(group);
  const auto sent = library.encapsulate(key.get());
  const Step step(EVP_PKEY_CTX_new_from_pkey(library.context(), key.get(), nullptr));
  Bytes ciphertext(800);
  Bytes secret(64);
  ASSERT_EQ(EVP_PKEY_encapsulate_init(step.get(), nullptr), 1);
  std::size_t sent_size = 799;
  std::size_t secret_size = 64;
  EXPECT_NE(EVP_PKEY_encapsulate(step.get(), ciphertext.data(), &sent_size, secret.data(), &secret_size), 1);
  sent_size = 800;
  secret_size = 63;
  EXPECT_NE(EVP_PKEY_encapsulate(step.get(), ciphertext.data(), &sent_size, secret.data(), &secret_size), 1);
  ASSERT_EQ(EVP_PKEY_decapsulate_init(step.get(), nullptr), 1);
  secret_size = 63;
  EXPECT_NE(EVP_PKEY_decapsulate(step.get(), secret.data(), &secret_size, sent->ciphertext.data(), 800), 1);
  std::size_t share_size = 0;
  Bytes share(831);
  EXPECT_NE(EVP_PKEY_get_octet_string_param(key.get(), OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, share.data(), share.size(),
                                            &share_size),
            1);
}

// FIPS 203 section 6.3: a changed ciphertext gives another secret, not an error.
TEST_F(HybridKeyTest, AChangedCiphertextOfMlkemGivesAnotherSecret) {
  const Key key = library.generate(group);
  const auto sent = library.encapsulate(key.get());
  ASSERT_TRUE(sent);
  for (const std::size_t at : {0U, 100U, 767U}) {
    Bytes changed = sent->ciphertext;
    changed[at] ^= 1U;
    const auto secret = library.decapsulate(key.get(), changed);
    ASSERT_TRUE(secret) << errors();
    EXPECT_NE(part(*secret, 0, 32), part(sent->secret, 0, 32));
    EXPECT_EQ(part(*secret, 32, 32), part(sent->secret, 32, 32)) << "the classical part is untouched";
  }
  Bytes changed = sent->ciphertext;
  changed[kem_ciphertext] ^= 1U;
  const auto secret = library.decapsulate(key.get(), changed);
  ASSERT_TRUE(secret);
  EXPECT_EQ(part(*secret, 0, 32), part(sent->secret, 0, 32));
  EXPECT_NE(part(*secret, 32, 32), part(sent->secret, 32, 32));
}

// RFC 7748 section 6.1: a shared secret of zeros means a peer of low order.
TEST_F(HybridKeyTest, AnX25519ShareOfLowOrderIsRefused) {
  const Key key = library.generate(group);
  const auto sent = library.encapsulate(key.get());
  for (const std::uint8_t first : Bytes{0, 1}) {
    Bytes low(x, 0);
    low[0] = first;
    EXPECT_EQ(library.decapsulate(key.get(), part(sent->ciphertext, 0, kem_ciphertext) + low), std::nullopt);
    const Key peer = library.from_share(group, part(share_of(key.get()), 0, kem_public) + low);
    EXPECT_TRUE(peer == nullptr || !library.encapsulate(peer.get()));
  }
}

// FIPS 203 section 7.2: coefficients at or above the modulus.
TEST_F(HybridKeyTest, AnMlkemShareOutOfRangeIsRefused) {
  Bytes share = share_of(library.generate(group).get());
  share[0] = 0xFF;
  share[1] = 0xFF;
  EXPECT_EQ(library.from_share(group, share), nullptr);
}

TEST_F(HybridKeyTest, AKeyWithoutMaterialDoesNothing) {
  EVP_PKEY* made = nullptr;
  const Step step(EVP_PKEY_CTX_new_from_name(library.context(), group, nullptr));
  ASSERT_EQ(EVP_PKEY_paramgen_init(step.get()), 1);
  ASSERT_EQ(EVP_PKEY_paramgen(step.get(), &made), 1);
  const Key empty(made);
  EXPECT_TRUE(share_of(empty.get()).empty());
  EXPECT_EQ(library.encapsulate(empty.get()), std::nullopt);
  EXPECT_EQ(library.decapsulate(empty.get(), Bytes(800)), std::nullopt);
  const Key key = library.generate(group);
  const Bytes share = share_of(key.get());
  EXPECT_NE(EVP_PKEY_set1_encoded_public_key(key.get(), share.data(), share.size()), 1) << "a key does not change";
}

}  // namespace
}  // namespace tlstrata::provider
