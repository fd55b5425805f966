// Many connections: those that end in silence, what is remembered of those that are over, shares, and what must not depend
// on how many there are.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "tcp/connections.h"
#include "unit/tcp/talk.h"

namespace tlstrata::tcp::test {
namespace {

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
