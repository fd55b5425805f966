#include "ossl/aead.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "unit/ossl/hex.h"

namespace tlstrata::ossl {
namespace {

using Bytes = std::vector<std::uint8_t>;

struct Vector {
  std::string_view name;
  AeadAlgorithm algorithm;
  Bytes key, nonce, additional_data, plaintext, sealed;
};

Bytes text(std::string_view characters) {
  return {characters.begin(), characters.end()};
}

const std::vector<Vector>& vectors() {
  static const Bytes gcm_text = from_hex(
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
      "ba637b39");
  static const std::vector<Vector> all{
      {"GCM specification, test case 4", AeadAlgorithm::aes_128_gcm, from_hex("feffe9928665731c6d6a8f9467308308"),
       from_hex("cafebabefacedbaddecaf888"), from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"), gcm_text,
       from_hex("42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b"
                "396a0aac973d58e091 5bc94fbc3221a5db94fae95ae7121a47")},
      {"GCM specification, test case 16", AeadAlgorithm::aes_256_gcm,
       from_hex("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"),
       from_hex("cafebabefacedbaddecaf888"), from_hex("feedfacedeadbeeffeedfacedeadbeefabaddad2"), gcm_text,
       from_hex("522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e"
                "6393ba7a0abcc9f662 76fc6ece0f4e1768cddf8853bb2d551b")},
      {"RFC 8439 section 2.8.2", AeadAlgorithm::chacha20_poly1305,
       from_hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"),
       from_hex("070000004041424344454647"), from_hex("50515253c0c1c2c3c4c5c6c7"),
       text("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen "
            "would be it."),
       from_hex("d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d63dbea45e8ca9671282fafb69da92728b1a71de"
                "0a9e060b2905d6a5b67ecd3b3692ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc3ff4def08e4b"
                "7a9de576d26586cec64b6116 1ae10b594f09e26a7e902ecbd0600691")},
      {"NIST SP 800-38C example 3", AeadAlgorithm::aes_128_ccm_8, from_hex("404142434445464748494a4b4c4d4e4f"),
       from_hex("101112131415161718191a1b"), from_hex("000102030405060708090a0b0c0d0e0f10111213"),
       from_hex("202122232425262728292a2b2c2d2e2f3031323334353637"),
       from_hex("e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5 484392fbc1b09951")},
  };
  return all;
}

TEST(Aead, OpensAndSealsPublishedVectors) {
  for (const Vector& v : vectors()) {
    SCOPED_TRACE(v.name);
    auto aead = Aead::create(v.algorithm, v.key);
    ASSERT_TRUE(aead);
    Bytes opened;
    ASSERT_TRUE(aead->open(v.nonce, v.additional_data, v.sealed, opened));
    EXPECT_EQ(opened, v.plaintext);
    Bytes sealed(v.plaintext.size() + aead->tag_size());
    ASSERT_TRUE(aead->seal(v.nonce, v.additional_data, v.plaintext, sealed));
    EXPECT_EQ(sealed, v.sealed);
    ASSERT_TRUE(aead->open(v.nonce, v.additional_data, v.sealed, opened)) << "after sealing";
    EXPECT_EQ(opened, v.plaintext);
  }
}

// RFC 8448 section 3, the client's Finished: the record as TLS frames it.
TEST(Aead, OpensARecordOfRfc8448) {
  auto aead = Aead::create(AeadAlgorithm::aes_128_gcm, from_hex("dbfaa693d1762c5b666af5d950258d01"));
  ASSERT_TRUE(aead);
  const Bytes record = from_hex(
      "17 03 03 00 35 75 ec 4d c2 38 cc e6 0b 29 80 44 a7 1e 21 9c 56 cc 77 b0 51 7f e9 b9 3c 7a 4b fc 44 d8 7f 38 f8"
      "03 38 ac 98 fc 46 de b3 84 bd 1c ae ac ab 68 67 d7 26 c4 05 46");
  Bytes opened;
  ASSERT_TRUE(aead->open(from_hex("5bd3c71b836e0b76bb73265f"), std::span(record).first(5), std::span(record).subspan(5),
                         opened));
  EXPECT_EQ(opened, from_hex("14 00 00 20 a8 ec 43 6d 67 76 34 ae 52 5a c1 fc eb e1 1a 03 9e c1 76 94 fa c6 e9 85 27 "
                             "b6 42 f2 ed d5 ce 61 16"));
}

TEST(Aead, EveryFlippedBitIsNoticedAndTheOutputIsCleared) {
  for (const Vector& v : vectors()) {
    SCOPED_TRACE(v.name);
    auto aead = Aead::create(v.algorithm, v.key);
    ASSERT_TRUE(aead);
    Bytes opened;
    for (std::size_t bit = 0; bit < v.sealed.size() * 8; ++bit) {
      Bytes damaged = v.sealed;
      damaged[bit / 8] = static_cast<std::uint8_t>(damaged[bit / 8] ^ (1U << (bit % 8)));
      ASSERT_FALSE(aead->open(v.nonce, v.additional_data, damaged, opened)) << bit;
      ASSERT_EQ(opened, Bytes(v.plaintext.size(), 0));
    }
    EXPECT_FALSE(aead->open(v.nonce, {}, v.sealed, opened));
    EXPECT_TRUE(aead->open(v.nonce, v.additional_data, v.sealed, opened)) << "the context serves on after failures";
    EXPECT_EQ(opened, v.plaintext);
  }
}

TEST(Aead, RefusesWrongSizes) {
  for (const Vector& v : vectors()) {
    SCOPED_TRACE(v.name);
    EXPECT_FALSE(Aead::create(v.algorithm, std::span(v.key).first(v.key.size() - 1)));
    auto aead = Aead::create(v.algorithm, v.key);
    ASSERT_TRUE(aead);
    Bytes opened;
    EXPECT_FALSE(aead->open(std::span(v.nonce).first(11), v.additional_data, v.sealed, opened));
    EXPECT_FALSE(aead->open({}, v.additional_data, v.sealed, opened));
    for (std::size_t size = 0; size < v.sealed.size(); ++size) {
      ASSERT_FALSE(aead->open(v.nonce, v.additional_data, std::span(v.sealed).first(size), opened)) << size;
    }
    Bytes small(3);
    EXPECT_FALSE(aead->open(v.nonce, v.additional_data, v.sealed, std::span(small)));
  }
}

TEST(Aead, RekeysAndHandlesEmptyTexts) {
  for (const Vector& v : vectors()) {
    SCOPED_TRACE(v.name);
    auto aead = Aead::create(v.algorithm, Bytes(key_size(v.algorithm), 0x5a));
    ASSERT_TRUE(aead);
    Bytes opened;
    EXPECT_FALSE(aead->open(v.nonce, v.additional_data, v.sealed, opened));
    ASSERT_TRUE(aead->rekey(v.key));
    EXPECT_TRUE(aead->open(v.nonce, v.additional_data, v.sealed, opened));
    EXPECT_EQ(opened, v.plaintext);

    Bytes tag_alone(aead->tag_size());
    ASSERT_TRUE(aead->seal(v.nonce, v.additional_data, {}, tag_alone));
    EXPECT_TRUE(aead->open(v.nonce, v.additional_data, tag_alone, opened));
    EXPECT_TRUE(opened.empty());
    tag_alone[0] ^= 1U;
    EXPECT_FALSE(aead->open(v.nonce, v.additional_data, tag_alone, opened));

    Aead moved = std::move(*aead);
    ASSERT_TRUE(moved.open(v.nonce, v.additional_data, v.sealed, opened));
    EXPECT_EQ(opened, v.plaintext);
  }
}

}  // namespace
}  // namespace tlstrata::ossl
