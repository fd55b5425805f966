#include "tcp/connections.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "unit/tcp/packet_builder.h"

namespace tlstrata::tcp::test {
namespace {

// An Event as a line of text: "syn a 1", "data a 0 'abc' first 3 in order 4", "closed finished".
std::string describe(const Event& event) {
  static constexpr std::array kinds{"opened", "syn", "syn_ack", "data", "gap", "fin", "reset", "closed"};
  static constexpr std::array closes{"none", "finished", "reset", "reused", "idle", "capture_ended"};
  std::string line = kinds.at(static_cast<std::size_t>(event.kind));
  if (event.kind == EventKind::closed) {
    return line + ' ' + closes.at(static_cast<std::size_t>(event.close));
  }
  line += event.side == Side::a ? " a" : " b";
  if (event.kind == EventKind::data || event.kind == EventKind::gap) {
    line += ' ' + std::to_string(event.offset);
    line += event.kind == EventKind::gap ? " +" + std::to_string(event.length)
                                         : " '" + std::string(event.bytes.begin(), event.bytes.end()) + '\'';
  }
  if (event.kind == EventKind::syn && event.has_payload) {
    line += " with data";
  }
  return line;
}

constexpr std::uint32_t client_isn = 1000;
constexpr std::uint32_t server_isn = 5000;

// Feeds packets between a client and a server and keeps the events as lines.
class Talk {
 public:
  explicit Talk(Share share = {}, Limits limits = {}) : connections(share, limits) {}

  TcpFields client(std::uint32_t offset, std::string_view payload, std::uint8_t flags = flag::ack) const {
    TcpFields fields;
    fields.source = client_end;
    fields.destination = server_end;
    fields.sequence = client_isn + 1 + offset;
    fields.acknowledgment = server_isn + 1;
    fields.flags = flags;
    fields.payload = text_bytes(payload);
    return fields;
  }
  TcpFields server(std::uint32_t offset, std::string_view payload, std::uint8_t flags = flag::ack) const {
    TcpFields fields = client(offset, payload, flags);
    std::swap(fields.source, fields.destination);
    fields.sequence = server_isn + 1 + offset;
    fields.acknowledgment = client_isn + 1;
    return fields;
  }
  TcpFields syn() const {
    TcpFields fields = client(0, "", flag::syn);
    fields.sequence = client_isn;
    return fields;
  }
  TcpFields syn_ack() const {
    TcpFields fields = server(0, "", flag::syn | flag::ack);
    fields.sequence = server_isn;
    return fields;
  }

  // The new events.
  std::vector<std::string> feed(const TcpFields& fields) { return feed(frame_of(fields, now_ns += 1000)); }
  std::vector<std::string> feed(const Frame& frame) {
    connections.feed(frame.packet(++packets));
    return drain();
  }
  std::vector<std::string> finish() {
    connections.finish();
    return drain();
  }
  std::vector<std::string> drain() {
    std::vector<std::string> lines;
    for (auto event = connections.next(); event && *event; event = connections.next()) {
      lines.push_back(describe(**event));
      last = **event;
    }
    EXPECT_EQ(connections.counts().sum(), packets) << "a packet without a fate";
    return lines;
  }
  void shake_hands() {
    feed(syn());
    feed(syn_ack());
  }

  Connections connections;
  Endpoint client_end = endpoint("10.0.0.1:50000");
  Endpoint server_end = endpoint("10.0.0.2:443");
  Nanos now_ns = 1'000'000;
  std::uint64_t packets = 0;
  Event last;
};

using Lines = std::vector<std::string>;

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
  EXPECT_EQ(lines, (Lines{"opened a", "syn a", "syn a", "syn_ack b", "syn_ack b", "data a 0 'hello'",
                          "data b 0 'world'", "fin a", "fin b", "closed finished"}));
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
  EXPECT_EQ(talk.feed(talk.client(0, "hello")), Lines{}) << "sent again where the server had no cookie";
  EXPECT_EQ(talk.feed(talk.client(5, "more")), Lines{"data a 5 'more'"});
}

TEST(Connections, IdleConnectionsEnd) {
  Talk talk;
  talk.feed(talk.syn());
  TcpFields other = talk.syn();
  other.source.port = 50'001;
  talk.now_ns += 131 * nanos_per_second;
  EXPECT_EQ(talk.feed(other), (Lines{"closed idle", "opened a", "syn a"})) << "nobody answered";

  Talk long_talk;
  long_talk.shake_hands();
  long_talk.feed(long_talk.client(0, "hello"));
  long_talk.now_ns += 1800 * nanos_per_second;
  EXPECT_EQ(long_talk.feed(other), (Lines{"opened a", "syn a"})) << "half an hour is no silence";
  long_talk.now_ns += 3600 * nanos_per_second;
  const Lines lines = long_talk.feed(other);
  EXPECT_EQ(std::ranges::count(lines, "closed idle"), 2);
}

TEST(Connections, ClosedConnectionsAreForgottenAfterAWhile) {
  Talk talk;
  talk.shake_hands();
  talk.feed(talk.client(0, "", flag::rst));
  EXPECT_EQ(talk.feed(talk.server(0, "late")), Lines{});
  talk.now_ns += 120 * nanos_per_second;
  EXPECT_EQ(talk.feed(talk.server(4, "new")), (Lines{"opened a", "data a 0 'new'"}));
}

TEST(Connections, OnlySoManyClosedConnectionsAreRemembered) {
  // A capture without stamps: only the number of packets tells how long ago it was.
  Limits limits;
  limits.remember_closed_packets = 100'000;
  Connections connections({}, limits);
  std::uint64_t number = 0;
  const auto feed = [&](TcpFields fields) { connections.feed(frame_of(fields, 0).packet(++number)); };
  const auto syn = [](std::uint32_t which) {
    TcpFields fields;
    fields.source.address[2] = static_cast<std::uint8_t>(which >> 16U);
    fields.source.address[3] = static_cast<std::uint8_t>(which >> 8U);
    fields.source.port = static_cast<std::uint16_t>(which & 0xFFU);
    fields.flags = flag::syn;
    fields.sequence = 7;
    return fields;
  };
  constexpr std::uint32_t crowd_size = 70'000;
  for (std::uint32_t i = 0; i < crowd_size; ++i) {
    feed(syn(i));
    TcpFields reset = syn(i);
    reset.flags = flag::rst;
    reset.sequence = 8;
    feed(reset);
  }
  const std::uint64_t opened = connections.counts().tcp;
  feed(syn(crowd_size - 1));
  EXPECT_EQ(connections.counts().late, 1U) << "the newest are remembered";
  feed(syn(0));
  EXPECT_EQ(connections.counts().tcp, opened + 1) << "the oldest are not: their memory is bounded";
  EXPECT_EQ(connections.counts().sum(), number);
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

TEST(Connections, SlotsAreUsedAgain) {
  Talk talk;
  std::map<ConnectionId, int> ids;
  for (std::uint16_t i = 0; i < 100; ++i) {
    TcpFields syn = talk.syn();
    syn.source.port = static_cast<std::uint16_t>(20'000 + i);
    talk.feed(syn);
    ++ids[talk.last.connection];
    TcpFields reset = talk.client(0, "", flag::rst);
    reset.source.port = syn.source.port;
    EXPECT_EQ(talk.feed(reset), (Lines{"reset a", "closed reset"}));
  }
  EXPECT_LE(ids.size(), 2U);
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

// A crowd of connections, each packet sometimes twice, sometimes lost, in two orders of the flows.
std::vector<Frame> crowd(std::uint32_t seed) {
  std::mt19937 random(seed);
  Talk talk;
  std::vector<std::vector<TcpFields>> flows;
  for (std::uint16_t i = 0; i < 40; ++i) {
    talk.client_end = endpoint("10.0.0.1:0");
    talk.client_end.port = static_cast<std::uint16_t>(40'000 + i % 25);  // some ports are used again
    std::vector<TcpFields> flow{talk.syn(),
                                talk.syn_ack(),
                                talk.client(0, "hello"),
                                talk.server(0, "world"),
                                talk.client(5, "", flag::fin | flag::ack),
                                talk.server(5, "", flag::fin | flag::ack)};
    for (TcpFields& fields : flow) {
      (fields.source == talk.client_end ? fields.sequence : fields.acknowledgment) += i * 10'000U;
    }
    flows.push_back(std::move(flow));
  }
  std::vector<Frame> frames;
  Nanos now = 0;
  while (!flows.empty()) {
    const std::size_t which = random() % std::min<std::size_t>(flows.size(), 20);
    auto& flow = flows[which];
    const int copies = random() % 10 == 0 ? 2 : random() % 12 == 0 ? 0 : 1;
    for (int copy = 0; copy < copies; ++copy) {
      frames.push_back(frame_of(flow.front(), now += 1000));
    }
    flow.erase(flow.begin());
    if (flow.empty()) {
      flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  return frames;
}

TEST(Connections, NothingDependsOnTheSeed) {
  const std::vector<Frame> frames = crowd(3);
  const auto run = [&](std::uint64_t seed) {
    Connections connections({}, {}, seed);
    std::vector<std::string> lines;
    const auto drain = [&] {
      for (auto event = connections.next(); event && *event; event = connections.next()) {
        lines.push_back(std::to_string((*event)->connection) + ' ' + describe(**event));
      }
    };
    std::uint64_t number = 0;
    for (const Frame& frame : frames) {
      connections.feed(frame.packet(++number));
      drain();
    }
    connections.finish();
    drain();
    return lines;
  };
  const Lines lines = run(1);
  for (std::uint64_t seed = 2; seed < 20; ++seed) {
    ASSERT_EQ(run(seed), lines) << seed;
  }
}

TEST(Connections, TheSilentEndInOrderOfTheirLastPackets) {
  Talk talk;
  const auto syn_of = [&](std::uint16_t port) {
    TcpFields fields = talk.syn();
    fields.source.port = port;
    return fields;
  };
  for (std::uint16_t port = 1; port <= 4; ++port) {
    talk.feed(syn_of(port));
    talk.now_ns += 30 * nanos_per_second;
  }
  talk.feed(syn_of(1));  // sent again: no longer the oldest
  talk.now_ns += 50 * nanos_per_second;
  EXPECT_EQ(talk.feed(syn_of(5)), (Lines{"closed idle", "opened a", "syn a"})) << "the second, silent for 140 s";
  talk.now_ns += 40 * nanos_per_second;
  EXPECT_EQ(talk.feed(syn_of(6)), (Lines{"closed idle", "opened a", "syn a"})) << "the third, silent for 150 s";
  talk.now_ns += 40 * nanos_per_second;
  EXPECT_EQ(talk.feed(syn_of(7)), (Lines{"closed idle", "closed idle", "opened a", "syn a"}));
  EXPECT_EQ(talk.finish(), Lines(3, "closed capture_ended"));
}

// 100,000 connections that are all open, in a capture of an hour: whatever is done now and then to all of them must not
// cost more than the packets do.
TEST(Connections, ManyOpenConnectionsAreSweptOnce) {
  Connections connections;
  std::uint64_t number = 0;
  std::uint64_t idle = 0;
  const auto feed = [&](std::uint32_t which, bool from_client, Nanos time_ns) {
    TcpFields fields;
    fields.source.address[2] = static_cast<std::uint8_t>(which >> 8U);
    fields.source.address[3] = static_cast<std::uint8_t>(which);
    fields.source.port = static_cast<std::uint16_t>(10'000 + (which >> 16U));
    fields.flags = flag::syn;
    if (!from_client) {
      std::swap(fields.source, fields.destination);
      fields.flags |= flag::ack;
    }
    connections.feed(frame_of(fields, time_ns).packet(++number));
    for (auto event = connections.next(); event && *event; event = connections.next()) {
      idle += (*event)->close == CloseReason::idle ? 1U : 0U;
    }
  };
  constexpr std::uint32_t count = 100'000;
  Nanos now = nanos_per_second;
  for (std::uint32_t i = 0; i < count; ++i) {
    feed(i, true, now += nanos_per_microsecond);
    feed(i, false, now += nanos_per_microsecond);
  }
  EXPECT_EQ(connections.open_count(), count);
  for (int packet = 0; packet < 350; ++packet) {  // each makes a sweep
    feed(7, true, now += 10 * nanos_per_second);
  }
  EXPECT_EQ(idle, 0U);
  EXPECT_EQ(connections.open_count(), count);
  for (int packet = 0; packet < 12; ++packet) {
    feed(7, true, now += 10 * nanos_per_second);
  }
  EXPECT_EQ(idle, count - 1);
  EXPECT_EQ(connections.open_count(), 1U);
}

TEST(Connections, SharesPartitionTheConnections) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const std::vector<Frame> frames = crowd(seed);
    const auto run = [&](Share share, PacketCounts& counts) {
      Talk talk(share);
      std::vector<std::string> lines;
      for (const Frame& frame : frames) {
        for (const std::string& line : talk.feed(frame)) {
          lines.push_back(std::to_string(talk.packets) + ' ' + line);
        }
      }
      for (const std::string& line : talk.finish()) {
        lines.push_back("end " + line);
      }
      counts = talk.connections.counts();
      return lines;
    };
    PacketCounts alone;
    std::vector<std::string> all = run({}, alone);
    for (std::uint32_t workers = 2; workers <= 4; ++workers) {
      std::vector<std::string> together;
      std::uint64_t tcp = 0;
      std::uint64_t none = 0;
      for (std::uint32_t worker = 0; worker < workers; ++worker) {
        PacketCounts counts;
        const auto lines = run({worker, workers}, counts);
        together.insert(together.end(), lines.begin(), lines.end());
        tcp += counts.tcp;
        none += counts.no_connection + counts.late;
      }
      std::ranges::sort(together);
      std::vector<std::string> sorted = all;
      std::ranges::sort(sorted);
      EXPECT_EQ(together, sorted);
      EXPECT_EQ(tcp, alone.tcp);
      EXPECT_EQ(none, alone.no_connection + alone.late);
    }
  }
}

}  // namespace
}  // namespace tlstrata::tcp::test
