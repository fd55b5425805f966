#include "tcp/connections.h"

#include <gtest/gtest.h>

#include <string>

#include "unit/tcp/talk.h"

namespace tlstrata::tcp::test {
namespace {

TEST(Connections, AWholeConnection) {
  Talk talk;
  EXPECT_EQ(talk.feed(talk.syn()), (Lines{"opened a", "syn a"}));
  EXPECT_EQ(talk.connections.endpoints(talk.last.connection).side[0], talk.client_end);
  EXPECT_EQ(talk.feed(talk.syn_ack()), Lines{"syn_ack b"});
  EXPECT_EQ(talk.feed(talk.client(0, "")), Lines{});
  EXPECT_EQ(talk.feed(talk.client(0, "hello")), Lines{"data a 0 'hello'"});
  EXPECT_EQ(talk.feed(talk.server(0, "world")), Lines{"data b 0 'world'"});
  EXPECT_EQ(talk.feed(talk.client(5, "", flag::fin | flag::ack)), Lines{"fin a"});
  EXPECT_EQ(talk.connections.open_count(), 1U);
  EXPECT_EQ(talk.feed(talk.server(5, "", flag::fin | flag::ack)), (Lines{"fin b", "closed finished"}));
  EXPECT_EQ(talk.connections.traffic(talk.last.connection, Side::a).packets, 4U);
  EXPECT_EQ(talk.connections.traffic(talk.last.connection, Side::a).payload_bytes, 5U);
  EXPECT_EQ(talk.feed(talk.client(6, "")), Lines{}) << "the last acknowledgment";
  EXPECT_EQ(talk.connections.open_count(), 0U);
  EXPECT_EQ(talk.finish(), Lines{});
  EXPECT_EQ(talk.connections.counts().tcp, 7U);
  EXPECT_EQ(talk.connections.counts().late, 1U);
}

TEST(Connections, RetransmittedSynsAndSynAcksAreOneConnection) {
  Talk talk;
  talk.feed(talk.syn());
  EXPECT_EQ(talk.feed(talk.syn()), Lines{"syn a"});
  EXPECT_EQ(talk.feed(talk.syn_ack()), Lines{"syn_ack b"});
  EXPECT_EQ(talk.feed(talk.syn_ack()), Lines{"syn_ack b"});
  EXPECT_EQ(talk.feed(talk.syn()), Lines{"syn a"}) << "a late copy";
  EXPECT_EQ(talk.finish(), Lines{"closed capture_ended"});
}

TEST(Connections, ASynAckThatIsCapturedBeforeItsSyn) {
  Talk talk;
  EXPECT_EQ(talk.feed(talk.syn_ack()), (Lines{"opened a", "syn_ack a"}));
  EXPECT_EQ(talk.feed(talk.syn()), Lines{"syn b"});
  EXPECT_EQ(talk.feed(talk.client(0, "hello")), Lines{"data b 0 'hello'"});
  EXPECT_EQ(talk.feed(talk.server(0, "world")), Lines{"data a 0 'world'"});
}

TEST(Connections, ASynAckWithoutItsSynGivesBothStreamsTheirStart) {
  Talk talk;
  talk.feed(talk.syn_ack());
  EXPECT_EQ(talk.feed(talk.client(3, "lo")), Lines{}) << "three bytes are missing before it";
  EXPECT_EQ(talk.feed(talk.client(0, "hel")), (Lines{"data b 0 'hel'", "data b 3 'lo'"}));
}

TEST(Connections, ASynWithoutItsSynAckGivesTheServersStreamItsStart) {
  Talk talk;
  talk.feed(talk.syn());
  talk.feed(talk.client(0, "hello"));  // acknowledges the SYN-ACK that was not captured
  EXPECT_EQ(talk.feed(talk.server(2, "rld")), Lines{});
  EXPECT_EQ(talk.feed(talk.server(0, "wo")), (Lines{"data b 0 'wo'", "data b 2 'rld'"}));
}

TEST(Connections, EveryPacketTwice) {
  Talk talk;
  Lines lines;
  for (const TcpFields& fields :
       {talk.syn(), talk.syn_ack(), talk.client(0, "hello"), talk.server(0, "world"),
        talk.client(5, "", flag::fin | flag::ack), talk.server(5, "", flag::fin | flag::ack), talk.client(6, "")}) {
    for (int copy = 0; copy < 2; ++copy) {
      const Lines more = talk.feed(fields);
      lines.insert(lines.end(), more.begin(), more.end());
    }
  }
  EXPECT_EQ(lines, (Lines{"opened a", "syn a", "syn a", "syn_ack b", "syn_ack b", "data a 0 'hello'", "again a",
                          "data b 0 'world'", "again b", "fin a", "fin b", "closed finished"}));
  EXPECT_EQ(talk.finish(), Lines{}) << "late copies open nothing";
}

TEST(Connections, ANewSynIsANewGeneration) {
  Talk talk;
  talk.shake_hands();
  talk.feed(talk.client(0, "hello"));
  TcpFields again = talk.syn();
  again.sequence = 777'000;
  EXPECT_EQ(talk.feed(again), (Lines{"closed reused", "opened a", "syn a"}));
  EXPECT_EQ(talk.connections.endpoints(talk.last.connection).generation, 1U);
  TcpFields data = talk.client(0, "second");
  data.sequence = 777'001;
  EXPECT_EQ(talk.feed(data), Lines{"data a 0 'second'"});
}

TEST(Connections, PortReuseAfterAClose) {
  Talk talk;
  for (std::uint32_t generation = 0; generation < 3; ++generation) {
    TcpFields syn = talk.syn();
    syn.sequence = client_isn + 100'000 * generation;
    EXPECT_EQ(talk.feed(syn), (Lines{"opened a", "syn a"}));
    EXPECT_EQ(talk.connections.endpoints(talk.last.connection).generation, generation);
    TcpFields client_fin = talk.client(0, "x", flag::fin | flag::ack);
    client_fin.sequence = syn.sequence + 1;
    talk.feed(client_fin);
    TcpFields server_fin = talk.server(0, "", flag::fin | flag::ack);
    EXPECT_EQ(talk.feed(server_fin), (Lines{"fin b", "closed finished"}));
    EXPECT_EQ(talk.feed(syn), Lines{}) << "a late copy of this generation's SYN";
  }
}

TEST(Connections, ASecondSynAckWithAnotherNumberIsNotBelieved) {
  Talk talk;
  talk.shake_hands();
  TcpFields forged = talk.syn_ack();
  forged.sequence = 99;
  forged.payload = text_bytes("evil");
  EXPECT_EQ(talk.feed(forged), Lines{"syn_ack b"});
  EXPECT_EQ(talk.feed(talk.server(0, "world")), Lines{"data b 0 'world'"});
}

TEST(Connections, ResetsInsideTheWindowEndTheConnection) {
  Talk talk;
  talk.shake_hands();
  talk.feed(talk.client(0, "hello"));
  EXPECT_EQ(talk.feed(talk.client(5, "", flag::rst)), (Lines{"reset a", "closed reset"}));
  EXPECT_EQ(talk.feed(talk.server(0, "late")), Lines{});
  EXPECT_EQ(talk.connections.counts().late, 1U);
  EXPECT_EQ(talk.feed(talk.client(5, "", flag::rst)), Lines{}) << "a second reset has no connection";
}

TEST(Connections, ResetsOutsideTheWindowAreInjected) {
  Talk talk;
  talk.shake_hands();
  talk.feed(talk.client(0, "hello"));
  EXPECT_EQ(talk.feed(talk.client(0x70000000, "", flag::rst)), Lines{});
  TcpFields before = talk.client(0, "", flag::rst);
  before.sequence -= 100;
  EXPECT_EQ(talk.feed(before), Lines{});
  EXPECT_EQ(talk.feed(talk.server(0, "world")), Lines{"data b 0 'world'"});
}

TEST(Connections, AResetThatAReceiverWouldNotObeyEndsNothingThatGoesOn) {
  for (const std::uint32_t ahead : {100U, 60'000U, 203'436'778U}) {
    Talk talk;
    talk.shake_hands();
    talk.feed(talk.client(0, "hello"));
    EXPECT_EQ(talk.feed(talk.client(5 + ahead, "", flag::rst)), Lines{});
    EXPECT_EQ(talk.feed(talk.server(0, "world")), Lines{"data b 0 'world'"}) << ahead;
    EXPECT_EQ(talk.feed(talk.client(5, "!")), Lines{"data a 5 '!'"});
    EXPECT_EQ(talk.finish(), Lines{"closed capture_ended"});
  }
}

TEST(Connections, AResetBehindMissingBytesThatWereAcknowledgedIsObeyed) {
  Talk talk;
  talk.shake_hands();
  TcpFields acknowledgment = talk.server(0, "");
  acknowledgment.acknowledgment = client_isn + 1 + 2'000;
  talk.feed(acknowledgment);
  const Lines lines = talk.feed(talk.client(2'000, "", flag::rst));
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "closed reset");
}

TEST(Connections, AResetBehindMissingBytesCountsWhereNothingFollows) {
  Talk talk;
  talk.shake_hands();
  talk.feed(talk.client(0, "hello"));
  EXPECT_EQ(talk.feed(talk.client(2'000, "", flag::rst)), Lines{});
  EXPECT_EQ(talk.finish(), (Lines{"reset a", "closed reset"}));
  EXPECT_EQ(talk.connections.counts().late, 0U);

  Talk again;
  again.shake_hands();
  again.feed(again.client(2'000, "", flag::rst));
  TcpFields next = again.syn();
  next.sequence += 50'000;
  EXPECT_EQ(again.feed(next), (Lines{"reset a", "closed reset", "opened a", "syn a"}));
}

TEST(Connections, ARefusedSyn) {
  Talk talk;
  talk.feed(talk.syn());
  TcpFields wrong = talk.server(0, "", flag::rst | flag::ack);
  wrong.sequence = 0;
  wrong.acknowledgment = client_isn - 7;
  EXPECT_EQ(talk.feed(wrong), Lines{}) << "it answers another SYN";
  TcpFields refusal = wrong;
  refusal.acknowledgment = client_isn + 1;
  EXPECT_EQ(talk.feed(refusal), (Lines{"reset b", "closed reset"}));
}

TEST(Connections, AResetDeliversWhatTheReceiverHadAcknowledged) {
  Talk talk;
  talk.shake_hands();
  talk.feed(talk.client(2, "llo"));
  TcpFields acknowledgment = talk.server(0, "");
  acknowledgment.acknowledgment = client_isn + 1 + 5;
  talk.feed(acknowledgment);
  EXPECT_EQ(talk.feed(talk.server(0, "", flag::rst)),
            (Lines{"gap a 0 +2", "data a 2 'llo'", "reset b", "closed reset"}));
}

TEST(Connections, AResetDropsWhatWasNeverAcknowledged) {
  Talk talk;
  talk.shake_hands();
  talk.feed(talk.client(2, "llo"));
  EXPECT_EQ(talk.feed(talk.server(0, "", flag::rst)), (Lines{"reset b", "closed reset"}));
}

TEST(Connections, StrayPacketsOpenNothing) {
  Talk talk;
  EXPECT_EQ(talk.feed(talk.client(0, "")), Lines{}) << "a bare acknowledgment";
  EXPECT_EQ(talk.feed(talk.client(0, "", flag::rst)), Lines{});
  EXPECT_EQ(talk.feed(talk.client(0, "", flag::fin | flag::ack)), Lines{});
  EXPECT_EQ(talk.feed(talk.client(0, "data", flag::rst)), Lines{}) << "a reset with a reason in it";
  EXPECT_EQ(talk.connections.counts().no_connection, 4U);
  EXPECT_EQ(talk.connections.open_count(), 0U);
}

TEST(Connections, ACaptureThatStartsInMidConnection) {
  Talk talk;
  EXPECT_EQ(talk.feed(talk.server(500, "world")), (Lines{"opened a", "data a 0 'world'"}));
  EXPECT_EQ(talk.feed(talk.client(700, "hello")), Lines{"data b 0 'hello'"});
  EXPECT_EQ(talk.feed(talk.server(505, "!")), Lines{"data a 5 '!'"});
}

TEST(Connections, AHoleAtTheEndIsAGapWhereItWasAcknowledged) {
  Talk talk;
  talk.shake_hands();
  talk.feed(talk.client(0, "he"));
  TcpFields acknowledgment = talk.server(0, "");
  acknowledgment.acknowledgment = client_isn + 1 + 6;
  talk.feed(talk.client(5, "o"));
  talk.feed(acknowledgment);
  EXPECT_EQ(talk.finish(), (Lines{"gap a 2 +3", "data a 5 'o'", "closed capture_ended"}));
}

TEST(Connections, AFinBeforeAHoleWaits) {
  Talk talk;
  talk.shake_hands();
  EXPECT_EQ(talk.feed(talk.client(2, "llo", flag::fin | flag::ack)), Lines{});
  EXPECT_EQ(talk.feed(talk.server(0, "", flag::fin | flag::ack)), Lines{"fin b"});
  EXPECT_EQ(talk.feed(talk.client(0, "he")), (Lines{"data a 0 'he'", "data a 2 'llo'", "fin a", "closed finished"}));
}

TEST(Connections, FastOpenCarriesDataInTheSyn) {
  Talk talk;
  TcpFields syn = talk.syn();
  syn.payload = text_bytes("hello");
  EXPECT_EQ(talk.feed(syn), (Lines{"opened a", "syn a with data", "data a 0 'hello'"}));
  EXPECT_EQ(talk.last.first.packet, 1U);
  EXPECT_EQ(talk.feed(talk.syn_ack()), Lines{"syn_ack b"});
  EXPECT_EQ(talk.feed(talk.client(0, "hello")), Lines{"again a"}) << "sent again where the server had no cookie";
  EXPECT_EQ(talk.feed(talk.client(5, "more")), Lines{"data a 5 'more'"});
}

TEST(Connections, BytesThatWaitAreBoundedOverAllStreams) {
  Limits limits;
  limits.held_bytes = 10'000;
  Talk talk({}, limits);
  talk.shake_hands();
  const std::string kilobyte(1000, 'x');
  Lines lines;
  for (std::uint32_t i = 0; i < 12 && lines.empty(); ++i) {
    lines = talk.feed(talk.client(10 + i * 1000, kilobyte));
  }
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), "gap a 0 +10");
}

TEST(Connections, PacketsThatAreNoTcpAreCountedByFate) {
  Talk talk;
  talk.feed(Frame{ethernet_bytes(0x0806, Bytes(28, 0)), capture::LinkType::ethernet, 0, 0});
  talk.feed(Frame{Bytes(3, 0), capture::LinkType::ethernet, 0, 0});
  talk.feed(frame_of(talk.syn()).cut(20));
  talk.feed(Frame{Bytes(40, 0), static_cast<capture::LinkType>(147), 0, 0});
  const PacketCounts& counts = talk.connections.counts();
  EXPECT_EQ(counts.not_ip, 1U);
  EXPECT_EQ(counts.malformed, 1U);
  EXPECT_EQ(counts.cut_headers, 1U);
  EXPECT_EQ(counts.unsupported_link, 1U);
  EXPECT_EQ(counts.sum(), 4U);
}

}  // namespace
}  // namespace tlstrata::tcp::test
