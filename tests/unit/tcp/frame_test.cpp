#include "tcp/frame.h"

#include <gtest/gtest.h>

#include <optional>

#include "unit/tcp/packet_builder.h"

namespace tlstrata::tcp::test {
namespace {

using capture::LinkType;

TcpFields fields_v4() {
  TcpFields fields;
  fields.sequence = 0x01020304;
  fields.acknowledgment = 0xA1B2C3D4;
  fields.flags = flag::ack | 0x08;
  fields.payload = pattern(100);
  return fields;
}

TcpFields fields_v6() {
  TcpFields fields = fields_v4();
  fields.source = endpoint("[2001:db8::1]:50000");
  fields.destination = endpoint("[2001:db8::2]:443");
  return fields;
}

// Decodes one frame and expects the segment that went in.
void expect_segment(const Frame& frame, const TcpFields& fields) {
  FrameDecoder decoder;
  Segment segment;
  ASSERT_EQ(decoder.decode(frame.packet(), segment), Fate::tcp);
  EXPECT_EQ(segment.source, fields.source);
  EXPECT_EQ(segment.destination, fields.destination);
  EXPECT_EQ(segment.sequence, fields.sequence);
  EXPECT_EQ(segment.acknowledgment, fields.acknowledgment);
  EXPECT_EQ(segment.flags, fields.flags);
  EXPECT_EQ(Bytes(segment.payload.begin(), segment.payload.end()), fields.payload);
  EXPECT_EQ(segment.payload_length, fields.payload.size());
}

Fate fate_of(const Frame& frame) {
  FrameDecoder decoder;
  Segment segment;
  return decoder.decode(frame.packet(), segment);
}

Frame frame_on(LinkType link, Bytes bytes) {
  return {std::move(bytes), link, 0, 0};
}

TEST(FrameLinks, Ethernet) {
  expect_segment(frame_of(fields_v4()), fields_v4());
  expect_segment(frame_of(fields_v6()), fields_v6());
}

TEST(FrameLinks, EthernetPaddingIsNoPayload) {
  TcpFields bare;
  Frame frame = frame_of(bare);
  frame.bytes.resize(60);  // the shortest Ethernet frame
  expect_segment(frame, bare);
}

TEST(FrameLinks, RawIpOfEveryNumber) {
  for (const LinkType link : {LinkType::raw, LinkType::raw_bsd, LinkType::raw_old, LinkType::ipv4, LinkType::ipv6}) {
    expect_segment(frame_on(link, ip_bytes(fields_v4())), fields_v4());
    expect_segment(frame_on(link, ip_bytes(fields_v6())), fields_v6());
  }
}

TEST(FrameLinks, LoopbackFamiliesInEitherByteOrder) {
  for (const std::uint32_t family : {2U, 0x02000000U, 24U, 30U, 0x1C000000U}) {
    for (const LinkType link : {LinkType::null_loopback, LinkType::loop}) {
      const TcpFields fields = family == 2 || family == 0x02000000 ? fields_v4() : fields_v6();
      expect_segment(frame_on(link, Writer().u32(family).raw(ip_bytes(fields)).bytes()), fields);
    }
  }
}

TEST(FrameLinks, LinuxCooked) {
  const Bytes v1 = Writer().u16(0).u16(1).u16(6).fill(8, 9).u16(0x0800).raw(ip_bytes(fields_v4())).bytes();
  expect_segment(frame_on(LinkType::linux_sll, v1), fields_v4());
  const Bytes v2 = Writer().u16(0x86DD).u16(0).u32(3).u16(1).u8(0).u8(6).fill(8, 9).raw(ip_bytes(fields_v6())).bytes();
  expect_segment(frame_on(LinkType::linux_sll2, v2), fields_v6());
}

TEST(FrameLinks, PppWithAndWithoutFramingAndCompression) {
  for (const LinkType link : {LinkType::ppp, LinkType::ppp_hdlc}) {
    expect_segment(frame_on(link, Writer().u16(0x0021).raw(ip_bytes(fields_v4())).bytes()), fields_v4());
    expect_segment(frame_on(link, Writer().u16(0xFF03).u16(0x0057).raw(ip_bytes(fields_v6())).bytes()), fields_v6());
    expect_segment(frame_on(link, Writer().u8(0x21).raw(ip_bytes(fields_v4())).bytes()), fields_v4());
    EXPECT_EQ(fate_of(frame_on(link, Writer().u16(0xC021).fill(40).bytes())), Fate::not_ip);  // LCP
  }
}

TEST(FrameLinks, Pppoe) {
  expect_segment(frame_on(LinkType::pppoe, pppoe_bytes(0x0021, ip_bytes(fields_v4()))), fields_v4());
  expect_segment(frame_on(LinkType::ethernet, ethernet_bytes(0x8864, pppoe_bytes(0x0057, ip_bytes(fields_v6())))),
                 fields_v6());
  EXPECT_EQ(fate_of(frame_on(LinkType::ethernet, ethernet_bytes(0x8863, Bytes(40, 0)))), Fate::not_ip);  // discovery
}

// An attribute of a netfilter log, in the byte order of the host that wrote it.
Bytes nflog_attribute(bool is_big, std::uint8_t type, const Bytes& value) {
  const std::size_t length = 4 + value.size();
  Writer writer;
  if (is_big) {
    writer.u16(length).u16(type);
  } else {
    writer.u8(length & 0xFFU).u8(length >> 8U).u8(type).u8(0);
  }
  return writer.raw(value).fill((4 - value.size() % 4) % 4).bytes();
}

TEST(FrameLinks, NetfilterLogInEitherByteOrder) {
  for (const bool is_big : {false, true}) {
    for (const TcpFields& fields : {fields_v4(), fields_v6()}) {
      Writer log;
      log.u8(fields.source.is_v6 ? 10 : 2).u8(0).u16(5);
      log.raw(nflog_attribute(is_big, 1, Bytes(4, 1)));
      log.raw(nflog_attribute(is_big, 10, text_bytes("a prefix")));
      log.raw(nflog_attribute(is_big, 9, ip_bytes(fields)));
      expect_segment(frame_on(LinkType::nflog, log.bytes()), fields);
      const Frame whole = frame_on(LinkType::nflog, log.bytes());
      EXPECT_EQ(fate_of(whole.cut(30)), Fate::cut_header);
      EXPECT_EQ(fate_of(whole.cut(10)), Fate::cut_header);
      EXPECT_EQ(fate_of(whole.cut(3)), Fate::cut_header);
    }
  }
  const Bytes head = Writer().u8(2).u8(0).u16(5).bytes();
  EXPECT_EQ(fate_of(frame_on(LinkType::nflog, head)), Fate::not_ip) << "nothing was logged of the packet";
  EXPECT_EQ(fate_of(frame_on(LinkType::nflog, Writer().raw(head).u16(0x0300).u16(0x0100).bytes())), Fate::malformed);
  EXPECT_EQ(fate_of(frame_on(LinkType::nflog, Writer().raw(head).u16(0x0400).bytes())), Fate::malformed);
}

// The short way through plain frames and the walk through any frame are two pieces of code that must say one thing.
TEST(FrameLinks, APlainFrameSaysTheSameAsOneBehindTwoTags) {
  for (TcpFields fields : {fields_v4(), fields_v6()}) {
    for (const std::size_t option_bytes : {0U, 12U, 40U}) {
      fields.option_bytes = option_bytes;
      const std::uint16_t type = fields.source.is_v6 ? 0x86DD : 0x0800;
      const Frame plain = frame_of(fields);
      const Frame tagged =
          frame_on(LinkType::ethernet, ethernet_bytes(0x88A8, vlan_bytes(0x8100, vlan_bytes(type, ip_bytes(fields)))));
      for (std::size_t size = 14; size <= plain.bytes.size(); ++size) {
        FrameDecoder decoder;
        Segment from_plain;
        Segment from_tagged;
        const Frame plain_cut = plain.cut(size);
        const Frame tagged_cut = tagged.cut(size + 8);
        const Fate fate = decoder.decode(plain_cut.packet(), from_plain);
        ASSERT_EQ(decoder.decode(tagged_cut.packet(), from_tagged), fate) << size;
        if (fate == Fate::tcp) {
          EXPECT_EQ(from_plain.source, from_tagged.source);
          EXPECT_EQ(from_plain.payload.size(), from_tagged.payload.size()) << size;
          EXPECT_EQ(from_plain.payload_length, from_tagged.payload_length) << size;
        }
      }
    }
  }
}

TEST(FrameLinks, AnUnknownLinkTypeIsCounted) {
  EXPECT_EQ(fate_of(frame_on(static_cast<LinkType>(105), ip_bytes(fields_v4()))), Fate::unsupported_link);
}

TEST(FrameTags, VlanQinqAndVnTag) {
  const Bytes ip = ip_bytes(fields_v4());
  expect_segment(frame_on(LinkType::ethernet, ethernet_bytes(0x8100, vlan_bytes(0x0800, ip))), fields_v4());
  for (const std::uint16_t outer : {std::uint16_t{0x88A8}, std::uint16_t{0x9100}, std::uint16_t{0x8100}}) {
    expect_segment(frame_on(LinkType::ethernet, ethernet_bytes(outer, vlan_bytes(0x8100, vlan_bytes(0x0800, ip)))),
                   fields_v4());
  }
  expect_segment(frame_on(LinkType::ethernet, ethernet_bytes(0x8926, Writer().u32(0).u16(0x0800).raw(ip).bytes())),
                 fields_v4());
}

TEST(FrameTags, Mpls) {
  const Bytes v4 = ip_bytes(fields_v4());
  expect_segment(frame_on(LinkType::ethernet, ethernet_bytes(0x8847, mpls_bytes(100, false, mpls_bytes(16, true, v4)))),
                 fields_v4());
  expect_segment(frame_on(LinkType::ethernet, ethernet_bytes(0x8848, mpls_bytes(100, true, ip_bytes(fields_v6())))),
                 fields_v6());
  // An Ethernet pseudowire with its control word.
  const Bytes inner = Writer().u32(0).raw(ethernet_bytes(0x0800, v4)).bytes();
  expect_segment(frame_on(LinkType::ethernet, ethernet_bytes(0x8847, mpls_bytes(100, true, inner))), fields_v4());
}

TEST(FrameTags, LlcWithSnap) {
  const Bytes snap = Writer().u24(0xAAAA03).u24(0).u16(0x0800).raw(ip_bytes(fields_v4())).bytes();
  expect_segment(frame_on(LinkType::ethernet, ethernet_bytes(static_cast<std::uint16_t>(snap.size()), snap)),
                 fields_v4());
  EXPECT_EQ(fate_of(frame_on(LinkType::ethernet, ethernet_bytes(38, Writer().u24(0x424203).fill(35).bytes()))),
            Fate::not_ip);  // spanning tree
}

TEST(FrameTunnels, Gre) {
  const auto carried = [](const Bytes& gre) {
    Ipv4Fields outer;
    outer.protocol = 47;
    outer.source = endpoint("192.0.2.1:0");
    return frame_on(LinkType::ethernet, ethernet_bytes(0x0800, ipv4_bytes(outer, gre)));
  };
  const Bytes ip = ip_bytes(fields_v4());
  expect_segment(carried(Writer().u16(0).u16(0x0800).raw(ip).bytes()), fields_v4());
  // Checksum, key and sequence number.
  expect_segment(carried(Writer().u16(0xB000).u16(0x0800).fill(12, 1).raw(ip).bytes()), fields_v4());
  expect_segment(carried(Writer().u16(0).u16(0x6558).raw(ethernet_bytes(0x0800, ip)).bytes()), fields_v4());
  EXPECT_EQ(fate_of(carried(Writer().u16(0x3001).u16(0x880B).fill(40).bytes())), Fate::not_tcp);  // PPTP
}

TEST(FrameTunnels, IpInIpOfBothFamilies) {
  Ipv4Fields outer;
  outer.source = endpoint("192.0.2.1:0");
  outer.protocol = 4;
  expect_segment(frame_on(LinkType::raw, ipv4_bytes(outer, ip_bytes(fields_v4()))), fields_v4());
  outer.protocol = 41;
  expect_segment(frame_on(LinkType::raw, ipv4_bytes(outer, ip_bytes(fields_v6()))), fields_v6());
  Ipv6Fields outer6;
  outer6.next_header = 4;
  expect_segment(frame_on(LinkType::raw, ipv6_bytes(outer6, ip_bytes(fields_v4()))), fields_v4());
}

TEST(FrameTunnels, VxlanAndGeneve) {
  const auto carried = [](std::uint16_t port, const Bytes& payload) {
    Ipv4Fields outer;
    outer.protocol = 17;
    outer.source = endpoint("192.0.2.1:0");
    return frame_on(LinkType::ethernet, ethernet_bytes(0x0800, ipv4_bytes(outer, udp_bytes(40'000, port, payload))));
  };
  const Bytes inner = ethernet_bytes(0x0800, ip_bytes(fields_v4()));
  expect_segment(carried(4789, Writer().u8(0x08).u24(0).u32(77U << 8U).raw(inner).bytes()), fields_v4());
  expect_segment(carried(6081, Writer().u8(2).u8(0).u16(0x6558).u32(0).fill(8, 3).raw(inner).bytes()), fields_v4());
  expect_segment(carried(6081, Writer().u8(0).u8(0).u16(0x86DD).u32(0).raw(ip_bytes(fields_v6())).bytes()),
                 fields_v6());
  EXPECT_EQ(fate_of(carried(4789, Writer().u8(0).fill(50).bytes())), Fate::not_tcp) << "no network identifier";
}

TEST(FrameTunnels, NestingIsBounded) {
  Bytes bytes = ip_bytes(fields_v4());
  Ipv4Fields outer;
  outer.protocol = 4;
  for (int depth = 0; depth < 20; ++depth) {
    bytes = ipv4_bytes(outer, bytes);
  }
  EXPECT_EQ(fate_of(frame_on(LinkType::raw, bytes)), Fate::malformed);
}

TEST(FrameIp, Ipv4Options) {
  Ipv4Fields ip;
  ip.option_bytes = 40;
  expect_segment(frame_on(LinkType::raw, ipv4_bytes(ip, tcp_bytes(fields_v4()))), fields_v4());
}

TEST(FrameIp, TcpOptions) {
  TcpFields fields = fields_v4();
  fields.option_bytes = 40;
  expect_segment(frame_of(fields), fields);
}

TEST(FrameIp, Ipv6ExtensionHeaders) {
  const Bytes segment = tcp_bytes(fields_v6());
  Ipv6Fields ip;
  ip.next_header = 0;
  const Bytes chain = ipv6_extension_bytes(60, 0, ipv6_extension_bytes(43, 2, ipv6_extension_bytes(6, 1, segment)));
  expect_segment(frame_on(LinkType::raw, ipv6_bytes(ip, chain)), fields_v6());
  // Authentication Headers count in units of four bytes.
  ip.next_header = 51;
  const Bytes authentication = Writer().u8(6).u8(4).fill(22, 0).raw(segment).bytes();
  expect_segment(frame_on(LinkType::raw, ipv6_bytes(ip, authentication)), fields_v6());
  // An atomic fragment is no fragment (RFC 6946).
  ip.next_header = 44;
  expect_segment(frame_on(LinkType::raw, ipv6_bytes(ip, ipv6_fragment_bytes(6, 0, false, 1, segment))), fields_v6());
}

TEST(FrameIp, SegmentationOffloadLeavesTheLengthZero) {
  TcpFields fields = fields_v4();
  fields.payload = pattern(66'000);
  Ipv4Fields ip;
  ip.total_length = 0;
  expect_segment(frame_on(LinkType::raw, ipv4_bytes(ip, tcp_bytes(fields))), fields);
  TcpFields fields6 = fields_v6();
  fields6.payload = pattern(66'000);
  Ipv6Fields ip6;
  ip6.payload_length = 0;
  expect_segment(frame_on(LinkType::raw, ipv6_bytes(ip6, tcp_bytes(fields6))), fields6);
}

TEST(FrameIp, OtherProtocolsAreNoTcp) {
  Ipv4Fields ip;
  ip.protocol = 1;
  EXPECT_EQ(fate_of(frame_on(LinkType::raw, ipv4_bytes(ip, Bytes(8, 0)))), Fate::not_tcp);
  ip.protocol = 17;
  EXPECT_EQ(fate_of(frame_on(LinkType::raw, ipv4_bytes(ip, udp_bytes(53, 53, Bytes(30, 0))))), Fate::not_tcp);
  EXPECT_EQ(fate_of(frame_on(LinkType::ethernet, ethernet_bytes(0x0806, Bytes(28, 0)))), Fate::not_ip);  // ARP
  EXPECT_EQ(fate_of(frame_on(LinkType::raw, Bytes(40, 0x50))), Fate::not_ip);                            // version 5
}

TEST(FrameIp, QuicAndDtlsAreCountedForWhatTheyAre) {
  const auto datagram = [](const Bytes& payload) {
    Ipv4Fields ip;
    ip.protocol = 17;
    return frame_on(LinkType::raw, ipv4_bytes(ip, udp_bytes(50'000, 443, payload)));
  };
  EXPECT_EQ(fate_of(datagram(Writer().u8(0xC3).u32(1).fill(40, 5).bytes())), Fate::udp_quic);
  EXPECT_EQ(fate_of(datagram(Writer().u8(0xD0).u32(0x6B3343CF).fill(40, 5).bytes())), Fate::udp_quic);
  EXPECT_EQ(fate_of(datagram(Writer().u8(0x43).u32(1).fill(40, 5).bytes())), Fate::not_tcp) << "a short header";
  EXPECT_EQ(fate_of(datagram(Writer().u8(22).u16(0xFEFD).u64(0).u16(20).fill(20).bytes())), Fate::udp_dtls);
  EXPECT_EQ(fate_of(datagram(Writer().u8(22).u16(0x0303).u64(0).u16(20).fill(20).bytes())), Fate::not_tcp);
}

TEST(FrameDamage, HeadersThatContradictTheirLengths) {
  const Bytes good = ip_bytes(fields_v4());
  const auto with = [&](std::size_t at, std::uint8_t value) {
    Bytes bytes = good;
    bytes[at] = value;
    return fate_of(frame_on(LinkType::raw, bytes));
  };
  EXPECT_EQ(with(0, 0x44), Fate::malformed) << "an IPv4 header of 16 bytes";
  EXPECT_EQ(with(3, 10), Fate::malformed) << "a datagram shorter than its header";
  EXPECT_EQ(with(32, 0x40), Fate::malformed) << "a TCP header of 16 bytes";
  EXPECT_EQ(with(3, 30), Fate::malformed) << "a datagram that ends inside its TCP header";
  EXPECT_EQ(fate_of(frame_on(LinkType::raw, Bytes{})), Fate::malformed);
  EXPECT_EQ(fate_of(frame_on(LinkType::ethernet, Bytes(5, 0))), Fate::malformed);
}

TEST(FrameCut, SnapLengthThatEndsInThePayload) {
  const Frame frame = frame_of(fields_v4()).cut(14 + 20 + 20 + 30);
  FrameDecoder decoder;
  Segment segment;
  ASSERT_EQ(decoder.decode(frame.packet(), segment), Fate::tcp);
  EXPECT_EQ(segment.payload.size(), 30U);
  EXPECT_EQ(segment.payload_length, 100U);
}

TEST(FrameCut, SnapLengthThatEndsInTheTcpOptionsStillTellsTheLength) {
  TcpFields fields = fields_v4();
  fields.option_bytes = 32;
  const Frame frame = frame_of(fields).cut(14 + 20 + 24);
  FrameDecoder decoder;
  Segment segment;
  ASSERT_EQ(decoder.decode(frame.packet(), segment), Fate::tcp);
  EXPECT_TRUE(segment.payload.empty());
  EXPECT_EQ(segment.payload_length, 100U);
  EXPECT_EQ(segment.sequence, fields.sequence);
}

// Wherever the snap length ends, every link's and tunnel's packet has a fate, and headers that are cut say so.
TEST(FrameCut, EverySnapLengthOfEveryEncapsulation) {
  const Bytes v4 = ip_bytes(fields_v4());
  const Bytes v6 = ip_bytes(fields_v6());
  Ipv4Fields gre;
  gre.protocol = 47;
  Ipv4Fields udp;
  udp.protocol = 17;
  Ipv6Fields chain;
  chain.next_header = 0;
  const Bytes vxlan = Writer().u8(0x08).fill(7).raw(ethernet_bytes(0x0800, v4)).bytes();
  const Bytes geneve = Writer().u8(1).u8(0).u16(0x6558).fill(8).raw(ethernet_bytes(0x0800, v4)).bytes();
  const std::vector<Frame> frames{
      frame_of(fields_v4()),
      frame_of(fields_v6()),
      frame_on(LinkType::raw, v4),
      frame_on(LinkType::null_loopback, Writer().u32(2).raw(v4).bytes()),
      frame_on(LinkType::linux_sll, Writer().fill(14).u16(0x0800).raw(v4).bytes()),
      frame_on(LinkType::linux_sll2, Writer().u16(0x0800).fill(18).raw(v4).bytes()),
      frame_on(LinkType::ppp, Writer().u16(0xFF03).u16(0x0021).raw(v4).bytes()),
      frame_on(LinkType::pppoe, pppoe_bytes(0x0021, v4)),
      frame_on(LinkType::ethernet, ethernet_bytes(0x88A8, vlan_bytes(0x8100, vlan_bytes(0x0800, v4)))),
      frame_on(LinkType::ethernet, ethernet_bytes(0x8926, Writer().u32(0).u16(0x0800).raw(v4).bytes())),
      frame_on(LinkType::ethernet, ethernet_bytes(0x8847, mpls_bytes(1, false, mpls_bytes(2, true, v6)))),
      frame_on(LinkType::ethernet, ethernet_bytes(200, Writer().u24(0xAAAA03).u24(0).u16(0x0800).raw(v4).bytes())),
      frame_on(LinkType::raw, ipv4_bytes(gre, Writer().u16(0xB000).u16(0x0800).fill(12).raw(v4).bytes())),
      frame_on(LinkType::raw, ipv4_bytes(udp, udp_bytes(1, 4789, vxlan))),
      frame_on(LinkType::raw, ipv4_bytes(udp, udp_bytes(1, 6081, geneve))),
      frame_on(LinkType::raw, ipv4_bytes(udp, udp_bytes(1, 443, Writer().u8(0xC3).u32(1).fill(40).bytes()))),
      frame_on(LinkType::raw,
               ipv6_bytes(chain, ipv6_extension_bytes(60, 1, ipv6_extension_bytes(6, 0, tcp_bytes(fields_v6())))))};
  constexpr std::size_t link_frames = 11;  // behind them: SNAP and UDP, where a cut header looks like another protocol
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Frame& whole = frames[i];
    const Fate fate_of_whole = fate_of(whole);
    for (std::size_t length = 0; length <= whole.bytes.size(); ++length) {
      const Fate fate = fate_of(whole.cut(length));
      const bool vague = i >= link_frames && (fate == Fate::not_ip || fate == Fate::not_tcp);
      EXPECT_TRUE(fate == fate_of_whole || fate == Fate::cut_header || vague)
          << "frame " << i << " cut to " << length << ": fate " << static_cast<int>(fate);
      // The same bytes as a whole packet: it ends in the middle of what it declares.
      (void)fate_of(Frame{whole.cut(length).bytes, whole.link, 0, 0});
    }
  }
}

}  // namespace
}  // namespace tlstrata::tcp::test
