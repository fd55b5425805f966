// Workers that are fed only what is dealt to them say together what one worker says that sees every packet: with stamps that run
// backwards, silences, fragments, UDP, and connections that are reset and come again.
#include "tcp/deal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "tcp/connections.h"
#include "unit/tcp/talk.h"

namespace tlstrata::tcp::test {
namespace {

class Crowd {
 public:
  explicit Crowd(std::uint32_t seed) : random_(seed) {}

  std::vector<Frame> frames(std::size_t count) {
    std::vector<Frame> frames;
    while (frames.size() < count) {
      now_ns_ += step();
      const TcpFields fields = segment();
      switch (pick(40)) {
        case 0:
          frames.push_back(udp());
          break;
        case 1:
          for (Frame& fragment : fragments(fields)) {
            frames.push_back(std::move(fragment));
          }
          break;
        default:
          frames.push_back(frame_of(fields, now_ns_));
      }
    }
    return frames;
  }

 private:
  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }

  // Now and then a silence, after which connections are idle or forgotten, or a stamp of the past.
  Nanos step() {
    switch (pick(60)) {
      case 0:
        return 11 * nanos_per_second;
      case 1:
        return -8 * nanos_per_second;
      case 2:
        return (pick(30) == 0 ? 3700 : 65) * nanos_per_second;
      default:
        return static_cast<Nanos>(pick(300)) * nanos_per_millisecond;
    }
  }

  TcpFields segment() {
    TcpFields fields;
    fields.source = endpoint(pick(4) == 0 ? "[2001:db8::1]:50000" : "10.0.0.1:50000");
    fields.destination = endpoint(fields.source.is_v6 ? "[2001:db8::2]:443" : "10.0.0.2:443");
    fields.source.port = static_cast<std::uint16_t>(50'000 + pick(40));
    fields.sequence = 1'000 + pick(4);
    fields.acknowledgment = 5'001;
    static constexpr std::array flags{flag::ack, flag::ack, flag::ack, flag::syn, flag::rst, flag::fin};
    fields.flags = flags.at(pick(flags.size())) | (pick(8) != 0 ? flag::ack : std::uint8_t{0});
    fields.payload = pattern(pick(4));
    if (pick(2) == 0) {
      std::swap(fields.source, fields.destination);
      std::swap(fields.sequence, fields.acknowledgment);
    }
    return fields;
  }

  Frame udp() const {
    Ipv4Fields ip;
    ip.protocol = 17;
    return {ethernet_bytes(0x0800, ipv4_bytes(ip, udp_bytes(1, 2, pattern(9)))), capture::LinkType::ethernet, now_ns_};
  }

  std::vector<Frame> fragments(const TcpFields& fields) {
    Ipv4Fields ip;
    ip.source = fields.source.is_v6 ? endpoint("10.0.0.1:0") : fields.source;
    ip.destination = fields.source.is_v6 ? endpoint("10.0.0.2:0") : fields.destination;
    ip.identification = ++identification_;
    const Bytes segment = tcp_bytes(fields);
    const auto middle = segment.begin() + 16;
    ip.more_fragments = true;
    Frame first{ethernet_bytes(0x0800, ipv4_bytes(ip, Bytes(segment.begin(), middle))), capture::LinkType::ethernet,
                now_ns_};
    ip.more_fragments = false;
    ip.fragment_offset = 16;
    Frame rest{ethernet_bytes(0x0800, ipv4_bytes(ip, Bytes(middle, segment.end()))), capture::LinkType::ethernet,
               now_ns_};
    return {std::move(first), std::move(rest)};
  }

  std::mt19937 random_;
  Nanos now_ns_ = 1'700'000'000 * nanos_per_second;
  std::uint16_t identification_ = 0;
};

struct Told {
  std::vector<std::string> lines;  // sorted
  PacketCounts counts;
};

void add_events(Connections& connections, std::uint64_t number, std::vector<std::string>& lines) {
  for (auto event = connections.next(); event && *event; event = connections.next()) {
    const Endpoints& ends = connections.endpoints((*event)->connection);
    lines.push_back(std::to_string(number) + ' ' + to_string(ends.side[0]) + ' ' + std::to_string(ends.generation) +
                    ' ' + describe(**event));
  }
}

Told tell_all(const std::vector<Frame>& frames) {
  Told told;
  Connections connections;
  std::uint64_t number = 0;
  for (const Frame& frame : frames) {
    connections.feed(frame.packet(++number));
    add_events(connections, number, told.lines);
  }
  connections.finish();
  add_events(connections, number + 1, told.lines);
  std::ranges::sort(told.lines);
  told.counts = connections.counts();
  return told;
}

// `skipped`: packets that were dealt to one worker only, added up over the workers that did not see them.
Told tell_dealt(const std::vector<Frame>& frames, std::uint32_t workers, std::uint64_t& skipped) {
  Told told;
  for (std::uint32_t worker = 0; worker < workers; ++worker) {
    Connections connections({worker, workers});
    Deal deal(workers);
    std::uint64_t number = 0;
    std::uint64_t fed = 0;
    for (const Frame& frame : frames) {
      const capture::Packet packet = frame.packet(++number);
      const std::uint32_t whose = deal.worker_of(packet);
      if (whose != worker && whose != Deal::everyone) {
        ++skipped;
        continue;
      }
      ++fed;
      connections.feed(packet, deal.latest_ns());
      add_events(connections, number, told.lines);
    }
    connections.pass_others({frames.back().time_ns, number}, deal.latest_ns());
    connections.finish();
    add_events(connections, number + 1, told.lines);
    EXPECT_EQ(connections.counts().sum(), fed);
    const std::uint64_t before = told.counts.tcp;
    const std::uint64_t strays = told.counts.late + told.counts.no_connection;
    told.counts = connections.counts();
    told.counts.tcp += before;
    told.counts.late += strays;
  }
  std::ranges::sort(told.lines);
  return told;
}

TEST(Deal, WorkersSayTogetherWhatOneSays) {
  std::size_t idle = 0;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<Frame> frames = Crowd(seed).frames(3'000);
    const Told alone = tell_all(frames);
    idle += static_cast<std::size_t>(
        std::ranges::count_if(alone.lines, [](const std::string& line) { return line.ends_with("closed idle"); }));
    for (std::uint32_t workers = 1; workers <= 4; ++workers) {
      std::uint64_t skipped = 0;
      const Told together = tell_dealt(frames, workers, skipped);
      ASSERT_EQ(together.lines, alone.lines) << workers << " workers, seed " << seed;
      EXPECT_EQ(together.counts.tcp, alone.counts.tcp);
      EXPECT_EQ(together.counts.late + together.counts.no_connection, alone.counts.late + alone.counts.no_connection);
      EXPECT_EQ(together.counts.not_tcp, alone.counts.not_tcp);
      EXPECT_EQ(together.counts.fragments, alone.counts.fragments);
      EXPECT_GE(skipped, std::uint64_t{workers - 1} * frames.size() * 8 / 10) << "most packets are one worker's alone";
    }
  }
  EXPECT_GT(idle, 0U) << "silences that end connections are part of this";
}

TEST(Deal, BothDirectionsGoToOneWorker) {
  Deal deal(7);
  TcpFields fields;
  std::vector<bool> used(7);
  fields.source = endpoint("10.0.0.1:50000");
  fields.destination = endpoint("10.0.0.2:443");
  (void)deal.worker_of(frame_of(fields, 1).packet());  // the first is everyone's
  for (std::uint16_t port = 1; port <= 200; ++port) {
    fields.source = endpoint("10.0.0.1:50000");
    fields.destination = endpoint("10.0.0.2:443");
    fields.source.port = port;
    const std::uint32_t there = deal.worker_of(frame_of(fields, 1).packet());
    std::swap(fields.source, fields.destination);
    EXPECT_EQ(deal.worker_of(frame_of(fields, 1).packet()), there);
    ASSERT_LT(there, 7U);
    used[there] = true;
  }
  EXPECT_EQ(std::ranges::count(used, true), 7);
}

TEST(CaptureClock, StampsThatRunBackwardsDoNotTurnItBack) {
  CaptureClock clock;
  EXPECT_TRUE(clock.tick(100));
  EXPECT_FALSE(clock.tick(50));
  EXPECT_EQ(clock.now_ns(), 100);
  EXPECT_FALSE(clock.tick(100 + 10 * nanos_per_second - 1));
  EXPECT_TRUE(clock.tick(100 + 10 * nanos_per_second));
}

}  // namespace
}  // namespace tlstrata::tcp::test
