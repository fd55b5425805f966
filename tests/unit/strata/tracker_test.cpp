#include "strata/tracker.h"

#include <gtest/gtest.h>

#include <numeric>

#include "unit/http/http2_frames.h"
#include "unit/strata/transactions.h"

namespace tlstrata::strata::test {
namespace {

TEST(Tracker, AWholeTransactionToTheNanosecond) {
  Handshake peer;
  const Transaction row = only_row(whole(peer), key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_EQ(row.boundary, Boundary::decrypted);
  EXPECT_EQ(row.connection.start_ns, time_of(1));
  EXPECT_EQ(row.layer(Layer::tcp_handshake), step);
  EXPECT_EQ(row.layer(Layer::tcp_to_tls), 2 * step);
  EXPECT_EQ(row.layer(Layer::tls_handshake), 2 * step);
  EXPECT_EQ(row.layer(Layer::tls_to_app), step);
  EXPECT_EQ(row.layer(Layer::app_response), step);
  EXPECT_EQ(row.total_ns, 7 * step);
  EXPECT_EQ(row.last_byte_ns, 7 * step);
  EXPECT_EQ(row.request_ns, time_of(7));
  EXPECT_EQ(row.method, "GET");
  EXPECT_EQ(row.status, 200);
}

TEST(Tracker, ARetransmittedSynIsWaitingThatTheUserFelt) {
  Handshake peer;
  Conversation talk;
  talk.syn().wait(1'000'000'000).syn().syn_ack().syn_ack();
  talk.client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  talk.client(peer.client.data(get)).server(peer.server.data(ok));
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(row.layer(Layer::tcp_handshake), 1'000'000'000 + 2 * step) << "the first SYN to the first SYN-ACK";
  EXPECT_EQ(row.layer(Layer::tcp_to_tls), 2 * step);
}

TEST(Tracker, AHelloOverSegmentsOpensWithTheFirstAndIsCompleteWithTheLast) {
  Handshake peer;
  Conversation talk;
  talk.open();
  const Bytes hello = peer.client_hello();
  talk.mss = hello.size() / 3 + 1;
  talk.client(hello);  // packets 4 to 6
  talk.mss = 65'000;
  talk.server(peer.server_flight()).client(peer.client_finished());
  talk.client(peer.client.data(get)).server(peer.server.data(ok));
  const auto keys = key_log_of(peer.key_log());
  Transaction row = only_row(talk, keys);
  EXPECT_EQ(row.layer(Layer::tcp_to_tls), 2 * step);
  EXPECT_EQ(row.client_hello_complete_ns, 2 * step);
  EXPECT_EQ(row.handshake_parts[0], 2 * step);

  // The last segment comes first: the hello opens when its first byte comes, and is complete when no byte is missing.
  Conversation reordered = talk;
  row = only_row(reordered.swap(4, 6), keys);
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_EQ(row.layer(Layer::tcp_to_tls), 4 * step) << "its first byte came in packet 6";
  EXPECT_FALSE(row.client_hello_complete_ns) << "and with it all was there";
}

TEST(Tracker, ALostFinishedThatIsSentAgain) {
  Handshake peer;
  Conversation talk = whole(peer);
  // Finished (6) and request (7) in the wrong order: Finished is complete at packet 7, the request came in packet 6.
  const Transaction row = only_row(talk.swap(6, 7), key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_EQ(row.layer(Layer::tls_handshake), 3 * step);
  EXPECT_FALSE(row.layer(Layer::tls_to_app)) << "the request overtook Finished";
  EXPECT_TRUE(row.inverted);
  EXPECT_EQ(row.total_ns, 7 * step);
}

TEST(Tracker, ARetryIsOneHandshake) {
  Handshake peer;
  Conversation talk;
  talk.open();
  peer.hello.groups = {0x001D, 0x0017};
  const Bytes first_hello = peer.client_hello();
  talk.client(first_hello);  // 4
  const Bytes retry = peer.hello_retry_request(0x0017);
  talk.server(retry);  // 5
  peer.hello.key_shares = {{std::uint16_t{0x0017}, std::uint16_t{65}}};
  peer.server_hello.group = std::uint16_t{0x0017};
  const Bytes second_hello = peer.client_hello();
  talk.client(change_cipher_spec() << second_hello);  // 6
  const Bytes flight = peer.server_flight();
  const Bytes finished = peer.client_finished();
  talk.server(flight).client(finished);  // 7, 8
  talk.client(peer.client.data(get)).server(peer.server.data(ok));
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_TRUE(row.connection.hrr);
  EXPECT_EQ(row.connection.key_shares, std::vector<std::uint16_t>{0x001D}) << "the first hello's, counted once";
  EXPECT_EQ(row.connection.group, 0x0017);
  EXPECT_EQ(row.layer(Layer::tls_handshake), 4 * step) << "from the first hello to Finished";
  EXPECT_EQ(row.handshake_parts[static_cast<std::size_t>(HandshakePart::retry)], 2 * step);
  const Nanos sum = std::accumulate(row.handshake_parts.begin(), row.handshake_parts.end(), Nanos{0},
                                    [](Nanos total, const auto& part) { return total + part.value(); });
  EXPECT_EQ(sum, row.layer(Layer::tls_handshake));
  EXPECT_EQ(row.connection.client_hello_bytes, first_hello.size());
  EXPECT_EQ(row.connection.server_flight_bytes, flight.size());
  EXPECT_EQ(row.connection.server_handshake_bytes, retry.size() + flight.size()) << "the retry and its CCS counted";
  EXPECT_EQ(row.connection.retry_request_bytes, retry.size() - change_cipher_spec().size());
  EXPECT_EQ(row.connection.second_client_hello_bytes, second_hello.size());
  EXPECT_EQ(row.connection.client_finish_bytes, finished.size());
}

TEST(Tracker, AcceptedEarlyData) {
  Handshake peer;
  peer.hello.psk = peer.hello.early_data = true;
  peer.server_hello.psk_identity = std::uint16_t{0};
  Conversation talk;
  talk.open().client(peer.client_hello() << peer.early.data(get)).server(peer.server_flight(true));
  talk.client(peer.early.seal_message(tls::HandshakeType::end_of_early_data, {})
              << peer.client.seal(tls::ContentType::handshake, peer.finished()));
  talk.server(peer.server.data(ok)).close();
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_TRUE(row.connection.early_data);
  EXPECT_TRUE(row.connection.resumed);
  EXPECT_FALSE(row.layer(Layer::tls_to_app));
  EXPECT_EQ(row.request_ns, time_of(4));
  EXPECT_EQ(row.layer(Layer::app_response), 3 * step);
  EXPECT_EQ(row.total_ns, 6 * step);
}

TEST(Tracker, RejectedEarlyDataIsNoRequest) {
  Handshake peer;
  peer.hello.psk = peer.hello.early_data = true;
  Conversation talk;
  talk.open().client(peer.client_hello() << peer.early.data(get)).server(peer.server_flight(false));
  talk.client(peer.client_finished()).client(peer.client.data(get)).server(peer.server.data(ok)).close();
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_FALSE(row.connection.early_data);
  EXPECT_EQ(row.request_ns, time_of(7));
  EXPECT_TRUE(row.has_all_layers());
}

TEST(Tracker, FastOpenWithTheHelloInTheSyn) {
  Handshake peer;
  Conversation talk;
  talk.syn(peer.client_hello()).syn_ack().server(peer.server_flight()).client(peer.client_finished());
  talk.client(peer.client.data(get)).server(peer.server.data(ok)).close();
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_EQ(row.layer(Layer::tcp_handshake), step);
  EXPECT_FALSE(row.layer(Layer::tcp_to_tls));
  EXPECT_TRUE(row.inverted) << "it would be negative";
  EXPECT_EQ(row.layer(Layer::tls_handshake), 3 * step);
  EXPECT_EQ(row.total_ns, 5 * step);
}

TEST(Tracker, KeepAliveAndPipelining) {
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  talk.client(peer.client.data(get)).server(peer.server.data(ok));                                     // 7, 8
  talk.client(peer.client.data(get + get)).server(peer.server.data(ok)).server(peer.server.data(ok));  // 9, 10, 11
  const auto rows = rows_of(talk.frames(), key_log_of(peer.key_log()));
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].request, i + 1);
    EXPECT_EQ(name(rows[i].outcome), "complete");
  }
  EXPECT_EQ(rows[1].total_ns, step);
  EXPECT_EQ(rows[2].total_ns, 2 * step);
  EXPECT_FALSE(rows[1].layer(Layer::tls_handshake));
}

TEST(Tracker, ABodyThatIsPassedUnopenedEndsWithItsLastByte) {
  // Packets: 7 request, 8 head, 9 to 12 the body's records, of which the last also holds the next response.
  for (const std::uint16_t suite : {std::uint16_t{0x1301}, std::uint16_t{0x1303}, std::uint16_t{0x1304}}) {
    Handshake peer(suite);
    const tls::KeyLog keys = key_log_of(peer.key_log());
    const auto talk_of = [&](std::size_t lost) {
      Handshake talkers(suite);
      Conversation talk;
      talk.open().client(talkers.client_hello()).server(talkers.server_flight()).client(talkers.client_finished());
      talk.client(talkers.client.data(get + get));
      talk.server(talkers.server.data("HTTP/1.1 200 OK\r\nContent-Length: 16000\r\n\r\n"));
      for (std::size_t i = 0; i < 4; ++i) {
        const Bytes record = talkers.server.data(std::string(4000, 'x') + (i == 3 ? ok : ""));
        if (i != lost) {
          talk.server(record);
        }
      }
      return talk.close();
    };
    const auto rows = rows_of(talk_of(4).frames(), keys);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].last_byte_ns, time_of(12) - time_of(1));
    EXPECT_EQ(rows[1].layer(Layer::app_response), time_of(12) - time_of(7));
    EXPECT_EQ(name(rows[1].outcome), "complete");
    // A record that never was in the stream: the count is wrong, and the record that would prove it stays closed.
    const auto wrong = rows_of(talk_of(1).frames(), keys);
    ASSERT_EQ(wrong.size(), 2U);
    EXPECT_EQ(name(wrong[0].outcome), "complete") << "its boundaries are there";
    EXPECT_FALSE(wrong[0].last_byte_ns);
    EXPECT_NE(name(wrong[1].outcome), "complete");
  }
}

TEST(Tracker, ManyRequestsOnOneConnection) {
  // All asked at once, then answered one after the other: each answer finds its own request.
  constexpr std::size_t count = 20'000;
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  std::string requests;
  for (std::size_t i = 0; i < count; ++i) {
    requests += i % 2 == 0 ? "GET / HTTP/1.1\r\n\r\n" : "HEAD / HTTP/1.1\r\n\r\n";
  }
  for (std::size_t at = 0; at < requests.size(); at += 16'000) {
    talk.client(peer.client.data(std::string_view(requests).substr(at, 16'000)));
  }
  std::string responses;
  for (std::size_t i = 0; i < count; ++i) {
    responses += i % 2 == 0 ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" : "HTTP/1.1 204 No Content\r\n\r\n";
  }
  for (std::size_t at = 0; at < responses.size(); at += 16'000) {
    talk.server(peer.server.data(std::string_view(responses).substr(at, 16'000)));
  }
  const auto rows = rows_of(talk.close().frames(), key_log_of(peer.key_log()));
  ASSERT_EQ(rows.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(rows[i].request, i + 1);
    ASSERT_EQ(rows[i].method, i % 2 == 0 ? "GET" : "HEAD");
    ASSERT_EQ(rows[i].status, i % 2 == 0 ? 200 : 204);
    ASSERT_EQ(name(rows[i].outcome), "complete");
  }
}

TEST(Tracker, Http2StreamsAreTransactions) {
  Handshake peer;
  peer.alpn = "h2";
  http::test::Encoder up;
  http::test::Encoder down;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  const auto seal = [](tls::test::Scribe& scribe, const Bytes& bytes) {
    return scribe.seal(tls::ContentType::application_data, bytes);
  };
  talk.client(seal(peer.client, text_bytes(http::Http2::preface()) << http::test::settings_frame()));  // 7
  talk.client(seal(peer.client, up.request(1)));                                                       // 8
  talk.client(seal(peer.client, up.request(3, "HEAD")));                                               // 9
  talk.server(seal(peer.server, http::test::settings_frame() << down.response(3, 204, true)));         // 10
  talk.server(seal(peer.server, down.response(1, 200)));                                               // 11
  talk.server(seal(peer.server, http::test::data_frame(1, 100, true)));                                // 12
  const auto rows = rows_of(talk.frames(), key_log_of(peer.key_log()));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].connection.alpn, "h2");
  EXPECT_EQ(rows[0].request_ns, time_of(8)) << "not the preface's packet";
  EXPECT_EQ(rows[0].layer(Layer::app_response), 3 * step);
  EXPECT_EQ(rows[0].total_ns, 10 * step);
  EXPECT_EQ(rows[0].last_byte_ns, 11 * step);
  EXPECT_EQ(rows[1].method, "HEAD");
  EXPECT_EQ(rows[1].status, 204);
  EXPECT_EQ(rows[1].total_ns, step);
}

// --- which end is the client

TEST(Tracker, WithoutASynTheHelloTellsTheClient) {
  Handshake peer;
  Conversation talk = whole(peer);
  talk.drop(1).drop(1).drop(1);
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "no_syn");
  EXPECT_EQ(row.connection.client, talk.client_end);
  EXPECT_FALSE(row.layer(Layer::tcp_handshake));
  EXPECT_EQ(row.layer(Layer::tls_handshake), 2 * step);
  EXPECT_FALSE(row.total_ns);
  EXPECT_EQ(row.connection.start_ns, time_of(4)) << "the first packet, where there is no SYN";
}

TEST(Tracker, ASynAckAloneTellsTheServer) {
  Handshake peer;
  Conversation talk = whole(peer);
  talk.drop(1);
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "no_syn");
  EXPECT_EQ(row.connection.client, talk.client_end);
  EXPECT_EQ(row.layer(Layer::tcp_to_tls), 2 * step);
}

TEST(Tracker, WithoutSynAndHelloThePortTellsTheServer) {
  Handshake peer;
  Conversation talk = whole(peer);
  for (int i = 0; i < 4; ++i) {
    talk.drop(1);
  }
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(row.connection.server, talk.server_end);
  EXPECT_NE(name(row.outcome), "complete");
}

// --- ends

TEST(Tracker, AlertsResetsAndSilence) {
  const auto after_hello = [](auto then) {
    const Handshake peer;
    Conversation talk;
    talk.open().client(peer.client_hello());
    then(talk);
    return std::string(name(only_row(talk, tls::KeyLog{}).outcome));
  };
  const Bytes fatal = tls::test::record(tls::ContentType::alert, Bytes{2, 40});
  EXPECT_EQ(after_hello([&](Conversation& talk) { talk.server(fatal).close(); }), "tls_alert");
  EXPECT_EQ(after_hello([&](Conversation& talk) { talk.server(fatal).reset(false); }), "tls_alert")
      << "whatever follows it";
  EXPECT_EQ(after_hello([](Conversation& talk) { talk.reset(false); }), "reset");
  EXPECT_EQ(after_hello([](Conversation& talk) { talk.close(); }), "handshake_incomplete");
  EXPECT_EQ(after_hello([](Conversation&) {}), "truncated") << "the capture ended before the server could speak";
}

TEST(Tracker, AClosureAlertIsNoFailure) {
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  talk.client(peer.client.seal(tls::ContentType::alert, Bytes{1, 0})).close();
  EXPECT_EQ(name(only_row(talk, key_log_of(peer.key_log())).outcome), "no_request");
}

TEST(Tracker, AnEncryptedAlertInsteadOfFinished) {
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight());
  talk.client(peer.client.seal(tls::ContentType::alert, Bytes{2, 48})).reset(true);
  EXPECT_EQ(name(only_row(talk, key_log_of(peer.key_log())).outcome), "tls_alert") << "unknown_ca";
}

TEST(Tracker, DataThatIsNoTls) {
  Conversation http;
  http.open().client(text_bytes(get)).server(text_bytes(ok)).close();
  EXPECT_EQ(name(only_row(http, tls::KeyLog{}).outcome), "no_tls");
  Conversation ssl2;
  ssl2.open().client(Bytes{0x80, 0x2E, 1, 3, 1, 0, 0x15, 0, 0, 0, 0x10}).close();
  EXPECT_EQ(name(only_row(ssl2, tls::KeyLog{}).outcome), "unsupported");
  Conversation ssh;
  ssh.open().server(text_bytes("SSH-2.0-OpenSSH_9.2\r\n")).client(text_bytes("SSH-2.0-x\r\n")).close();
  EXPECT_EQ(name(only_row(ssh, tls::KeyLog{}).outcome), "no_tls");
}

TEST(Tracker, OldVersionsAreUnsupported) {
  Handshake peer;
  peer.server_hello.version = 0x0301;
  peer.server_hello.suite = 0x002F;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_hello_record()).close();
  const Transaction row = only_row(talk, tls::KeyLog{});
  EXPECT_EQ(name(row.outcome), "unsupported");
  EXPECT_EQ(row.connection.tls_version, 0x0301);
}

TEST(Tracker, LostBytesAreAGapNotASlowServer) {
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello());
  const Bytes flight = peer.server_flight();
  talk.lose(false, flight.size()).client(peer.client_finished()).client(peer.client.data(get));
  talk.server(peer.server.data(ok)).close();
  EXPECT_EQ(name(only_row(talk, key_log_of(peer.key_log())).outcome), "gap");
}

TEST(Tracker, LossesBehindTheBoundariesDoNotMatter) {
  Handshake peer;
  Conversation talk;
  talk.open().client(peer.client_hello()).server(peer.server_flight()).client(peer.client_finished());
  talk.client(peer.client.data(get));
  talk.server(peer.server.data("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n"));
  const Bytes response = peer.server.data(std::string(5000, 'x'));
  talk.lose(false, response.size()).close();
  const Transaction row = only_row(talk, key_log_of(peer.key_log()));
  EXPECT_EQ(name(row.outcome), "complete");
  EXPECT_TRUE(row.total_ns);
  EXPECT_FALSE(row.last_byte_ns);
}

TEST(Tracker, ASnapLengthThatCutsTheFlight) {
  Handshake peer;
  std::vector<Frame> frames = whole(peer).frames();
  for (Frame& frame : frames) {
    frame = frame.cut(200);
  }
  EXPECT_EQ(name(only_row(frames, key_log_of(peer.key_log())).outcome), "truncated");
}

TEST(Tracker, SynsWithoutAnswer) {
  Conversation refused;
  refused.syn().reset(false);
  refused.segments[1].first.sequence = 0;
  refused.segments[1].first.acknowledgment = refused.client_isn + 1;
  EXPECT_EQ(name(only_row(refused, tls::KeyLog{}).outcome), "refused");
  Conversation silent;
  silent.syn().wait(nanos_per_second).syn().wait(2 * nanos_per_second).syn();
  EXPECT_EQ(name(only_row(silent, tls::KeyLog{}).outcome), "tcp_timeout");
}

// Packet n of the capture cut away, or everything from it on: each row stays sound.
TEST(Tracker, EveryPrefixAndEveryLossGivesASoundRow) {
  Handshake peer;
  const std::vector<Frame> frames = whole(peer).frames();
  const auto keys = key_log_of(peer.key_log());
  const auto check = [&](const std::vector<Frame>& some) {
    for (const Transaction& row : rows_of(some, keys)) {
      Nanos sum = 0;
      for (const auto& layer : row.layers) {
        EXPECT_GE(layer.value_or(0), 0);
        sum += layer.value_or(0);
      }
      if (row.has_all_layers()) {
        EXPECT_EQ(sum, row.total_ns);
      }
      EXPECT_TRUE(row.outcome != Outcome::complete || row.total_ns);
    }
  };
  for (std::size_t i = 0; i <= frames.size(); ++i) {
    check({frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(i)});
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    std::vector<Frame> without = frames;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    check(without);
    std::vector<Frame> twice = frames;
    twice.insert(twice.begin() + static_cast<std::ptrdiff_t>(i), frames[i]);
    check(twice);
    EXPECT_EQ(name(only_row(twice, keys).outcome), "complete") << "packet " << i + 1 << " twice";
  }
}

}  // namespace
}  // namespace tlstrata::strata::test
