#include "tls/session.h"

#include <gtest/gtest.h>

#include "unit/tls/session_runner.h"

namespace tlstrata::tls::test {
namespace {

class SessionOfSuite : public testing::TestWithParam<std::uint16_t> {};

TEST_P(SessionOfSuite, AWholeConnection) {
  Handshake peer(GetParam());
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello());
  runner.server(peer.server_flight());
  runner.client(peer.client_finished());
  runner.client(peer.client.data("GET / HTTP/1.1\r\n\r\n"));
  runner.server(peer.server.data("HTTP/1.1 200 OK\r\n\r\n"));
  EXPECT_TRUE(runner.session.has_keys());
  EXPECT_EQ(runner.text(Role::client), "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(runner.text(Role::server), "HTTP/1.1 200 OK\r\n\r\n");
  const Seen hello = runner.message_of(Role::client, HandshakeType::client_hello);
  EXPECT_EQ(hello.first, 1U);
  EXPECT_EQ(hello.record_end, peer.client_hello().size());
  EXPECT_EQ(runner.message_of(Role::server, HandshakeType::finished).complete, 2U);
  EXPECT_EQ(runner.message_of(Role::client, HandshakeType::finished).complete, 3U);
  EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 0U);
  EXPECT_EQ(runner.count(Role::server, Item::Kind::opaque), 0U);
}

INSTANTIATE_TEST_SUITE_P(Suites, SessionOfSuite,
                         testing::Values(std::uint16_t{0x1301}, std::uint16_t{0x1302}, std::uint16_t{0x1303},
                                         std::uint16_t{0x1304}, std::uint16_t{0x1305}));

// A handshake that is over, and what follows at will.
struct Established {
  explicit Established(std::size_t piece = 0) : keys(key_log_of(peer.key_log())), runner(keys, piece) {
    runner.client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  }
  Handshake peer;
  KeyLog keys;
  SessionRunner runner;
};

TEST(Session, RecordsOfEveryCutGiveTheSameHello) {
  const Handshake peer;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner whole(keys);
  whole.client(peer.client_hello());
  const Bytes handshake = peer.client_hello_message();
  for (const std::size_t size : {1U, 64U, 100U}) {
    SessionRunner runner(keys);
    const Bytes wire = records_of(handshake, size);
    runner.client(wire);
    const Seen hello = runner.message_of(Role::client, HandshakeType::client_hello);
    EXPECT_EQ(hello.message_size, handshake.size());
    EXPECT_EQ(hello.record_begin, 0U);
    EXPECT_EQ(hello.record_end, wire.size());
  }
}

TEST(Session, PaddedRecords) {
  Established connection;
  connection.runner.client(connection.peer.client.data("request", 900));
  connection.runner.server(connection.peer.server.data("response", 1));
  EXPECT_EQ(connection.runner.text(Role::client), "request");
  EXPECT_EQ(connection.runner.text(Role::server), "response");
}

TEST(Session, EncryptedMessagesOverManyRecords) {
  Handshake peer;
  peer.certificate_size = 5000;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello()).server(peer.server_hello_record());
  const Bytes messages = peer.server_messages();
  for (std::size_t at = 0; at < messages.size(); at += 100) {
    const auto begin = messages.begin() + static_cast<std::ptrdiff_t>(at);
    runner.server(peer.server.seal(
        ContentType::handshake,
        Bytes(begin, begin + static_cast<std::ptrdiff_t>(std::min<std::size_t>(100, messages.size() - at)))));
  }
  const Seen certificate = runner.message_of(Role::server, HandshakeType::certificate);
  EXPECT_EQ(certificate.message_size, 5004U);
  EXPECT_LT(certificate.first, certificate.complete);
  EXPECT_EQ(runner.message_of(Role::server, HandshakeType::finished).complete, runner.packet);
}

TEST(Session, KeysChangeInsideASegment) {
  // The server's Finished, two tickets and a response in one packet; then KeyUpdates from both sides.
  Handshake peer;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello());
  const Bytes flight = peer.server_flight();
  const Bytes tickets = peer.server.seal_message(HandshakeType::new_session_ticket, pattern(180))
                        << peer.server.seal_message(HandshakeType::new_session_ticket, pattern(180));
  runner.server(flight << tickets << peer.server.data("early response"));
  runner.client(peer.client_finished() << peer.client.data("request"));
  EXPECT_EQ(runner.text(Role::server), "early response");
  EXPECT_EQ(runner.text(Role::client), "request");

  for (int round = 0; round < 3; ++round) {
    const Bytes client_update = peer.client.seal_message(HandshakeType::key_update, Bytes{1});
    peer.client.update();
    runner.client(client_update << peer.client.data(" again"));
    const Bytes server_update = peer.server.seal_message(HandshakeType::key_update, Bytes{0});
    peer.server.update();
    runner.server(server_update << peer.server.data(" and answer"));
  }
  EXPECT_EQ(runner.text(Role::client), "request again again again");
  EXPECT_EQ(runner.text(Role::server), "early response and answer and answer and answer");
  EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 0U);
  EXPECT_EQ(runner.count(Role::server, Item::Kind::opaque), 0U);
}

TEST(Session, ARetryWithChangeCipherSpecs) {
  Handshake peer;
  peer.hello.key_shares = {{std::uint16_t{0x001D}, std::uint16_t{32}}};
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello());
  runner.server(peer.hello_retry_request(0x0017));
  peer.hello.key_shares = {{std::uint16_t{0x0017}, std::uint16_t{65}}};
  peer.server_hello.group = std::uint16_t{0x0017};
  runner.client(change_cipher_spec() << peer.client_hello());
  runner.server(peer.server_flight());
  runner.client(peer.client_finished() << peer.client.data("request"));
  EXPECT_EQ(runner.count(Role::client, Item::Kind::client_hello), 2U);
  EXPECT_EQ(runner.count(Role::server, Item::Kind::server_hello), 2U);
  EXPECT_EQ(runner.text(Role::client), "request");
}

TEST(Session, AcceptedEarlyData) {
  Handshake peer;
  peer.hello.psk = true;
  peer.hello.early_data = true;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello() << change_cipher_spec() << peer.early.data("early request"));
  EXPECT_EQ(runner.text(Role::client), "") << "it waits for what the server says";
  runner.server(peer.server_flight(true));
  EXPECT_EQ(runner.text(Role::client), "early request");
  runner.client(peer.early.seal_message(HandshakeType::end_of_early_data, {})
                << peer.client.seal(ContentType::handshake, peer.finished()));
  EXPECT_EQ(runner.message_of(Role::client, HandshakeType::finished).complete, 3U);
  for (const Seen& seen : runner.of(Role::client)) {
    EXPECT_EQ(seen.is_early, seen.kind == Item::Kind::application_data);
  }
}

TEST(Session, RejectedEarlyDataStaysClosed) {
  Handshake peer;
  peer.hello.psk = true;
  peer.hello.early_data = true;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello());
  for (int i = 0; i < 100; ++i) {
    runner.client(peer.early.data("rejected"));
  }
  runner.server(peer.server_flight(false));
  runner.client(peer.client_finished() << peer.client.data("request"));
  EXPECT_EQ(runner.text(Role::client), "request");
  EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 100U);
  for (const Seen& seen : runner.of(Role::client)) {
    EXPECT_TRUE(seen.kind != Item::Kind::opaque || seen.is_early);
  }
}

TEST(Session, EarlyDataWithoutItsSecret) {
  // The early secret was not logged: the rest is readable all the same.
  Handshake peer;
  peer.hello.psk = true;
  peer.hello.early_data = true;
  std::string log = peer.key_log();
  log.erase(0, log.find('\n') + 1);
  const KeyLog keys = key_log_of(log);
  SessionRunner runner(keys);
  runner.client(peer.client_hello() << peer.early.data("early request"));
  runner.server(peer.server_flight(true));
  runner.client(peer.early.seal_message(HandshakeType::end_of_early_data, {})
                << peer.client.seal(ContentType::handshake, peer.finished()));
  EXPECT_EQ(runner.message_of(Role::client, HandshakeType::finished).complete, 3U);
  EXPECT_EQ(runner.text(Role::client), "");
}

TEST(Session, ClientCertificateAndPostHandshakeAuthentication) {
  Handshake peer;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello()).server(peer.server_flight());
  const Bytes certificate = message(HandshakeType::certificate, pattern(900))
                            << message(HandshakeType::certificate_verify, pattern(72));
  runner.client(peer.client.seal(ContentType::handshake, certificate << peer.finished()));
  peer.client.rekey(peer.secret(SecretKind::client_traffic));
  EXPECT_EQ(runner.message_of(Role::client, HandshakeType::finished).complete, 3U);
  runner.client(peer.client.data("request"));
  runner.server(peer.server.seal_message(HandshakeType::certificate_request, pattern(40)));
  runner.client(peer.client.seal(ContentType::handshake, certificate << peer.finished()) << peer.client.data(" more"));
  EXPECT_EQ(runner.text(Role::client), "request more") << "a later Finished does not change keys";
}

TEST(Session, Alerts) {
  Established connection;
  connection.runner.client(connection.peer.client.seal(ContentType::alert, Bytes{1, 0}));
  const auto items = connection.runner.of(Role::client);
  EXPECT_EQ(items.back().kind, Item::Kind::alert);
  EXPECT_EQ(items.back().alert, (std::array<std::uint8_t, 2>{1, 0}));
  EXPECT_TRUE(items.back().is_encrypted);

  const KeyLog none;
  SessionRunner refused(none);
  refused.client(Handshake().client_hello()).server(record(ContentType::alert, Bytes{2, 40}));
  EXPECT_EQ(refused.of(Role::server).back().alert, (std::array<std::uint8_t, 2>{2, 40}));
}

TEST(Session, DamagedRecordsArePassed) {
  Established connection;
  connection.runner.server(connection.peer.server.data("one "));
  const Bytes damaged = connection.peer.server.data(std::string(200, 'x'));
  connection.runner.server(Bytes(damaged.begin(), damaged.begin() + 50));
  connection.runner.gap(Role::server, 100);
  connection.runner.server(Bytes(damaged.begin() + 150, damaged.end()));
  connection.runner.server(connection.peer.server.data("three"));
  EXPECT_EQ(connection.runner.text(Role::server), "one three");
  EXPECT_EQ(connection.runner.count(Role::server, Item::Kind::opaque), 1U);
}

// Of the server's application data: what was opened, and how many bytes were passed.
std::string opened_and_passed(const SessionRunner& runner) {
  std::string text;
  for (const Seen& seen : runner.of(Role::server)) {
    if (seen.kind == Item::Kind::application_data) {
      text += seen.needless_bytes != 0 ? "+" + std::to_string(seen.needless_bytes)
                                       : "[" + std::to_string(seen.plaintext.size()) + "]";
    }
  }
  return text;
}

TEST_P(SessionOfSuite, NeedlessRecordsArePassedAndTheLastIsOpened) {
  Handshake peer(GetParam());
  const KeyLog keys = key_log_of(peer.key_log());
  for (const std::size_t piece : {std::size_t{0}, std::size_t{100}, std::size_t{1460}}) {
    Handshake talk(GetParam());
    SessionRunner runner(keys, piece);
    runner.client(talk.client_hello()).server(talk.server_flight()).client(talk.client_finished());
    runner.needless[1] = 5 * 4000;
    const std::string body(4000, 'x');
    const auto send = [&] { runner.server(talk.server.data(body)); };
    send();  // says what is needless
    send();
    runner.server(talk.server.data("short"));
    runner.server(talk.server.seal_message(HandshakeType::new_session_ticket, pattern(900)));
    send();
    const Bytes update = talk.server.seal_message(HandshakeType::key_update, Bytes{0});
    talk.server.update();
    runner.server(update);
    send();
    send();  // 5 bytes of it are needed: "short" was not in the plan
    send();
    EXPECT_EQ(opened_and_passed(runner), "[4000]+4000[5]+4000[4000][4000][4000]") << piece;
    EXPECT_EQ(runner.count(Role::server, Item::Kind::opaque), 0U);
  }
}

TEST(Session, ARecordThatIsMissingAmongNeedlessOnesIsNoticed) {
  // Its successors are not of the count that was passed: what they say is garbage, and they do not open.
  Established connection;
  const std::string body(4000, 'x');
  connection.runner.needless[1] = 4 * 4000;
  connection.runner.server(connection.peer.server.data(body));
  connection.runner.server(connection.peer.server.data(body));
  (void)connection.peer.server.data(body);
  connection.runner.server(connection.peer.server.data(body)).server(connection.peer.server.data(body));
  EXPECT_EQ(connection.runner.count(Role::server, Item::Kind::opaque), 2U);
}

TEST(Session, AHoleInTheEncryptedFlightLosesTheDirection) {
  Handshake peer;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello());
  const Bytes flight = peer.server_flight();
  runner.server(Bytes(flight.begin(), flight.begin() + 400));
  runner.gap(Role::server, 100, tcp::GapReason::snap_length);
  runner.server(Bytes(flight.begin() + 500, flight.end()));
  const auto items = runner.of(Role::server);
  EXPECT_EQ(items.back().kind, Item::Kind::lost);
  EXPECT_EQ(items.back().lost, tcp::GapReason::snap_length);
}

TEST(Session, ALostDirectionDoesNotHoldTheOther) {
  Handshake peer;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.gap(Role::server, 100);
  runner.client(peer.client_hello() << peer.client_finished());
  EXPECT_EQ(runner.count(Role::server, Item::Kind::lost), 1U);
  EXPECT_EQ(runner.count(Role::client, Item::Kind::client_hello), 1U);
  EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 1U);
}

TEST(Session, WhatIsNoTlsIsSaidOnce) {
  const KeyLog none;
  SessionRunner runner(none);
  runner.client(text_bytes("GET / HTTP/1.1\r\n\r\n")).client(text_bytes("more")).server(text_bytes("HTTP/1.1 200"));
  runner.finish();
  EXPECT_EQ(runner.count(Role::client, Item::Kind::not_tls), 1U);
  EXPECT_EQ(runner.count(Role::server, Item::Kind::not_tls), 1U);
  EXPECT_EQ(runner.items.size(), 2U);
}

TEST(Session, MalformedHellosEndTheirDirection) {
  const KeyLog none;
  SessionRunner runner(none);
  runner.client(record(ContentType::handshake, message(HandshakeType::client_hello, pattern(20))));
  EXPECT_EQ(runner.items.back().kind, Item::Kind::malformed);
  runner.client(Handshake().client_hello());
  EXPECT_EQ(runner.items.size(), 1U);
}

TEST(Session, WrongKeysAreGivenUp) {
  // The key log holds secrets for this random, but other ones.
  Handshake peer;
  Handshake stranger(0x1301, 0x55);
  stranger.hello.random = peer.hello.random;
  const KeyLog keys = key_log_of(stranger.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  for (int i = 0; i < 100; ++i) {
    runner.server(peer.server.data("response"));
  }
  EXPECT_EQ(runner.text(Role::server), "");
  EXPECT_EQ(runner.count(Role::server, Item::Kind::opaque), 101U);
}

TEST(Session, OfAHandshakeThatFailedOneSidesSecretTells) {
  Handshake peer;
  const KeyLog keys = key_log_of(key_log_line(SecretKind::server_handshake_traffic, peer.hello.random,
                                              peer.secret(SecretKind::server_handshake_traffic)));
  SessionRunner runner(keys);
  runner.client(peer.client_hello()).server(peer.server_flight());
  EXPECT_TRUE(runner.session.encrypted_extensions());
}

TEST(Session, SecretsOfOneSideOpenNothing) {
  Handshake peer;
  std::string log;
  for (const SecretKind kind : {SecretKind::server_handshake_traffic, SecretKind::server_traffic}) {
    log += key_log_line(kind, peer.hello.random, peer.secret(kind));
  }
  const KeyLog keys = key_log_of(log);
  SessionRunner runner(keys);
  runner.client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  runner.client(peer.client.data("request")).server(peer.server.data("response"));
  EXPECT_EQ(runner.text(Role::server), "");
  EXPECT_EQ(runner.text(Role::client), "");
  EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 2U)
      << "half of a handshake can't be told, all of it inferred";
  EXPECT_FALSE(runner.session.has_keys());
}

TEST(Session, ACaptureThatStartsInMidConnection) {
  Handshake peer;
  (void)peer.client_hello();
  (void)peer.server_flight();
  (void)peer.client_finished();
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client.data("request")).server(peer.server.data("response")).finish();
  EXPECT_EQ(runner.count(Role::client, Item::Kind::opaque), 1U);
  EXPECT_EQ(runner.count(Role::server, Item::Kind::opaque), 1U);
}

TEST(Session, BytesThatWaitForTheOtherSideAreBounded) {
  // A client's protected records without any server: they stop waiting, and nothing grows without bound.
  Handshake peer;
  const KeyLog keys = key_log_of(peer.key_log());
  SessionRunner runner(keys);
  runner.client(peer.client_hello());
  const Bytes record_bytes = record(ContentType::application_data, pattern(16'000));
  for (std::size_t fed = 0; fed < 2 * Session::stall_limit; fed += record_bytes.size()) {
    runner.client(record_bytes);
  }
  EXPECT_GT(runner.count(Role::client, Item::Kind::opaque), 50U);
}

TEST(Session, AnyChunkingGivesTheSameItems) {
  const auto run = [](std::size_t piece) {
    Handshake peer;
    peer.hello.psk = true;
    peer.hello.early_data = true;
    const KeyLog keys = key_log_of(peer.key_log());
    SessionRunner runner(keys, piece);
    runner.client(peer.client_hello() << peer.early.data("early")).server(peer.server_flight(true));
    runner.client(peer.early.seal_message(HandshakeType::end_of_early_data, {})
                  << peer.client.seal(ContentType::handshake, peer.finished()));
    peer.client.rekey(peer.secret(SecretKind::client_traffic));
    const Bytes update = peer.server.seal_message(HandshakeType::key_update, Bytes{0});
    runner.client(peer.client.data("request"));
    peer.server.update();
    runner.server(update << peer.server.data("response", 30)).finish();
    return runner.items;
  };
  const auto whole = run(0);
  EXPECT_GT(whole.size(), 10U);
  for (const std::size_t piece : {1U, 2U, 3U, 50U, 200U}) {
    EXPECT_EQ(run(piece), whole) << "pieces of " << piece;
  }
}

}  // namespace
}  // namespace tlstrata::tls::test
