#include <gtest/gtest.h>

#include "strata/tracker.h"
#include "unit/strata/transactions.h"

namespace tlstrata::strata::test {
namespace {

TEST(TrackerFacts, TheConnectionsFacts) {
  Handshake peer(0x1302);
  peer.hello.groups = {0x1A1A, 0x11EC, 0x001D};
  peer.hello.key_shares = {{std::uint16_t{0x1A1A}, std::uint16_t{1}},
                           {std::uint16_t{0x11EC}, std::uint16_t{1216}},
                           {std::uint16_t{0x001D}, std::uint16_t{32}}};
  peer.server_hello.group = std::uint16_t{0x11EC};
  peer.hello.server_name = "a.example";
  const std::size_t hello_bytes = peer.client_hello().size();
  const std::size_t server_hello_bytes = peer.server_hello_record().size();
  const Bytes messages = peer.server_messages();
  const Transaction row = only_row(whole(peer), key_log_of(peer.key_log()));
  const Connection& connection = row.connection;
  EXPECT_EQ(connection.client, endpoint("10.0.0.1:50000"));
  EXPECT_EQ(connection.server, endpoint("10.0.0.2:443"));
  EXPECT_EQ(connection.tls_version, 0x0304);
  EXPECT_EQ(connection.cipher_suite, 0x1302);
  EXPECT_EQ(connection.group, 0x11EC);
  EXPECT_EQ(connection.key_shares, (std::vector<std::uint16_t>{0x11EC, 0x001D})) << "GREASE is left out";
  EXPECT_EQ(connection.offered_groups, (std::vector<std::uint16_t>{0x11EC, 0x001D}));
  EXPECT_EQ(connection.server_name, "a.example");
  EXPECT_EQ(connection.alpn, "http/1.1");
  EXPECT_FALSE(connection.hrr);
  EXPECT_FALSE(connection.resumed);
  EXPECT_FALSE(connection.early_data);
  EXPECT_EQ(connection.client_hello_bytes, hello_bytes);
  const std::size_t flight = server_hello_bytes + 6 + 5 + messages.size() + 1 + 16;
  EXPECT_EQ(connection.server_flight_bytes, flight) << "ServerHello, ChangeCipherSpec, one sealed record";
  EXPECT_EQ(connection.server_handshake_bytes, flight);
  EXPECT_EQ(connection.client_handshake_bytes, hello_bytes + 6 + 5 + 4 + 48 + 1 + 16);
  EXPECT_EQ(connection.traffic[0].packets, 6U) << "the client's: SYN, ACK, hello, Finished, request, FIN";
  EXPECT_EQ(connection.traffic[1].packets, 4U);
}

TEST(TrackerFacts, SharesCertificatesTicketsAndKeyUpdates) {
  Handshake peer;
  peer.hello.key_shares = {{std::uint16_t{0x1A1A}, std::uint16_t{1}},
                           {std::uint16_t{0x11EC}, std::uint16_t{1216}},
                           {std::uint16_t{0x001D}, std::uint16_t{32}}};
  const tls::KeyLog keys = key_log_of(peer.key_log());
  Conversation talk;
  talk.open().client(peer.client_hello());
  // Two certificates, of which one with extensions, and a client's certificate for the server's request.
  const Bytes chain =
      Writer()
          .u8(0)
          .vector24(Writer().vector24(pattern(900)).vector16(pattern(30)).vector24(pattern(700)).vector16({}).bytes())
          .bytes();
  talk.server(peer.server_hello_record());
  talk.server(peer.server.seal(tls::ContentType::handshake, tls::test::encrypted_extensions_message("http/1.1", false)
                                                                << message(tls::HandshakeType::certificate, chain)
                                                                << peer.finished()));
  peer.server_application();
  const Bytes clients =
      peer.client.seal_message(tls::HandshakeType::certificate,
                               Writer().u8(0).vector24(Writer().vector24(pattern(100)).vector16({}).bytes()).bytes());
  const Bytes finished = peer.client_finished();
  talk.client(clients << finished).client(peer.client.data(get));
  talk.server(peer.server.seal_message(tls::HandshakeType::new_session_ticket, pattern(180)));
  talk.server(peer.server.data(ok)).server(peer.server.seal_message(tls::HandshakeType::key_update, Bytes{0}));
  peer.server.update();
  talk.server(peer.server.seal(tls::ContentType::alert, Bytes{2, 80})).close();
  const Connection connection = only_row(talk, keys).connection;
  EXPECT_EQ(connection.key_shares, (std::vector<std::uint16_t>{0x11EC, 0x001D}));
  EXPECT_EQ(connection.key_share_bytes, (std::vector<std::uint16_t>{1216, 32}));
  EXPECT_EQ(connection.certificate_bytes, 1600U);
  EXPECT_EQ(connection.certificates, 2U);
  EXPECT_TRUE(connection.client_certificate);
  EXPECT_EQ(connection.client_finish_bytes, clients.size() + finished.size());
  EXPECT_EQ(connection.tickets, 1U);
  EXPECT_EQ(connection.key_updates, 1U);
  EXPECT_EQ(connection.alert, 80);
  EXPECT_FALSE(connection.has_ech);
  EXPECT_FALSE(connection.retry_request_bytes);
}

TEST(TrackerFacts, WhatWasNotSeenIsAbsent) {
  Handshake peer;
  const Connection connection = only_row(whole(peer), tls::KeyLog{}).connection;
  EXPECT_FALSE(connection.certificate_bytes);
  EXPECT_FALSE(connection.certificates);
  EXPECT_FALSE(connection.tickets);
  EXPECT_FALSE(connection.key_updates);
  EXPECT_FALSE(connection.alert);
  EXPECT_TRUE(connection.client_finish_bytes) << "from the sizes";
  Handshake again;
  const Connection read = only_row(whole(again), key_log_of(again.key_log())).connection;
  EXPECT_EQ(read.tickets, 0U);
  EXPECT_EQ(read.key_updates, 0U);
  EXPECT_FALSE(read.client_certificate);
}

TEST(TrackerFacts, TicketsAreNoHandshakeBytesAndNoResponse) {
  Handshake peer;
  Conversation talk;
  const Bytes flight = (talk.open().client(peer.client_hello()), peer.server_flight());
  talk.server(flight << peer.server.seal_message(tls::HandshakeType::new_session_ticket, pattern(200)));
  talk.client(peer.client_finished()).client(peer.client.data(get));
  talk.server(peer.server.seal_message(tls::HandshakeType::new_session_ticket, pattern(200)));
  talk.server(peer.server.data(ok)).close();
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_EQ(row.connection.server_handshake_bytes, flight.size());
  EXPECT_EQ(row.layer(Layer::app_response), 2 * step) << "the ticket in packet 8 is no response";
}

}  // namespace
}  // namespace tlstrata::strata::test
