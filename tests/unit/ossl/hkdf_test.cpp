#include "ossl/hkdf.h"

#include <gtest/gtest.h>

#include <vector>

#include "ossl/version.h"
#include "unit/ossl/hex.h"

namespace tlstrata::ossl {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes extract(Digest digest, const Bytes& salt, const Bytes& key_material) {
  Bytes out(digest_size(digest));
  EXPECT_TRUE(hkdf_extract(digest, salt, key_material, out));
  return out;
}
Bytes expand(const Bytes& secret, const Bytes& info, std::size_t size) {
  Bytes out(size);
  EXPECT_TRUE(hkdf_expand(Digest::sha256, secret, info, out));
  return out;
}
Bytes expand_label(Digest digest, const Bytes& secret, std::string_view label, const Bytes& context, std::size_t size) {
  Bytes out(size);
  EXPECT_TRUE(hkdf_expand_label(digest, secret, label, context, out));
  return out;
}
Bytes sequence(std::uint8_t first, std::size_t count) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::uint8_t>(first + i);
  }
  return bytes;
}

TEST(Hkdf, Rfc5869Case1) {
  const Bytes prk = extract(Digest::sha256, sequence(0, 13), Bytes(22, 0x0b));
  EXPECT_EQ(prk, from_hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"));
  EXPECT_EQ(expand(prk, sequence(0xf0, 10), 42),
            from_hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"));
}

TEST(Hkdf, Rfc5869Case2LongInputs) {
  const Bytes prk = extract(Digest::sha256, sequence(0x60, 80), sequence(0, 80));
  EXPECT_EQ(prk, from_hex("06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244"));
  EXPECT_EQ(expand(prk, sequence(0xb0, 80), 82),
            from_hex("b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
                     "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"));
}

TEST(Hkdf, Rfc5869Case3EmptySaltAndInfo) {
  const Bytes prk = extract(Digest::sha256, {}, Bytes(22, 0x0b));
  EXPECT_EQ(prk, from_hex("19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04"));
  EXPECT_EQ(expand(prk, {}, 42),
            from_hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"));
}

// The key schedule of RFC 8448 section 3 from the early secret to the server's handshake keys.
TEST(Hkdf, Rfc8448KeySchedule) {
  const Bytes early = extract(Digest::sha256, {}, Bytes(32, 0));
  EXPECT_EQ(early, from_hex("33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a"));
  Bytes empty_hash(32);
  ASSERT_TRUE(hash(Digest::sha256, {}, empty_hash));
  const Bytes derived = expand_label(Digest::sha256, early, "derived", empty_hash, 32);
  EXPECT_EQ(derived, from_hex("6f2615a108c702c5678f54fc9dbab69716c076189c48250cebeac3576c3611ba"));
  const Bytes handshake =
      extract(Digest::sha256, derived, from_hex("8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d"));
  EXPECT_EQ(handshake, from_hex("1dc826e93606aa6fdc0aadc12f741b01046aa6b99f691ed221a9f0ca043fbeac"));
  const Bytes transcript = from_hex("860c06edc07858ee8e78f0e7428c58edd6b43f2ca3e6e95f02ed063cf0e1cad8");
  EXPECT_EQ(expand_label(Digest::sha256, handshake, "c hs traffic", transcript, 32),
            from_hex("b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21"));
  const Bytes server = expand_label(Digest::sha256, handshake, "s hs traffic", transcript, 32);
  EXPECT_EQ(server, from_hex("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38"));
  Bytes key(16);
  Bytes iv(12);
  ASSERT_TRUE(traffic_key(Digest::sha256, server, key, iv));
  EXPECT_EQ(key, from_hex("3fce516009c21727d0f2e4e86ee403bc"));
  EXPECT_EQ(iv, from_hex("5d313eb2671276ee13000b30"));
}

// Worked out with Python's hmac and hashlib; RFC 8448 has no suite with SHA-384.
TEST(Hkdf, ExpandLabelWithSha384) {
  const Bytes secret = sequence(0, 48);
  Bytes key(32);
  Bytes iv(12);
  ASSERT_TRUE(traffic_key(Digest::sha384, secret, key, iv));
  EXPECT_EQ(key, from_hex("6877d022f1c61d24ebb7487c16752d9a4798e40431c75b39320e537c90e23225"));
  EXPECT_EQ(iv, from_hex("42822531a0fe88648fc09e9f"));
  EXPECT_EQ(expand_label(Digest::sha384, secret, "exp master", sequence(100, 48), 100),
            from_hex("3260ff6fc7e52b3ea0b07b8799a17076ca9b88124ece00819bda62425eaf746fd21500dceb298432b2cbd714fd3ae220"
                     "dae23ee34be5ac525fa9b0733ad254cc65dbd5099cfbcab9e24cd5ba3ad6403cb5e3fda0b24a360c5812759a49c7ff0e"
                     "9bb2627d"));
}

TEST(Hkdf, RefusesWhatTheLengthFieldsCannotSay) {
  Bytes out(255 * 32);
  EXPECT_TRUE(hkdf_expand(Digest::sha256, Bytes(32, 1), {}, out));
  out.push_back(0);
  EXPECT_EQ(hkdf_expand(Digest::sha256, Bytes(32, 1), {}, out).error().code, ErrorCode::limit);
  out.resize(16);
  EXPECT_EQ(hkdf_expand_label(Digest::sha256, Bytes(32, 1), std::string(250, 'x'), {}, out).error().code,
            ErrorCode::limit);
  EXPECT_EQ(hkdf_expand_label(Digest::sha256, Bytes(32, 1), "key", Bytes(256, 1), out).error().code, ErrorCode::limit);
}

// The vectors that the TLS working group circulated for RFC 5246's PRF.
TEST(Tls12Prf, Sha256) {
  Bytes out(100);
  ASSERT_TRUE(tls12_prf(Digest::sha256, from_hex("9bbe436ba940f017b17652849a71db35"), "test label",
                        from_hex("a0ba9f936cda311827a6f796ffd5198c"), out));
  EXPECT_EQ(out, from_hex("e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14ba"
                          "f9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a51"
                          "10fff70187347b66"));
}

TEST(Tls12Prf, Sha384) {
  Bytes out(148);
  ASSERT_TRUE(tls12_prf(Digest::sha384, from_hex("b80b733d6ceefcdc71566ea48e5567df"), "test label",
                        from_hex("cd665cf6a8447dd6ff8b27555edb7465"), out));
  EXPECT_EQ(out, from_hex("7b0c18e9ced410ed1804f2cfa34a336a1c14dffb4900bb5fd7942107e81c83cde9ca0faa60be9fe34f82b1233c91"
                          "46a0e534cb400fed2700884f9dc236f80edd8bfa961144c9e8d792eca722a7b32fc3d416d473ebc2c5fd4abfdad0"
                          "5d9184259b5bf8cd4d90fa0d31e2dec479e4f1a26066f2eea9a69236a3e52655c9e9aee691c8f3a26854308d5eaa"
                          "3be85e0990703d73e56f"));
}

TEST(Version, NamesTheLibrary) {
  EXPECT_TRUE(library_version().starts_with("OpenSSL 3.")) << library_version();
}

}  // namespace
}  // namespace tlstrata::ossl
