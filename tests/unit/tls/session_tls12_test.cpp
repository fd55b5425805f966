// TLS 1.2 through a Session: where the keys change, what is opened, what stays opaque.
#include <gtest/gtest.h>

#include "unit/tls/session_runner.h"

namespace tlstrata::tls::test {
namespace {

// A TLS 1.2 connection with an AEAD suite.
struct Peer {
  explicit Peer(std::uint16_t cipher_suite)
      : suite(cipher_suite), keys(tls12_keys(suite, pattern(48, 8), client_random(), server_random())) {
    hello.random = client_random();
    hello.versions = {0x0303};
    hello.suites = {suite};
    server.random = server_random();
    server.version = 0x0303;
    server.suite = suite;
  }

  static Random client_random() {
    Random random{};
    random.fill(0x21);
    return random;
  }
  static Random server_random() {
    Random random{};
    random.fill(0x42);
    return random;
  }
  [[nodiscard]] std::string key_log() const {
    return key_log_line(SecretKind::master_secret, hello.random, pattern(48, 8));
  }
  [[nodiscard]] Bytes client_hello() const {
    return record(ContentType::handshake, message(HandshakeType::client_hello, client_hello_body(hello)));
  }
  [[nodiscard]] Bytes server_hello() const {
    return record(ContentType::handshake, message(HandshakeType::server_hello, server_hello_body(server)));
  }
  // ServerHello, Certificate, ServerKeyExchange, ServerHelloDone in one record.
  [[nodiscard]] Bytes server_flight() const {
    return record(ContentType::handshake, message(HandshakeType::server_hello, server_hello_body(server))
                                              << message(HandshakeType::certificate, pattern(800))
                                              << message(HandshakeType::server_key_exchange, pattern(100))
                                              << message(HandshakeType::server_hello_done, {}));
  }
  [[nodiscard]] static Bytes client_key_exchange() {
    return record(ContentType::handshake, message(HandshakeType::client_key_exchange, pattern(33)));
  }
  Bytes client_finished() {
    return change_cipher_spec() << client_scribe.seal(ContentType::handshake,
                                                      message(HandshakeType::finished, pattern(12)));
  }
  Bytes server_finished() {
    return change_cipher_spec() << server_scribe.seal(ContentType::handshake,
                                                      message(HandshakeType::finished, pattern(12)));
  }
  Bytes request(std::string_view text) { return client_scribe.seal(ContentType::application_data, text_bytes(text)); }
  Bytes response(std::string_view text) { return server_scribe.seal(ContentType::application_data, text_bytes(text)); }

  std::uint16_t suite;
  HelloFields hello;
  ServerHelloFields server;
  Tls12Keys keys;
  Tls12Scribe client_scribe{suite, keys.client_key, keys.client_nonce};
  Tls12Scribe server_scribe{suite, keys.server_key, keys.server_nonce};
};

class SessionTls12 : public testing::TestWithParam<std::uint16_t> {};

TEST_P(SessionTls12, AFullHandshake) {
  Peer peer(GetParam());
  const KeyLog keys = key_log_of(peer.key_log());
  for (const std::size_t piece : {0U, 1U, 7U}) {
    Peer fresh(GetParam());
    SessionRunner runner(keys, piece);
    runner.client(fresh.client_hello()).server(fresh.server_flight());
    runner.client(Peer::client_key_exchange() << fresh.client_finished());
    runner.server(fresh.server_finished());
    runner.client(fresh.request("request")).server(fresh.response("response"));
    EXPECT_TRUE(runner.session.has_keys());
    EXPECT_EQ(runner.text(Role::client), "request");
    EXPECT_EQ(runner.text(Role::server), "response");
    EXPECT_EQ(runner.message_of(Role::client, HandshakeType::finished).complete, 3U);
    EXPECT_EQ(runner.message_of(Role::server, HandshakeType::finished).complete, 4U);
    EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 0U);
  }
}

TEST_P(SessionTls12, AnAbbreviatedHandshake) {
  Peer peer(GetParam());
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello()).server(peer.server_hello() << peer.server_finished());
  runner.client(peer.client_finished() << peer.request("request")).server(peer.response("response"));
  EXPECT_EQ(runner.text(Role::client), "request");
  EXPECT_EQ(runner.text(Role::server), "response");
}

TEST_P(SessionTls12, WithoutTheMasterSecret) {
  Peer peer(GetParam());
  const KeyLog none;
  SessionRunner runner(none);
  runner.client(peer.client_hello()).server(peer.server_flight());
  runner.client(Peer::client_key_exchange() << peer.client_finished()).server(peer.server_finished());
  runner.client(peer.request("request")).server(peer.response("response"));
  EXPECT_FALSE(runner.session.has_keys());
  EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 2U) << "Finished and request";
  EXPECT_EQ(runner.count(Role::server, Item::Kind::opaque), 2U);
  EXPECT_EQ(runner.message_of(Role::server, HandshakeType::certificate).message_size, 804U);
}

TEST_P(SessionTls12, AClientThatIsCapturedFirst) {
  // Merged captures of two points whose clocks differ: all of the client's packets come first.
  Peer peer(GetParam());
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello() << Peer::client_key_exchange() << peer.client_finished()
                                    << peer.request("request"));
  runner.server(peer.server_flight() << peer.server_finished() << peer.response("response"));
  runner.finish();
  EXPECT_EQ(runner.text(Role::client), "request");
  EXPECT_EQ(runner.text(Role::server), "response");
  EXPECT_EQ(runner.message_of(Role::client, HandshakeType::finished).complete, 1U);
}

INSTANTIATE_TEST_SUITE_P(Suites, SessionTls12,
                         testing::Values(std::uint16_t{0xC02F}, std::uint16_t{0xC030}, std::uint16_t{0xCCA8},
                                         std::uint16_t{0xC0AC}, std::uint16_t{0xC0AE}));

TEST(SessionTls12Other, SuitesThatAreNoAeadStayClosed) {
  const KeyLog keys = key_log_of(key_log_line(SecretKind::master_secret, Peer::client_random(), pattern(48, 8)));
  SessionRunner runner(keys);
  HelloFields hello;
  hello.random = Peer::client_random();
  ServerHelloFields server;
  server.version = 0x0303;
  server.suite = 0xC027;  // AES-128-CBC
  runner.client(record(ContentType::handshake, message(HandshakeType::client_hello, client_hello_body(hello))));
  runner.server(record(ContentType::handshake, message(HandshakeType::server_hello, server_hello_body(server))));
  runner.client(change_cipher_spec() << record(ContentType::handshake, pattern(80)));
  runner.client(record(ContentType::application_data, pattern(100)));
  EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 2U);
  EXPECT_FALSE(runner.session.has_keys());
}

}  // namespace
}  // namespace tlstrata::tls::test
