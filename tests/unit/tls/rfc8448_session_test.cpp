// The five traces of RFC 8448 through a Session: every message is found, all application data comes out.
#include <gtest/gtest.h>

#include "unit/tls/rfc8448_vectors.h"
#include "unit/tls/session_runner.h"

namespace tlstrata::tls::test {
namespace {

using rfc8448::Vectors;

class Rfc8448 : public testing::TestWithParam<const char*> {};

// What a side's records hold, by the RFC: message types, then data and alerts, in order.
struct Expected {
  std::vector<HandshakeType> messages;
  std::string data;
  std::string early_data;
  std::size_t alerts = 0;
  std::size_t change_cipher_specs = 0;
};

Expected expected_of(const Vectors& vectors, bool from_client) {
  Expected expected;
  for (const auto& record : vectors.records()) {
    if (record.from_client != from_client) {
      continue;
    }
    const std::string text(record.content.begin(), record.content.end());
    switch (static_cast<ContentType>(record.type)) {
      case ContentType::handshake:
        for (std::size_t at = 0; at < record.content.size();) {
          expected.messages.push_back(static_cast<HandshakeType>(record.content.at(at)));
          at += 4 + (std::size_t{record.content.at(at + 1)} << 16U) + (std::size_t{record.content.at(at + 2)} << 8U) +
                record.content.at(at + 3);
        }
        break;
      case ContentType::application_data:
        (record.protection == "early" ? expected.early_data : expected.data) += text;
        break;
      case ContentType::alert:
        ++expected.alerts;
        break;
      default:
        ++expected.change_cipher_specs;
        break;
    }
  }
  return expected;
}

SessionRunner run(const Vectors& vectors, const KeyLog& keys, std::size_t piece) {
  SessionRunner runner(keys, piece);
  for (const auto& record : vectors.records()) {
    runner.feed(record.from_client ? Role::client : Role::server, record.wire);
  }
  runner.finish();
  return runner;
}

TEST_P(Rfc8448, EveryMessageIsFoundAndAllDataComesOut) {
  const Vectors vectors(GetParam());
  const KeyLog keys = key_log_of(vectors.key_log());
  const SessionRunner runner = run(vectors, keys, 0);
  for (const Role role : {Role::client, Role::server}) {
    const Expected expected = expected_of(vectors, role == Role::client);
    std::vector<HandshakeType> messages;
    std::string data;
    std::string early_data;
    for (const Seen& seen : runner.of(role)) {
      switch (seen.kind) {
        case Item::Kind::client_hello:
        case Item::Kind::server_hello:
        case Item::Kind::message:
          messages.push_back(seen.message_type);
          break;
        case Item::Kind::application_data:
          (seen.is_early ? early_data : data).append(seen.plaintext.begin(), seen.plaintext.end());
          break;
        case Item::Kind::alert:
        case Item::Kind::change_cipher_spec:
          break;
        default:
          ADD_FAILURE() << testing::PrintToString(seen);
      }
    }
    EXPECT_EQ(messages, expected.messages);
    EXPECT_EQ(data, expected.data);
    EXPECT_EQ(early_data, expected.early_data);
    EXPECT_EQ(runner.count(role, Item::Kind::alert), expected.alerts);
    EXPECT_EQ(runner.count(role, Item::Kind::change_cipher_spec), expected.change_cipher_specs);
  }
  EXPECT_TRUE(runner.session.has_keys());
}

TEST_P(Rfc8448, AnyChunkingGivesTheSameItems) {
  const Vectors vectors(GetParam());
  const KeyLog keys = key_log_of(vectors.key_log());
  const SessionRunner whole = run(vectors, keys, 0);
  for (const std::size_t piece : {1U, 2U, 3U, 5U, 7U, 64U, 100U}) {
    EXPECT_EQ(run(vectors, keys, piece).items, whole.items) << "pieces of " << piece;
  }
}

TEST_P(Rfc8448, WithoutKeysTheProtectedRecordsStayClosed) {
  const Vectors vectors(GetParam());
  const KeyLog none;
  const SessionRunner runner = run(vectors, none, 0);
  EXPECT_FALSE(runner.session.has_keys());
  for (const Role role : {Role::client, Role::server}) {
    EXPECT_EQ(runner.count(role, Item::Kind::application_data), 0U);
    std::size_t sealed = 0;
    for (const auto& record : vectors.records()) {
      sealed += record.from_client == (role == Role::client) && record.protection != "plain" ? 1U : 0U;
    }
    EXPECT_EQ(runner.count(role, Item::Kind::opaque), sealed);
  }
}

TEST_P(Rfc8448, TheServersStreamMayComeFirst) {
  const Vectors vectors(GetParam());
  const KeyLog keys = key_log_of(vectors.key_log());
  SessionRunner in_order(keys);
  in_order.client(vectors.stream(true)).server(vectors.stream(false)).finish();
  SessionRunner server_first(keys);
  server_first.server(vectors.stream(false)).client(vectors.stream(true)).finish();
  for (const Role role : {Role::client, Role::server}) {
    const auto one = in_order.of(role);
    const auto other = server_first.of(role);
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(one[i].kind, other[i].kind);
      EXPECT_EQ(one[i].plaintext, other[i].plaintext);
      EXPECT_EQ(one[i].message_type, other[i].message_type);
    }
  }
  EXPECT_EQ(in_order.count(Role::client, Item::Kind::opaque), 0U) << "the client's records wait for the ServerHello";
}

INSTANTIATE_TEST_SUITE_P(Traces, Rfc8448,
                         testing::Values("simple_1rtt", "resumed_0rtt", "hello_retry_request", "client_authentication",
                                         "compatibility_mode"),
                         [](const auto& trace) { return std::string(trace.param); });

TEST(Rfc8448Traces, EarlyDataIsFoundInItsEpoch) {
  const Vectors vectors("resumed_0rtt");
  const KeyLog keys = key_log_of(vectors.key_log());
  const SessionRunner runner = run(vectors, keys, 0);
  ASSERT_TRUE(runner.session.encrypted_extensions());
  EXPECT_TRUE(runner.session.encrypted_extensions()->accepts_early_data);
  EXPECT_TRUE(runner.message_of(Role::client, HandshakeType::end_of_early_data).is_encrypted);
  std::size_t early = 0;
  for (const Seen& seen : runner.of(Role::client)) {
    early += seen.is_early ? 1 : 0;
  }
  EXPECT_EQ(early, 1U);
}

TEST(Rfc8448Traces, TheRetryIsMarked) {
  const Vectors vectors("hello_retry_request");
  const KeyLog keys = key_log_of(vectors.key_log());
  const SessionRunner runner = run(vectors, keys, 0);
  EXPECT_EQ(runner.count(Role::client, Item::Kind::client_hello), 2U);
  EXPECT_EQ(runner.count(Role::server, Item::Kind::server_hello), 2U);
}

}  // namespace
}  // namespace tlstrata::tls::test
