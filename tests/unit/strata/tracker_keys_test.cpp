#include <gtest/gtest.h>

#include "strata/tracker.h"
#include "unit/strata/transactions.h"

namespace tlstrata::strata::test {
namespace {

TEST(TrackerKeys, ApplicationSecretsAloneFindTheFinishedBeforeTheFirstRecordTheyOpen) {
  for (const std::uint16_t suite : {std::uint16_t{0x1301}, std::uint16_t{0x1302}, std::uint16_t{0x1303}}) {
    Handshake peer(suite);
    const auto frames = whole(peer).frames();
    const Transaction known = only_row(frames, key_log_of(peer.key_log()));
    const Transaction row =
        only_row(frames, keys_without(peer, {"CLIENT_HANDSHAKE", "SERVER_HANDSHAKE", "CLIENT_EARLY"}));
    EXPECT_EQ(name(row.outcome), "complete");
    EXPECT_EQ(row.boundary, Boundary::decrypted);
    EXPECT_EQ(row.layers, known.layers);
    EXPECT_EQ(row.handshake_parts, known.handshake_parts);
    EXPECT_EQ(row.last_byte_ns, known.last_byte_ns);
    EXPECT_EQ(row.status, 200);
    EXPECT_EQ(row.connection.server_flight_bytes, known.connection.server_flight_bytes);
    EXPECT_EQ(row.connection.client_handshake_bytes, known.connection.client_handshake_bytes);
    EXPECT_FALSE(row.connection.certificate_bytes);
  }
}

TEST(TrackerKeys, ApplicationSecretsAloneAndTicketsFirst) {
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  talk.server(peer.server.seal_message(tls::HandshakeType::new_session_ticket, pattern(180)));
  talk.client(peer.client.data(get)).server(peer.server.data(ok)).close();
  const Transaction known = only_row(talk, key_log_of(peer.key_log()));
  const Transaction row = only_row(talk, keys_without(peer, {"CLIENT_HANDSHAKE", "SERVER_HANDSHAKE"}));
  EXPECT_EQ(row.layers, known.layers);
  EXPECT_EQ(row.connection.tickets, 1U);
  EXPECT_EQ(name(row.outcome), "complete");
}

TEST(TrackerKeys, HandshakeSecretsAloneLeaveTheRequestToInference) {
  Handshake peer;
  const auto frames = whole(peer).frames();
  const Transaction known = only_row(frames, key_log_of(peer.key_log()));
  const Transaction row = only_row(frames, keys_without(peer, {"CLIENT_TRAFFIC", "SERVER_TRAFFIC"}));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_EQ(row.boundary, Boundary::inferred);
  EXPECT_EQ(row.layers, known.layers);
  EXPECT_EQ(row.connection.alpn, "http/1.1") << "the flight was read";
  EXPECT_EQ(row.connection.certificates, known.connection.certificates);
  EXPECT_FALSE(row.connection.tickets);

  Handshake silent;
  Conversation talk;
  talk.open().client(silent.client_hello()).server(silent.server_flight()).client(silent.client_finished()).close();
  EXPECT_EQ(name(only_row(talk, keys_without(silent, {"CLIENT_TRAFFIC", "SERVER_TRAFFIC"})).outcome), "no_request");
}

TEST(TrackerKeys, SecretsOfOneSideAreAsNone) {
  Handshake peer;
  const std::vector<Frame> frames = whole(peer).frames();
  const Transaction none = only_row(frames, tls::KeyLog{});
  for (const auto& lost : {keys_without(peer, {"CLIENT_"}), keys_without(peer, {"SERVER_"})}) {
    const Transaction row = only_row(frames, lost);
    EXPECT_EQ(name(row.outcome), "complete");
    EXPECT_EQ(row.boundary, Boundary::inferred);
    EXPECT_EQ(row.layers, none.layers);
  }
  const Transaction row = only_row(frames, keys_without(peer, {"CLIENT_TRAFFIC"}));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_EQ(row.boundary, Boundary::inferred) << "the response alone says nothing";
  EXPECT_EQ(row.layers, none.layers);
}

TEST(TrackerKeys, WrongSecretsAreAsNone) {
  Handshake peer;
  const std::vector<Frame> frames = whole(peer).frames();
  Handshake stranger(0x1301, 0x55);
  stranger.hello.random = peer.hello.random;
  const Transaction row = only_row(frames, key_log_of(stranger.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_EQ(row.boundary, Boundary::inferred);
  EXPECT_EQ(row.layers, only_row(frames, tls::KeyLog{}).layers);
}

TEST(TrackerKeys, AResetBeforeTheResponseIsOneWithoutKeysToo) {
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  talk.server(peer.server.seal_message(tls::HandshakeType::new_session_ticket, pattern(180)));
  talk.server(peer.server.seal_message(tls::HandshakeType::new_session_ticket, pattern(180)));
  talk.client(peer.client.data(get)).reset(false);
  EXPECT_EQ(name(only_row(talk, key_log_of(peer.key_log())).outcome), "reset");
  const Transaction row = only_row(talk, tls::KeyLog{});
  EXPECT_EQ(row.boundary, Boundary::inferred);
  EXPECT_EQ(name(row.outcome), "reset");
}

TEST(TrackerKeys, WithoutKeysTheBoundariesAreInferredFromSizes) {
  for (const unsigned suite : {0x1301U, 0x1302U, 0x1303U, 0x1304U, 0x1305U}) {
    Handshake peer(static_cast<std::uint16_t>(suite));
    const std::vector<Frame> frames = whole(peer).frames();
    const Transaction known = only_row(frames, key_log_of(peer.key_log()));
    const Transaction inferred = only_row(frames, tls::KeyLog{});
    EXPECT_EQ(name(inferred.outcome), "complete");
    EXPECT_EQ(inferred.boundary, Boundary::inferred);
    EXPECT_EQ(inferred.layers, known.layers);
    EXPECT_EQ(inferred.handshake_parts, known.handshake_parts);
    EXPECT_EQ(inferred.total_ns, known.total_ns);
    EXPECT_EQ(inferred.connection.client_handshake_bytes, known.connection.client_handshake_bytes);
    EXPECT_EQ(inferred.connection.server_flight_bytes, known.connection.server_flight_bytes);
    EXPECT_TRUE(inferred.method.empty()) << "what was said stays unknown";
    EXPECT_FALSE(inferred.status);
  }
}

TEST(TrackerKeys, AHandshakeAloneWithoutKeysHasNoRequest) {
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  talk.client(peer.client.seal(tls::ContentType::alert, Bytes{1, 0})).close();
  const Transaction row = only_row(talk, tls::KeyLog{});
  EXPECT_EQ(name(row.outcome), "no_request");
  EXPECT_EQ(row.boundary, Boundary::inferred);
}

}  // namespace
}  // namespace tlstrata::strata::test
