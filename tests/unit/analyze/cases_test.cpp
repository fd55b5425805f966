// Captures that broke other tools, made from real ones by re-cutting them: one hello in two reads or many records, a retry
// with ChangeCipherSpecs, keys that change inside a segment, interleaved flows, comparisons with a hidden retry.
#include <gtest/gtest.h>

#include <numeric>

#include "unit/analyze/captures.h"
#include "unit/tls/scribe.h"

namespace tlstrata::analyze::test {
namespace {

using strata::HandshakePart;
using strata::Layer;
using strata::Transaction;
using tls::test::operator<<;

struct Field {
  explicit Field(const std::string& name)
      : keys(read_keys(keys_path(name))), dialogues(dialogues_of(read_frames(field_path(name)))) {}
  tls::KeyLog keys;
  std::vector<Dialogue> dialogues;
};

// What a row says beside times, sizes and traffic.
std::string facts_of(Transaction row) {
  row.connection.start_ns = 0;
  row.connection.client_hello_bytes.reset();
  row.connection.client_handshake_bytes.reset();
  row.connection.traffic = {};
  row.layers = {};
  row.handshake_parts = {};
  row.total_ns.reset();
  row.last_byte_ns.reset();
  row.request_ns.reset();
  row.client_hello_complete_ns.reset();
  return text_of(row);
}

std::optional<Nanos> part(const Transaction& row, HandshakePart which) {
  return row.handshake_parts[static_cast<std::size_t>(which)];
}

Nanos sum_of_parts(const Transaction& row) {
  return std::accumulate(row.handshake_parts.begin(), row.handshake_parts.end(), Nanos{0},
                         [](Nanos sum, const auto& each) { return sum + each.value_or(0); });
}

TEST(Dialogues, MadeIntoPacketsAgainGiveTheSameRow) {
  for (const char* name : {"grp_X25519.pcap", "two_shares.pcap", "h1_pipeline.pcap", "suite_chacha.pcap"}) {
    Field field(name);
    const Rows original = rows_of(read_frames(field_path(name)), field.keys);
    const Rows rebuilt = rows_of(field.dialogues.at(0).frames(), field.keys);
    ASSERT_FALSE(rebuilt.empty());
    for (std::size_t i = 0; i < rebuilt.size(); ++i) {
      EXPECT_EQ(facts_of(rebuilt[i]), facts_of(original.at(i))) << name;
      EXPECT_EQ(rebuilt[i].layers, original[i].layers) << name;
    }
  }
}

// Case 1: one hello, two reads. The second part comes 200 ms later.
TEST(Cases, OneHelloInTwoReads) {
  constexpr Nanos late = 200 * nanos_per_millisecond;
  for (const char* name : {"grp_X25519MLKEM768.pcap", "two_shares.pcap", "grp_MLKEM1024.pcap"}) {
    Field field(name);
    Dialogue dialogue = field.dialogues.at(0).coalesce();
    ASSERT_GT(dialogue.turns[0].bytes.size(), 1400U);
    const Rows whole = rows_of(dialogue.frames(), field.keys);
    const Rows split = rows_of(dialogue.cut(0, 1400, late).frames(), field.keys);
    ASSERT_EQ(split.size(), whole.size());
    for (std::size_t i = 0; i < split.size(); ++i) {
      EXPECT_EQ(facts_of(split[i]), facts_of(whole[i])) << name;
    }
    const Transaction& row = split[0];
    EXPECT_EQ(name_of(row), "complete");
    EXPECT_EQ(row.layer(Layer::tcp_to_tls), whole[0].layer(Layer::tcp_to_tls)) << "opens with the first part";
    EXPECT_EQ(row.client_hello_complete_ns, late) << "and its completion is dated apart";
    EXPECT_FALSE(whole[0].client_hello_complete_ns);
    EXPECT_EQ(part(row, HandshakePart::hello_send), late);
    EXPECT_EQ(part(row, HandshakePart::server_wait), part(whole[0], HandshakePart::server_wait))
        << "a late hello is no slow server";
    EXPECT_EQ(row.layer(Layer::tls_handshake), whole[0].layer(Layer::tls_handshake).value() + late);
    EXPECT_EQ(row.total_ns, whole[0].total_ns.value() + late);
  }
}

// Case 2: one hello, many records.
TEST(Cases, OneHelloInManyRecords) {
  for (const char* name :
       {"grp_X25519MLKEM768.pcap", "two_shares.pcap", "grp_SecP384r1MLKEM1024.pcap", "h2_node.pcap"}) {
    Field field(name);
    Dialogue& dialogue = field.dialogues.at(0).coalesce();
    const Rows whole = rows_of(dialogue.frames(), field.keys);
    const Bytes hello = dialogue.turns[0].bytes;
    ASSERT_EQ(hello.size(), 5 + (std::size_t{hello[3]} << 8U) + hello[4]) << "one record";
    for (const std::size_t size : {64U, 1U, 100U, 1000U}) {
      dialogue.turns[0].bytes = tls::test::records_of(std::span(hello).subspan(5), size);
      const Rows split = rows_of(dialogue.frames(), field.keys);
      ASSERT_EQ(split.size(), whole.size());
      for (std::size_t i = 0; i < split.size(); ++i) {
        EXPECT_EQ(facts_of(split[i]), facts_of(whole[i])) << name << " in records of " << size;
        EXPECT_EQ(split[i].layers, whole[i].layers);
        EXPECT_EQ(split[i].handshake_parts, whole[i].handshake_parts);
      }
      EXPECT_EQ(split[0].connection.client_hello_bytes, dialogue.turns[0].bytes.size()) << "all records, headers too";
    }
  }
}

// Case 2 on the wire: records and segments that do not end together.
TEST(Cases, OneHelloInManyRecordsAndManySegments) {
  Field field("grp_X25519MLKEM768.pcap");
  Dialogue& dialogue = field.dialogues.at(0).coalesce();
  const Rows whole = rows_of(dialogue.frames(), field.keys);
  const Bytes hello = dialogue.turns[0].bytes;
  dialogue.turns[0].bytes = tls::test::records_of(std::span(hello).subspan(5), 64);
  const std::size_t size = dialogue.turns[0].bytes.size();
  std::size_t cuts = 0;
  for (std::size_t turn = 0, left = size; left > 97; ++turn, left -= 97, ++cuts) {
    dialogue.cut(turn, 97, nanos_per_microsecond);
  }
  const Rows split = rows_of(dialogue.frames(), field.keys);
  ASSERT_EQ(split.size(), whole.size());
  EXPECT_EQ(facts_of(split[0]), facts_of(whole[0]));
  EXPECT_EQ(split[0].client_hello_complete_ns, static_cast<Nanos>(cuts) * nanos_per_microsecond);
}

// Case 3: a retry with dummy ChangeCipherSpecs is one handshake with an extra round trip.
TEST(Cases, ARetryWithChangeCipherSpecs) {
  Field field("hrr_x25519_to_mlkem1024.pcap");
  for (Dialogue& dialogue : field.dialogues) {
    const Rows rows = rows_of(dialogue.frames(), field.keys);
    ASSERT_EQ(rows.size(), 1U) << "one handshake, not two";
    const Transaction& row = rows[0];
    EXPECT_EQ(name_of(row), "complete");
    EXPECT_TRUE(row.connection.hrr);
    EXPECT_EQ(row.connection.key_shares, std::vector<std::uint16_t>{0x001D}) << "the first hello's, not both's";
    EXPECT_EQ(row.connection.group, 0x0202) << "MLKEM1024";
    ASSERT_TRUE(part(row, HandshakePart::retry));
    EXPECT_GT(part(row, HandshakePart::retry), 0);
    EXPECT_EQ(sum_of_parts(row), row.layer(Layer::tls_handshake));
    EXPECT_LT(row.connection.client_hello_bytes.value() + 1568, row.connection.client_handshake_bytes.value());

    // The client's ChangeCipherSpec in a packet of its own, before the second hello.
    Dialogue cut = dialogue;
    cut.coalesce();
    const Bytes& second = cut.turns.at(2).bytes;
    ASSERT_EQ(second[0], 20) << "ChangeCipherSpec";
    const Rows apart = rows_of(cut.cut(2, 6, 0).frames(), field.keys);
    ASSERT_EQ(apart.size(), 1U);
    EXPECT_EQ(facts_of(apart[0]), facts_of(row));
    EXPECT_EQ(sum_of_parts(apart[0]), apart[0].layer(Layer::tls_handshake));
  }
}

// Case 4: keys change inside a segment.
TEST(Cases, KeysChangeInsideASegment) {
  for (const char* name : {"keyupdate_client.pcap", "h1_keepalive.pcap", "mtls_p256.pcap", "resume_tickets.pcap"}) {
    Field field(name);
    for (Dialogue& dialogue : field.dialogues) {
      const Rows original = rows_of(dialogue.frames(), field.keys);
      // Whatever a side says in a row becomes one segment: Finished with the request, tickets with the response.
      const Rows coalesced = rows_of(dialogue.coalesce().frames(), field.keys);
      ASSERT_EQ(coalesced.size(), original.size()) << name;
      for (std::size_t i = 0; i < original.size(); ++i) {
        EXPECT_EQ(facts_of(coalesced[i]), facts_of(original[i])) << name;
        EXPECT_EQ(coalesced[i].status, original[i].status);
      }
      // And the other way: every record split over two segments.
      Dialogue pieces = dialogue;
      for (std::size_t turn = 0; turn < pieces.turns.size(); turn += 2) {
        pieces.cut(turn, pieces.turns[turn].bytes.size() / 2, 0);
      }
      const Rows cut = rows_of(pieces.frames(), field.keys);
      ASSERT_EQ(cut.size(), original.size()) << name;
      for (std::size_t i = 0; i < original.size(); ++i) {
        EXPECT_EQ(facts_of(cut[i]), facts_of(original[i])) << name;
        EXPECT_EQ(cut[i].layers, coalesced[i].layers) << "at the same times";
      }
    }
  }
}

TEST(Cases, TicketsWithFinishedAndKeyUpdatesOfBothSides) {
  tls::test::Handshake peer;
  const auto keys = tls::test::key_log_of(peer.key_log());
  Conversation talk;
  talk.open().client(peer.client_hello());
  const Bytes flight = peer.server_flight();
  const Bytes ticket = peer.server.seal_message(tls::HandshakeType::new_session_ticket, tls::test::pattern(180));
  talk.server(flight << ticket).client(peer.client_finished());
  const std::string get = "GET / HTTP/1.1\r\n\r\n";
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  for (int round = 0; round < 3; ++round) {
    const Bytes request = peer.client.data(get);
    const Bytes client_update = peer.client.seal_message(tls::HandshakeType::key_update, Bytes{1});
    peer.client.update();
    talk.client(request << client_update);
    const Bytes server_update = peer.server.seal_message(tls::HandshakeType::key_update, Bytes{0});
    peer.server.update();
    talk.server(server_update << peer.server.data(ok));
  }
  const Rows rows = rows_of(talk.close().frames(), keys);
  ASSERT_EQ(rows.size(), 3U) << "decryption goes on past the ticket and past each KeyUpdate";
  for (const Transaction& row : rows) {
    EXPECT_EQ(name_of(row), "complete");
    EXPECT_EQ(row.status, 200);
    EXPECT_EQ(row.layer(Layer::app_response), Conversation::step);
  }
  EXPECT_EQ(rows[0].connection.server_handshake_bytes, flight.size()) << "the ticket is not counted";
}

// Case 5: hello A, hello B, ServerHello B, ServerHello A.
TEST(Cases, InterleavedFlows) {
  Field one("grp_X25519.pcap");
  Field two("grp_X25519MLKEM768.pcap");
  tls::KeyLog keys = read_keys(keys_path("grp_X25519.pcap"));
  std::ifstream more(keys_path("grp_X25519MLKEM768.pcap"), std::ios::binary);
  keys.feed(tcp::test::text_bytes(std::string{std::istreambuf_iterator<char>(more), {}}));
  keys.finish();
  Dialogue a = one.dialogues.at(0).coalesce();
  Dialogue b = two.dialogues.at(0).coalesce();
  b.shift(a.syn_ns - b.syn_ns + 7);
  a.turns[1].time_ns = b.turns[1].time_ns + 300;  // A's ServerHello after B's
  for (std::size_t i = 2; i < a.turns.size(); ++i) {
    a.turns[i].time_ns = std::max(a.turns[i].time_ns, a.turns[i - 1].time_ns + 11);
  }
  const Rows alone_a = rows_of(a.frames(), keys);
  const Rows alone_b = rows_of(b.frames(), keys);
  const Rows together = rows_of(strata::test::merge({a.frames(), b.frames()}), keys);
  ASSERT_EQ(together.size(), alone_a.size() + alone_b.size());
  Rows expected = alone_a;
  expected.insert(expected.end(), alone_b.begin(), alone_b.end());
  for (std::size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(facts_of(together[i]).substr(2), facts_of(expected[i]).substr(2));
    EXPECT_EQ(together[i].layers, expected[i].layers) << "each flow's own times";
    EXPECT_EQ(together[i].connection.start_ns, expected[i].connection.start_ns);
  }
}

// Case 5, second half: the same ports again are another flow.
TEST(Cases, PortReuseIsTwoFlows) {
  Field field("grp_X25519.pcap");
  Dialogue first = field.dialogues.at(0);
  Dialogue second = first;
  second.shift(5 * nanos_per_second);
  // The second connection has other sequence numbers, as a new SYN has.
  Conversation renumbered;
  renumbered.client_end = second.client;
  renumbered.server_end = second.server;
  renumbered.client_isn += 99'999;
  renumbered.client_next = renumbered.client_isn + 1;
  renumbered.now = second.syn_ns - Conversation::step;
  renumbered.syn().syn_ack();
  for (const Turn& turn : second.turns) {
    turn.from_client ? renumbered.client(turn.bytes) : renumbered.server(turn.bytes);
  }
  const Rows once = rows_of(first.frames(), field.keys);
  const Rows twice = rows_of(strata::test::merge({first.frames(), renumbered.frames()}), field.keys);
  ASSERT_EQ(twice.size(), 2 * once.size());
  EXPECT_EQ(twice[0].layers, once[0].layers);
  EXPECT_EQ(name_of(twice[once.size()]), "complete");
  EXPECT_EQ(twice[once.size()].layer(Layer::tcp_handshake), Conversation::step);
}

// Case 8: only the first group of an offer gets a share, so every other one pays a retry that must be seen.
TEST(Cases, AComparisonWithAHiddenRetry) {
  const std::vector<std::uint16_t> offer{0x0200, 0x0201, 0x0202, 0x0017};  // MLKEM512, 768, 1024, P-256
  std::vector<std::vector<Frame>> captures;
  std::string log;
  for (std::size_t i = 0; i < offer.size(); ++i) {
    tls::test::Handshake peer(0x1301, static_cast<std::uint8_t>(0x40 + i));
    peer.hello.groups = offer;
    peer.hello.key_shares = {{offer[0], std::uint16_t{800}}};
    log += peer.key_log();
    Conversation talk(static_cast<std::uint16_t>(50'000 + i),
                      strata::test::capture_start + static_cast<Nanos>(i) * nanos_per_second);
    talk.open().client(peer.client_hello());
    if (i != 0) {
      talk.server(peer.hello_retry_request(offer[i]));
      peer.hello.key_shares = {{offer[i], std::uint16_t{1184}}};
      talk.client(tls::test::change_cipher_spec() << peer.client_hello());
    }
    peer.server_hello.group = offer[i];
    talk.server(peer.server_flight()).client(peer.client_finished());
    talk.client(peer.client.data("GET / HTTP/1.1\r\n\r\n"));
    talk.server(peer.server.data("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")).close();
    captures.push_back(talk.frames());
  }
  const Rows rows = rows_of(strata::test::merge(captures), tls::test::key_log_of(log));
  ASSERT_EQ(rows.size(), offer.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(name_of(rows[i]), "complete");
    EXPECT_EQ(rows[i].connection.group, offer[i]);
    EXPECT_EQ(rows[i].connection.hrr, i != 0);
    EXPECT_EQ(rows[i].connection.key_shares, std::vector<std::uint16_t>{offer[0]});
    EXPECT_EQ(rows[i].connection.offered_groups, offer);
    EXPECT_EQ(part(rows[i], HandshakePart::retry).has_value(), i != 0);
    EXPECT_EQ(sum_of_parts(rows[i]), rows[i].layer(Layer::tls_handshake));
    // Without the retry every group took the same: what looked like the group's price was the round trip's.
    EXPECT_EQ(rows[i].layer(Layer::tls_handshake).value() - part(rows[i], HandshakePart::retry).value_or(0),
              rows[0].layer(Layer::tls_handshake));
  }
}

}  // namespace
}  // namespace tlstrata::analyze::test
