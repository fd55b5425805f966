#include "tcp/fragments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "unit/tcp/packet_builder.h"

namespace tlstrata::tcp::test {
namespace {

using capture::LinkType;

TcpFields fields() {
  TcpFields fields;
  fields.payload = pattern(3000);
  return fields;
}

// The segment as IPv4 fragments of at most `size` payload bytes.
std::vector<Frame> ipv4_fragments(const Bytes& datagram, std::size_t size, std::uint16_t identification = 7) {
  std::vector<Frame> frames;
  for (std::size_t at = 0; at < datagram.size(); at += size) {
    const std::size_t end = std::min(datagram.size(), at + size);
    Ipv4Fields ip;
    ip.identification = identification;
    ip.fragment_offset = static_cast<std::uint32_t>(at);
    ip.more_fragments = end < datagram.size();
    const auto begin = datagram.begin() + static_cast<std::ptrdiff_t>(at);
    frames.push_back(
        {ipv4_bytes(ip, Bytes(begin, datagram.begin() + static_cast<std::ptrdiff_t>(end))), LinkType::raw, 0, 0});
  }
  return frames;
}

struct Decoded {
  std::vector<Fate> fates;
  Bytes payload;  // of the last segment
};

Decoded decode(const std::vector<Frame>& frames) {
  FrameDecoder decoder;
  Decoded decoded;
  for (const Frame& frame : frames) {
    Segment segment;
    decoded.fates.push_back(decoder.decode(frame.packet(), segment));
    if (decoded.fates.back() == Fate::tcp) {
      decoded.payload.assign(segment.payload.begin(), segment.payload.end());
    }
  }
  return decoded;
}

TEST(Fragments, Ipv4InOrder) {
  const auto frames = ipv4_fragments(tcp_bytes(fields()), 1480);
  ASSERT_EQ(frames.size(), 3U);
  const Decoded decoded = decode(frames);
  EXPECT_EQ(decoded.fates, (std::vector{Fate::fragment_kept, Fate::fragment_kept, Fate::tcp}));
  EXPECT_EQ(decoded.payload, fields().payload);
}

TEST(Fragments, Ipv4InAnyOrder) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    auto frames = ipv4_fragments(tcp_bytes(fields()), 8 * (1 + random() % 100));
    std::ranges::shuffle(frames, random);
    const Decoded decoded = decode(frames);
    EXPECT_EQ(decoded.payload, fields().payload);
    EXPECT_EQ(std::ranges::count(decoded.fates, Fate::tcp), 1);
    EXPECT_EQ(decoded.fates.back(), Fate::tcp) << "whole with the last fragment, whichever that is";
  }
}

TEST(Fragments, CopiesOfAFragmentAreWelcome) {
  auto frames = ipv4_fragments(tcp_bytes(fields()), 1480);
  frames.insert(frames.begin() + 1, frames[0]);
  frames.insert(frames.begin() + 3, frames[2]);
  const Decoded decoded = decode(frames);
  EXPECT_EQ(decoded.fates.back(), Fate::tcp);
  EXPECT_EQ(decoded.payload, fields().payload);
}

TEST(Fragments, OverlapWithOtherBytesDropsTheDatagram) {
  const Bytes datagram = tcp_bytes(fields());
  auto frames = ipv4_fragments(datagram, 1480);
  Ipv4Fields overlap;
  overlap.identification = 7;
  overlap.fragment_offset = 1472;
  overlap.more_fragments = true;
  frames.insert(frames.begin() + 1, Frame{ipv4_bytes(overlap, Bytes(16, 0xEE)), LinkType::raw, 0, 0});
  const Decoded decoded = decode(frames);
  EXPECT_EQ(decoded.fates[1], Fate::fragment_dropped);
  EXPECT_EQ(std::ranges::count(decoded.fates, Fate::tcp), 0) << "RFC 5722: nothing of it is used";
}

TEST(Fragments, TwoEndsContradict) {
  auto frames = ipv4_fragments(tcp_bytes(fields()), 1480);
  Ipv4Fields other_end;
  other_end.identification = 7;
  other_end.fragment_offset = 4000;
  const Frame contradiction{ipv4_bytes(other_end, Bytes(16, 0)), LinkType::raw, 0, 0};
  const Decoded decoded = decode({frames[2], contradiction});
  EXPECT_EQ(decoded.fates, (std::vector{Fate::fragment_kept, Fate::fragment_dropped}));
}

TEST(Fragments, DatagramsAreToldApartByIdentificationAndAddresses) {
  TcpFields other = fields();
  other.payload = pattern(3000, 99);
  const auto one = ipv4_fragments(tcp_bytes(fields()), 1600, 1);
  const auto two = ipv4_fragments(tcp_bytes(other), 1600, 2);
  Decoded decoded = decode({one[0], two[0], one[1]});
  EXPECT_EQ(decoded.payload, fields().payload);
  decoded = decode({one[0], two[0], two[1]});
  EXPECT_EQ(decoded.payload, other.payload);
}

TEST(Fragments, Ipv6) {
  TcpFields v6 = fields();
  v6.source = endpoint("[2001:db8::1]:50000");
  v6.destination = endpoint("[2001:db8::2]:443");
  const Bytes segment = tcp_bytes(v6);
  Ipv6Fields ip;
  ip.next_header = 44;
  const auto half = segment.begin() + 1600;
  const Frame first{ipv6_bytes(ip, ipv6_fragment_bytes(6, 0, true, 77, Bytes(segment.begin(), half))), LinkType::raw, 0,
                    0};
  const Frame second{ipv6_bytes(ip, ipv6_fragment_bytes(6, 1600, false, 77, Bytes(half, segment.end()))), LinkType::raw,
                     0, 0};
  EXPECT_EQ(decode({first, second}).payload, v6.payload);
  EXPECT_EQ(decode({second, first}).payload, v6.payload);
}

TEST(Fragments, CutBySnapLengthAreDropped) {
  const auto frames = ipv4_fragments(tcp_bytes(fields()), 1480);
  EXPECT_EQ(decode({frames[0].cut(500)}).fates.front(), Fate::fragment_dropped);
}

TEST(Fragments, EmptyOrBeyondAnyDatagramAreDropped) {
  Ipv4Fields ip;
  ip.more_fragments = true;
  ip.fragment_offset = 65'528;
  EXPECT_EQ(decode({Frame{ipv4_bytes(ip, Bytes(16, 0)), LinkType::raw, 0, 0}}).fates.front(), Fate::fragment_dropped);
  ip.fragment_offset = 8;
  EXPECT_EQ(decode({Frame{ipv4_bytes(ip, {}), LinkType::raw, 0, 0}}).fates.front(), Fate::fragment_dropped);
}

TEST(Fragments, AtMostSixtyFourDatagramsWait) {
  const Bytes segment = tcp_bytes(fields());
  FrameDecoder decoder;
  Segment decoded;
  std::vector<std::vector<Frame>> datagrams;
  for (std::uint16_t id = 0; id < 65; ++id) {
    datagrams.push_back(ipv4_fragments(segment, 1600, id));
    EXPECT_EQ(decoder.decode(datagrams.back()[0].packet(), decoded), Fate::fragment_kept);
  }
  EXPECT_EQ(decoder.decode(datagrams[0][1].packet(), decoded), Fate::fragment_kept) << "the oldest was given up";
  EXPECT_EQ(decoder.decode(datagrams[64][1].packet(), decoded), Fate::tcp);
}

// Whatever order, size and repetition fragments come in, the datagram that comes out is the one that went in.
TEST(Fragments, PropertyAgainstTheWholeDatagram) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    const Bytes whole = pattern(8 * (2 + random() % 200) + random() % 8, static_cast<std::uint8_t>(random()));
    std::vector<Fragment> pieces;
    for (std::size_t at = 0; at < whole.size();) {
      const std::size_t size = std::min<std::size_t>(8 * (1 + random() % 40), whole.size() - at);
      pieces.push_back({FragmentKey{}, static_cast<std::uint32_t>(at), at + size < whole.size(),
                        std::span(whole).subspan(at, size)});
      at += size;
    }
    std::ranges::shuffle(pieces, random);
    Fragments fragments;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto verdict = fragments.add(pieces[i]);
      ASSERT_EQ(verdict == Fragments::Verdict::complete, i + 1 == pieces.size()) << "round " << round;
    }
    const auto datagram = fragments.datagram();
    EXPECT_EQ(Bytes(datagram.begin(), datagram.end()), whole);
  }
}

}  // namespace
}  // namespace tlstrata::tcp::test
