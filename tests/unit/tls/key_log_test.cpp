#include "tls/key_log.h"

#include <gtest/gtest.h>

#include <random>

#include "unit/tls/scribe.h"

namespace tlstrata::tls::test {
namespace {

Random random_of(std::uint8_t value) {
  Random random{};
  random.fill(value);
  return random;
}

std::string line(SecretKind kind, std::uint8_t random, std::uint8_t secret, std::size_t size = 32) {
  return key_log_line(kind, random_of(random), pattern(size, secret));
}

Bytes secret_of(const KeyLog& keys, std::uint8_t random, SecretKind kind) {
  const auto found = keys.find(random_of(random));
  if (!found) {
    return {};
  }
  const auto bytes = found->of(kind);
  return {bytes.begin(), bytes.end()};
}

TEST(KeyLog, FindsEachKindOfSecret) {
  std::string text;
  for (std::size_t kind = 0; kind < secret_kind_count; ++kind) {
    const bool is_master = static_cast<SecretKind>(kind) == SecretKind::master_secret;
    text += line(static_cast<SecretKind>(kind), 7, static_cast<std::uint8_t>(kind), is_master ? 48 : 32);
  }
  const KeyLog keys = key_log_of(text);
  EXPECT_EQ(keys.counts().secrets, secret_kind_count);
  EXPECT_EQ(keys.connections(), 1U);
  for (std::size_t kind = 0; kind < secret_kind_count; ++kind) {
    const bool is_master = static_cast<SecretKind>(kind) == SecretKind::master_secret;
    EXPECT_EQ(secret_of(keys, 7, static_cast<SecretKind>(kind)),
              pattern(is_master ? 48 : 32, static_cast<std::uint8_t>(kind)));
  }
  EXPECT_FALSE(keys.find(random_of(8)));
  EXPECT_FALSE(keys.find(Bytes(31, 7)));
}

TEST(KeyLog, AbsentKindsAreAbsent) {
  const KeyLog keys = key_log_of(line(SecretKind::client_traffic, 7, 1));
  const auto found = keys.find(random_of(7));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->has(SecretKind::client_traffic));
  EXPECT_FALSE(found->has(SecretKind::server_traffic));
}

TEST(KeyLog, OrderDoesNotMatter) {
  std::vector<std::string> lines;
  for (std::uint8_t connection = 0; connection < 20; ++connection) {
    for (std::size_t kind = 0; kind + 1 < secret_kind_count; ++kind) {
      lines.push_back(
          line(static_cast<SecretKind>(kind), connection, static_cast<std::uint8_t>(connection * 7 + kind)));
    }
  }
  std::mt19937 random(1);
  std::ranges::shuffle(lines, random);
  std::string text;
  for (const std::string& each : lines) {
    text += each;
  }
  const KeyLog keys = key_log_of(text);
  EXPECT_EQ(keys.connections(), 20U);
  for (std::uint8_t connection = 0; connection < 20; ++connection) {
    EXPECT_EQ(secret_of(keys, connection, SecretKind::server_traffic),
              pattern(32, static_cast<std::uint8_t>(connection * 7 + 4)));
  }
}

TEST(KeyLog, CarriageReturnsCommentsAndBlankLinesArePassedOver) {
  std::string text = "# a comment\r\n\r\n  \n" + line(SecretKind::client_traffic, 7, 1);
  text.insert(text.size() - 1, "\r");
  const KeyLog keys = key_log_of(text);
  EXPECT_EQ(secret_of(keys, 7, SecretKind::client_traffic), pattern(32, 1));
  EXPECT_EQ(keys.counts().other, 3U);
  EXPECT_EQ(keys.counts().junk, 0U);
}

TEST(KeyLog, TakesUpperCaseDigitsAndSha384Secrets) {
  std::string text = line(SecretKind::client_traffic, 0xAB, 1, 48);
  for (char& c : text) {
    c = c >= 'a' && c <= 'f' ? static_cast<char>(c - 32) : c;
  }
  EXPECT_EQ(secret_of(key_log_of(text), 0xAB, SecretKind::client_traffic), pattern(48, 1));
}

TEST(KeyLog, JunkIsCounted) {
  const std::string good = line(SecretKind::client_traffic, 7, 1);
  const std::vector<std::string> junk{
      "hello",
      "CLIENT_TRAFFIC_SECRET_0",
      "CLIENT_TRAFFIC_SECRET_0 00",
      "CLIENT_TRAFFIC_SECRET_0 " + std::string(64, '0') + " 1234",                     // a secret of two bytes
      "CLIENT_TRAFFIC_SECRET_0 " + std::string(62, '0') + ' ' + std::string(64, '1'),  // a random of 31 bytes
      "CLIENT_TRAFFIC_SECRET_0 " + std::string(64, 'g') + ' ' + std::string(64, '1'),
      "CLIENT_TRAFFIC_SECRET_0 " + std::string(64, '0') + ' ' + std::string(64, 'z'),
      "CLIENT_TRAFFIC_SECRET_0  " + std::string(64, '0') + ' ' + std::string(64, '1'),  // two blanks
      "client_traffic_secret_0 " + std::string(64, '0') + ' ' + std::string(64, '1'),
      std::string(64, '0') + ' ' + std::string(64, '1'),
      std::string("\0\x01\x02\xff", 4),
  };
  std::string text;
  for (const std::string& each : junk) {
    text += each + '\n';
  }
  const KeyLog keys = key_log_of(text + good);
  EXPECT_EQ(keys.counts().junk, junk.size());
  EXPECT_EQ(keys.counts().secrets, 1U);
  EXPECT_EQ(keys.connections(), 1U);
}

TEST(KeyLog, OtherLabelsAreNoJunk) {
  const std::string rest = ' ' + std::string(64, '0') + ' ' + std::string(64, '1') + '\n';
  const KeyLog keys = key_log_of("EXPORTER_SECRET" + rest + "EARLY_EXPORTER_SECRET" + rest + "ECH_SECRET" + rest +
                                 "CLIENT_TRAFFIC_SECRET_1" + rest);
  EXPECT_EQ(keys.counts().other, 4U);
  EXPECT_EQ(keys.connections(), 0U);
}

TEST(KeyLog, TheFirstOfDuplicatesAndConflictsStays) {
  const KeyLog keys = key_log_of(line(SecretKind::client_traffic, 7, 1) + line(SecretKind::client_traffic, 7, 1) +
                                 line(SecretKind::client_traffic, 7, 2) + line(SecretKind::client_traffic, 7, 1, 48));
  EXPECT_EQ(keys.counts().secrets, 1U);
  EXPECT_EQ(keys.counts().duplicates, 1U);
  EXPECT_EQ(keys.counts().conflicts, 2U);
  EXPECT_EQ(secret_of(keys, 7, SecretKind::client_traffic), pattern(32, 1));
}

TEST(KeyLog, TheLastLineNeedsNoNewline) {
  std::string text = line(SecretKind::client_traffic, 7, 1);
  text.pop_back();
  KeyLog keys;
  keys.feed(text_bytes(text));
  EXPECT_EQ(keys.connections(), 0U) << "the line may go on";
  keys.finish();
  EXPECT_EQ(keys.connections(), 1U);
}

TEST(KeyLog, FilesAreKeptApartByFinish) {
  std::string text = line(SecretKind::client_traffic, 7, 1);
  text.pop_back();
  KeyLog keys;
  keys.feed(text_bytes(text));
  keys.finish();
  keys.feed(text_bytes(line(SecretKind::server_traffic, 7, 2)));
  keys.finish();
  EXPECT_EQ(keys.counts().secrets, 2U);
  EXPECT_EQ(keys.counts().junk, 0U);
}

TEST(KeyLog, LinesOfAHundredKilobytesArePassedOver) {
  const std::string huge(100'000, 'A');
  const std::string text = huge + '\n' + line(SecretKind::client_traffic, 7, 1) + "# " + huge + '\n' +
                           line(SecretKind::server_traffic, 7, 2) + huge;
  const KeyLog keys = key_log_of(text);
  EXPECT_EQ(keys.counts().junk, 3U);
  EXPECT_EQ(keys.counts().secrets, 2U);
}

TEST(KeyLog, AnyChunkingGivesTheSame) {
  std::string text = "# comment\n" + line(SecretKind::client_traffic, 7, 1) + "junk line\r\n" + std::string(2000, 'x') +
                     '\n' + line(SecretKind::server_traffic, 7, 2) + line(SecretKind::master_secret, 9, 3, 48);
  text.pop_back();
  const KeyLog whole = key_log_of(text);
  for (const std::size_t piece : {1U, 2U, 7U, 100U, 1023U, 1024U, 1025U}) {
    KeyLog keys;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      keys.feed(text_bytes(std::string_view(text).substr(at, piece)));
    }
    keys.finish();
    EXPECT_EQ(keys.counts().secrets, whole.counts().secrets) << piece;
    EXPECT_EQ(keys.counts().junk, whole.counts().junk) << piece;
    EXPECT_EQ(keys.counts().other, whole.counts().other) << piece;
    EXPECT_EQ(secret_of(keys, 9, SecretKind::master_secret), pattern(48, 3));
  }
}

TEST(KeyLog, AMillionLines) {
  // 200,000 connections of five lines each, in one piece.
  const auto random_at = [](std::uint32_t i) {
    Random random{};
    for (std::size_t byte = 0; byte < 4; ++byte) {
      random[28 + byte] = static_cast<std::uint8_t>(i >> (8 * byte));
    }
    return random;
  };
  std::vector<std::string> secrets;
  for (std::size_t start = 0; start < 256; ++start) {
    secrets.push_back(' ' + hex(pattern(32, static_cast<std::uint8_t>(start))) + '\n');
  }
  std::string text;
  text.reserve(std::size_t{165} * 1'000'000);
  for (std::uint32_t i = 0; i < 200'000; ++i) {
    const std::string random = ' ' + hex(random_at(i));
    for (std::size_t kind = 0; kind + 1 < secret_kind_count; ++kind) {
      text.append(secret_labels.at(kind)).append(random).append(secrets[(i + kind) % 256]);
    }
  }
  const KeyLog keys = key_log_of(text);
  EXPECT_EQ(keys.counts().secrets, 1'000'000U);
  EXPECT_EQ(keys.connections(), 200'000U);
  for (const std::uint32_t i : {0U, 1U, 65'536U, 199'999U}) {
    const auto found = keys.find(random_at(i));
    ASSERT_TRUE(found);
    EXPECT_TRUE(
        std::ranges::equal(found->of(SecretKind::server_traffic), pattern(32, static_cast<std::uint8_t>(i + 4))));
  }
}

TEST(KeyLog, KeysBelowCountAsReadBefore) {
  const KeyLog below = key_log_of(line(SecretKind::client_traffic, 7, 1) + line(SecretKind::server_traffic, 8, 1));
  KeyLog keys(&below);
  const std::string text = line(SecretKind::client_traffic, 7, 1) + line(SecretKind::client_traffic, 7, 2) +
                           line(SecretKind::server_traffic, 7, 3) + line(SecretKind::client_traffic, 9, 4);
  keys.feed(std::vector<std::uint8_t>(text.begin(), text.end()));
  EXPECT_EQ(keys.counts().duplicates, 1U);
  EXPECT_EQ(keys.counts().conflicts, 1U);
  EXPECT_EQ(keys.counts().secrets, 2U);
  for (const std::uint8_t connection : std::initializer_list<std::uint8_t>{7, 8, 9}) {
    EXPECT_TRUE(keys.find(random_of(connection))) << connection;
  }
  const auto both = keys.find(random_of(7));
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->has(SecretKind::client_traffic)) << "from below";
  EXPECT_TRUE(both->has(SecretKind::server_traffic)) << "its own";
  EXPECT_FALSE(below.find(random_of(9)));
}

}  // namespace
}  // namespace tlstrata::tls::test
