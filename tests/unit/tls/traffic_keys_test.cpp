#include "tls/traffic_keys.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "ossl/hkdf.h"
#include "tls/sha2_lanes.h"
#include "unit/tls/rfc8448_vectors.h"
#include "unit/tls/scribe.h"

namespace tlstrata::tls::test {
namespace {

using ossl::Digest;

// What one lane of a compression over one block gives, by the library: the digest of a message of less than a block.
template <typename Word>
void expect_digests(Sha2Compress<Word> compress, Digest digest, const std::array<Word, 8>& initial,
                    std::size_t digest_words) {
  constexpr std::size_t length_size = 2 * sizeof(Word);
  constexpr std::size_t block_size = 16 * sizeof(Word);
  std::mt19937_64 random(7);
  for (std::size_t size = 0; size < block_size - length_size; ++size) {
    Sha2State<Word> state{};
    Sha2Block<Word> block{};
    std::array<Bytes, sha2_lanes> messages;
    for (std::size_t lane = 0; lane < sha2_lanes; ++lane) {
      messages[lane].resize(size);
      for (std::uint8_t& byte : messages[lane]) {
        byte = static_cast<std::uint8_t>(random());
      }
      Bytes padded = messages[lane];
      padded.push_back(0x80);
      padded.resize(block_size);
      for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t at = 0; at < sizeof(Word); ++at) {
          block.words[i][lane] = static_cast<Word>(block.words[i][lane] << 8U) | padded[i * sizeof(Word) + at];
        }
        if (i < 8) {
          state.words[i][lane] = initial[i];
        }
      }
      block.words[15][lane] = static_cast<Word>(size * 8);
    }
    Sha2State<Word> next{};
    compress(state, block, next);
    for (std::size_t lane = 0; lane < sha2_lanes; ++lane) {
      Bytes expected(ossl::digest_size(digest));
      ASSERT_TRUE(ossl::hash(digest, messages[lane], expected));
      Bytes got;
      for (std::size_t i = 0; i < digest_words; ++i) {
        for (std::size_t at = 0; at < sizeof(Word); ++at) {
          got.push_back(static_cast<std::uint8_t>(next.words[i][lane] >> (8 * (sizeof(Word) - 1 - at))));
        }
      }
      ASSERT_EQ(got, expected) << size << " bytes in lane " << lane;
    }
  }
}

TEST(Sha2Lanes, EveryVariantCompressesAsTheLibraryDoes) {
  const auto narrow = sha2_compress_variants<std::uint32_t>();
  ASSERT_FALSE(narrow.empty());
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    SCOPED_TRACE("SHA-256, variant " + std::to_string(i));
    expect_digests<std::uint32_t>(
        narrow[i], Digest::sha256,
        {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19}, 8);
  }
  const auto wide = sha2_compress_variants<std::uint64_t>();
  ASSERT_FALSE(wide.empty());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    SCOPED_TRACE("SHA-384, variant " + std::to_string(i));
    expect_digests<std::uint64_t>(wide[i], Digest::sha384,
                                  {0xCBBB9D5DC1059ED8, 0x629A292A367CD507, 0x9159015A3070DD17, 0x152FECD8F70E5939,
                                   0x67332667FFC00B31, 0x8EB44A8768581511, 0xDB0C2E0D64F98FA7, 0x47B5481DBEFA4FA4},
                                  6);
  }
}

struct Case {
  Digest digest;
  std::size_t key_size;
};

class TrafficKeysOf : public testing::TestWithParam<Case> {};

TEST_P(TrafficKeysOf, RandomSecretsInEveryCombination) {
  const auto [digest, key_size] = GetParam();
  std::mt19937_64 random(42);
  for (unsigned present = 0; present < 16; ++present) {
    for (int round = 0; round < 10; ++round) {
      std::array<Bytes, most_traffic_secrets> secrets;
      TrafficSecrets views;
      for (std::size_t i = 0; i < secrets.size(); ++i) {
        secrets[i].resize((present >> i & 1U) != 0 ? ossl::digest_size(digest) : 0);
        for (std::uint8_t& byte : secrets[i]) {
          byte = static_cast<std::uint8_t>(random());
        }
        views[i] = secrets[i];
      }
      TrafficKeys keys;
      derive_traffic_keys(digest, key_size, views, keys);
      for (std::size_t i = 0; i < secrets.size(); ++i) {
        TrafficKey expected;
        if (!secrets[i].empty()) {
          ASSERT_TRUE(ossl::hkdf_expand_label(digest, secrets[i], "key", {}, std::span(expected.key).first(key_size)));
          ASSERT_TRUE(ossl::hkdf_expand_label(digest, secrets[i], "iv", {}, expected.iv));
        }
        EXPECT_EQ(keys[i].key, expected.key) << "secret " << i << " of mask " << present;
        EXPECT_EQ(keys[i].iv, expected.iv) << "secret " << i << " of mask " << present;
      }
    }
  }
}

TEST_P(TrafficKeysOf, ASecretOfAnotherSizeIsLeftOut) {
  const auto [digest, key_size] = GetParam();
  const Bytes good = pattern(ossl::digest_size(digest));
  for (const std::size_t size : {std::size_t{1}, good.size() - 1, good.size() + 1, std::size_t{80} - good.size()}) {
    const Bytes bad = pattern(size);
    TrafficKeys keys;
    derive_traffic_keys(digest, key_size, {bad, good, bad, good}, keys);
    EXPECT_EQ(keys[0].key, TrafficKey{}.key);
    EXPECT_EQ(keys[2].iv, TrafficKey{}.iv);
    TrafficKey expected;
    ASSERT_TRUE(ossl::traffic_key(digest, good, std::span(expected.key).first(key_size), expected.iv));
    EXPECT_EQ(keys[1].key, expected.key);
    EXPECT_EQ(keys[3].iv, expected.iv);
  }
}

INSTANTIATE_TEST_SUITE_P(Hashes, TrafficKeysOf,
                         testing::Values(Case{Digest::sha256, 16}, Case{Digest::sha256, 32}, Case{Digest::sha384, 16},
                                         Case{Digest::sha384, 32}));

TEST(TrafficKeysOfRfc8448, AllFourAtOnce) {
  const rfc8448::Vectors vectors("simple_1rtt");
  const Bytes client_handshake = vectors.bytes("client_handshake_traffic_secret");
  const Bytes server_handshake = vectors.bytes("server_handshake_traffic_secret");
  const Bytes client = vectors.bytes("client_application_traffic_secret_0");
  const Bytes server = vectors.bytes("server_application_traffic_secret_0");
  TrafficKeys keys;
  derive_traffic_keys(Digest::sha256, 16, {client_handshake, server_handshake, client, server}, keys);
  const auto expect = [&](std::size_t index, const std::string& name) {
    const Bytes key(keys[index].key.begin(), keys[index].key.begin() + 16);
    EXPECT_EQ(key, vectors.bytes(name + "_key"));
    EXPECT_EQ(Bytes(keys[index].iv.begin(), keys[index].iv.end()), vectors.bytes(name + "_iv"));
  };
  expect(0, "client_handshake");
  expect(1, "server_handshake");
  expect(2, "client_application");
  expect(3, "server_application");
}

}  // namespace
}  // namespace tlstrata::tls::test
