#include "tls/protection.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/tls/scribe.h"

namespace tlstrata::tls::test {
namespace {

// The Record that a RecordReader makes of these bytes.
Record record_of(const Bytes& wire) {
  Record record;
  const std::span<const std::uint8_t> bytes(wire);
  record.type = static_cast<ContentType>(bytes[0]);
  record.version = static_cast<std::uint16_t>(bytes[1] << 8U | bytes[2]);
  record.header = bytes.first(5);
  record.body = bytes.subspan(5);
  return record;
}

std::string text_of(const std::optional<Plaintext>& plaintext) {
  return plaintext ? std::string(plaintext->bytes.begin(), plaintext->bytes.end()) : "(closed)";
}

Bytes secret_for(std::uint16_t suite, std::uint8_t start = 1) {
  return pattern(secret_size(suite), start);
}

std::size_t tag_of(std::uint16_t suite) {
  return suite_parameters(suite).value().tag_size();
}

Protection protection_for(std::uint16_t suite, std::uint8_t start = 1) {
  return Protection::from_secret(suite_parameters(suite).value(), secret_for(suite, start)).value();
}

class Tls13Suites : public testing::TestWithParam<std::uint16_t> {};

TEST_P(Tls13Suites, OpensRecordsInOrder) {
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  for (int i = 0; i < 300; ++i) {
    const std::string text = "record " + std::to_string(i);
    const Bytes wire = scribe.data(text);
    const auto plaintext = protection.open(record_of(wire));
    ASSERT_EQ(text_of(plaintext), text);
    EXPECT_EQ(plaintext->type, ContentType::application_data);
    EXPECT_EQ(plaintext->record_offset, 5U);
  }
  EXPECT_EQ(protection.opened(), 300U);
}

TEST_P(Tls13Suites, InnerTypesAndPadding) {
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  for (const std::size_t padding : {0U, 1U, 100U, 5000U}) {
    const Bytes wire = scribe.seal(ContentType::handshake, text_bytes("message"), padding);
    const auto plaintext = protection.open(record_of(wire));
    EXPECT_EQ(text_of(plaintext), "message");
    EXPECT_EQ(plaintext->type, ContentType::handshake);
  }
  const Bytes empty = scribe.seal(ContentType::application_data, {}, 20);
  const auto plaintext = protection.open(record_of(empty));
  ASSERT_TRUE(plaintext);
  EXPECT_TRUE(plaintext->bytes.empty());
  EXPECT_EQ(plaintext->type, ContentType::application_data);
}

TEST_P(Tls13Suites, TrailingZerosOfTheContentStay) {
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  const Bytes content{'a', 0, 0, 0};
  const Bytes wire = scribe.seal(ContentType::application_data, content, 3);
  const auto plaintext = protection.open(record_of(wire));
  ASSERT_TRUE(plaintext);
  EXPECT_EQ(Bytes(plaintext->bytes.begin(), plaintext->bytes.end()), content);
}

TEST_P(Tls13Suites, EveryBitOfTheTagAndHeaderCounts) {
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  const Bytes wire = scribe.data("text");
  for (std::size_t at = 0; at < wire.size(); ++at) {
    Bytes damaged = wire;
    damaged[at] ^= 0x10;
    Record record = record_of(damaged);
    EXPECT_FALSE(protection.open(record)) << "byte " << at;
  }
  EXPECT_EQ(text_of(protection.open(record_of(wire))), "text") << "failures leave the sequence number alone";
}

TEST_P(Tls13Suites, KeyUpdateGivesTheNextGeneration) {
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  for (int generation = 0; generation < 4; ++generation) {
    EXPECT_EQ(text_of(protection.open(record_of(scribe.data("before")))), "before");
    scribe.update();
    const Bytes wire = scribe.data("after");
    EXPECT_FALSE(protection.open(record_of(wire))) << "still the old key";
    ASSERT_TRUE(protection.update());
    EXPECT_EQ(text_of(protection.open(record_of(wire))), "after");
  }
}

TEST_P(Tls13Suites, RekeyStartsFromZero) {
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  EXPECT_EQ(text_of(protection.open(record_of(scribe.data("handshake")))), "handshake");
  scribe.rekey(secret_for(GetParam(), 99));
  ASSERT_TRUE(protection.rekey(suite_parameters(GetParam()).value(), secret_for(GetParam(), 99)));
  EXPECT_EQ(text_of(protection.open(record_of(scribe.data("application")))), "application");
}

TEST_P(Tls13Suites, OneObjectServesAnySuiteAndForgetsItsKey) {
  Protection protection;
  EXPECT_FALSE(protection.has_key());
  EXPECT_FALSE(protection.open(record_of(Scribe(GetParam(), secret_for(GetParam())).data("text"))));
  for (const std::uint16_t suite : {std::uint16_t{0x1302}, GetParam(), std::uint16_t{0x1303}, GetParam()}) {
    Scribe scribe(suite, secret_for(suite));
    ASSERT_TRUE(protection.rekey(suite_parameters(suite).value(), secret_for(suite)));
    EXPECT_EQ(text_of(protection.open(record_of(scribe.data("text")))), "text");
    EXPECT_EQ(text_of(protection.open(record_of(scribe.data("more")))), "more");
    protection.clear();
    EXPECT_FALSE(protection.has_key());
    EXPECT_FALSE(protection.open(record_of(scribe.data("closed"))));
  }
}

TEST_P(Tls13Suites, PassedRecordsAreCounted) {
  for (const int passed : {1, 2, 7, 8, 9, 50}) {
    Scribe scribe(GetParam(), secret_for(GetParam()));
    Protection protection = protection_for(GetParam());
    for (int i = 0; i < passed; ++i) {
      (void)scribe.data("damaged on the way");
      protection.pass();
    }
    EXPECT_EQ(text_of(protection.open(record_of(scribe.data("next")))), "next") << passed << " passed";
    EXPECT_EQ(text_of(protection.open(record_of(scribe.data("and on")))), "and on");
  }
}

TEST_P(Tls13Suites, ToPeekTellsTypeAndSize) {
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  std::uint64_t opened = 0;
  for (std::size_t size = 0; size < 200; ++size) {
    const Bytes wire = scribe.seal(size % 3 == 0 ? ContentType::handshake : ContentType::application_data,
                                   Bytes(size, 0));  // zeros are content too, in front of the type
    const auto outline = protection.peek(record_of(wire));
    ASSERT_TRUE(outline) << size;
    EXPECT_EQ(outline->type, size % 3 == 0 ? ContentType::handshake : ContentType::application_data);
    EXPECT_EQ(outline->size, size);
    if (size % 5 == 0) {
      EXPECT_TRUE(protection.open(record_of(wire))) << size;
      ++opened;
    } else {
      protection.pass();
    }
  }
  EXPECT_EQ(protection.opened(), opened);
  scribe.update();
  const Bytes next = scribe.data("of the next key");
  ASSERT_TRUE(protection.update());
  EXPECT_EQ(protection.peek(record_of(next))->size, 15U);
  EXPECT_EQ(text_of(protection.open(record_of(next))), "of the next key");
}

TEST_P(Tls13Suites, ToPeekBehindPaddingIsGivenUp) {
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  const Bytes padded = scribe.data("text", 500);
  EXPECT_FALSE(protection.peek(record_of(padded)));
  EXPECT_EQ(text_of(protection.open(record_of(padded))), "text");
  EXPECT_FALSE(protection.peek(record_of(record(ContentType::application_data, Bytes(tag_of(GetParam()), 0)))));
  EXPECT_FALSE(Protection().peek(record_of(padded)));
}

TEST_P(Tls13Suites, RecordsThatWereNoneOfThisKeysDoNotCount) {
  // Announced as passed, but sealed under another key: this key's first record still has number 0.
  Scribe scribe(GetParam(), secret_for(GetParam()));
  Protection protection = protection_for(GetParam());
  for (int i = 0; i < 5; ++i) {
    protection.pass();
  }
  EXPECT_EQ(text_of(protection.open(record_of(scribe.data("first")))), "first");
}

TEST_P(Tls13Suites, RecordsShorterThanATagStayClosed) {
  Protection protection = protection_for(GetParam());
  for (std::size_t size = 0; size < 20; ++size) {
    const Bytes wire = record(ContentType::application_data, Bytes(size, 0));
    EXPECT_FALSE(protection.open(record_of(wire)));
  }
}

TEST_P(Tls13Suites, ASecretOfAnotherHashsSizeIsRefused) {
  const SuiteParameters suite = suite_parameters(GetParam()).value();
  EXPECT_FALSE(Protection::from_secret(suite, pattern(secret_size(GetParam()) == 32 ? 48 : 32)));
  EXPECT_FALSE(Protection::from_secret(suite, {}));
}

INSTANTIATE_TEST_SUITE_P(Suites, Tls13Suites,
                         testing::Values(std::uint16_t{0x1301}, std::uint16_t{0x1302}, std::uint16_t{0x1303},
                                         std::uint16_t{0x1304}, std::uint16_t{0x1305}));

TEST(ProtectionTags, Ccm8HasTheShortTag) {
  Scribe full(0x1304, secret_for(0x1304));
  Scribe half(0x1305, secret_for(0x1305));
  EXPECT_EQ(full.data("x").size(), 5U + 1 + 1 + 16);
  EXPECT_EQ(half.data("x").size(), 5U + 1 + 1 + 8);
}

// --- TLS 1.2

class Tls12Suites : public testing::TestWithParam<std::uint16_t> {};

TEST_P(Tls12Suites, OpensRecordsInOrderAndPastDamage) {
  Random client_random{};
  Random server_random{};
  server_random.fill(9);
  const Tls12Keys keys = tls12_keys(GetParam(), pattern(48), client_random, server_random);
  Tls12Scribe scribe(GetParam(), keys.server_key, keys.server_nonce);
  auto protection =
      Protection::from_key_block(suite_parameters(GetParam()).value(), keys.server_key, keys.server_nonce);
  ASSERT_TRUE(protection);
  const auto open = [&](const Bytes& wire) { return text_of(protection->open(record_of(wire))); };
  EXPECT_EQ(open(scribe.seal(ContentType::handshake, text_bytes("finished"))), "finished");
  EXPECT_EQ(open(scribe.seal(ContentType::application_data, text_bytes("response"))), "response");
  (void)scribe.seal(ContentType::application_data, text_bytes("lost"));
  protection->pass();
  EXPECT_EQ(open(scribe.seal(ContentType::application_data, text_bytes("next"))), "next");
  Bytes damaged = scribe.seal(ContentType::application_data, text_bytes("x"));
  damaged.back() ^= 1;
  EXPECT_EQ(open(damaged), "(closed)");
  for (std::size_t size = 0; size < 26; ++size) {
    EXPECT_EQ(open(record(ContentType::application_data, Bytes(size, 0))), "(closed)");
  }
}

TEST_P(Tls12Suites, ToPeekNeedsNoKey) {
  const Tls12Keys keys = tls12_keys(GetParam(), pattern(48), {}, {});
  Tls12Scribe scribe(GetParam(), keys.client_key, keys.client_nonce);
  auto protection =
      Protection::from_key_block(suite_parameters(GetParam()).value(), keys.client_key, keys.client_nonce);
  ASSERT_TRUE(protection);
  const Bytes wire = scribe.seal(ContentType::application_data, pattern(777));
  const auto outline = protection->peek(record_of(wire));
  ASSERT_TRUE(outline);
  EXPECT_EQ(outline->type, ContentType::application_data);
  EXPECT_EQ(outline->size, 777U);
}

TEST_P(Tls12Suites, TheOuterTypeIsTheType) {
  const Tls12Keys keys = tls12_keys(GetParam(), pattern(48), {}, {});
  Tls12Scribe scribe(GetParam(), keys.client_key, keys.client_nonce);
  auto protection =
      Protection::from_key_block(suite_parameters(GetParam()).value(), keys.client_key, keys.client_nonce);
  ASSERT_TRUE(protection);
  const Bytes wire = scribe.seal(ContentType::alert, Bytes{1, 0});
  const auto plaintext = protection->open(record_of(wire));
  ASSERT_TRUE(plaintext);
  EXPECT_EQ(plaintext->type, ContentType::alert);
  const bool is_chacha = suite_parameters(GetParam())->aead == ossl::AeadAlgorithm::chacha20_poly1305;
  EXPECT_EQ(plaintext->record_offset, is_chacha ? 5U : 13U);
  Bytes retyped = scribe.seal(ContentType::alert, Bytes{1, 0});
  retyped[0] = 23;
  EXPECT_FALSE(protection->open(record_of(retyped)));
}

INSTANTIATE_TEST_SUITE_P(Suites, Tls12Suites,
                         testing::Values(std::uint16_t{0xC02F}, std::uint16_t{0xC030}, std::uint16_t{0xCCA8},
                                         std::uint16_t{0xC0AC}, std::uint16_t{0xC0AE}));

TEST(Suites, OnlyAeadsHaveParameters) {
  EXPECT_FALSE(suite_parameters(0x002F)) << "TLS_RSA_WITH_AES_128_CBC_SHA";
  EXPECT_FALSE(suite_parameters(0xC027));
  EXPECT_FALSE(suite_parameters(0x0000));
  EXPECT_FALSE(suite_parameters(0xFFFF));
  EXPECT_TRUE(suite_parameters(0x1302)->is_tls13);
  EXPECT_FALSE(suite_parameters(0xC030)->is_tls13);
  EXPECT_EQ(suite_parameters(0x1302)->digest, ossl::Digest::sha384);
  EXPECT_EQ(suite_parameters(0x1303)->digest, ossl::Digest::sha256);
  EXPECT_EQ(suite_parameters(0xCCA8)->aead, ossl::AeadAlgorithm::chacha20_poly1305);
}

}  // namespace
}  // namespace tlstrata::tls::test
