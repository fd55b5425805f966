#include "tcp/frame.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/byte_reader.h"
#include "tcp/walk.h"

namespace tlstrata::tcp {
namespace {

using capture::LinkType;
using Bytes = std::span<const std::uint8_t>;

// Nearly every packet is TCP in plain IP on Ethernet or the like. Here it is read in one go, at fixed places; where
// anything is out of the ordinary (options, extensions, fragments, tunnels, cut or contradicting headers) these functions
// say false, and the Walk reads the packet from its start. Both must say the same: fuzz/frame_fuzz.cpp.

constexpr std::size_t ipv4_header_bytes = 20;
constexpr std::size_t ipv6_header_bytes = 40;
constexpr std::size_t tcp_header_bytes = 20;
constexpr std::uint8_t ip_protocol_tcp = 6;

std::uint16_t u16_at(Bytes bytes, std::size_t offset) {
  ByteReader reader(bytes.subspan(offset, 2));
  const std::uint16_t value = reader.u16();
  (void)reader.finish("two bytes");
  return value;
}

// The EtherType, and what stands behind the link header. Empty: not a plain frame.
struct Inside {
  std::uint16_t type = 0;
  Bytes ip;
};

Inside inside(const capture::Packet& packet) {
  const Bytes data = packet.data;
  constexpr std::size_t smallest = 20 + ipv4_header_bytes;  // the longest link header here
  if (data.size() < smallest) {
    return {};
  }
  switch (packet.link) {
    case LinkType::ethernet: {
      const std::uint16_t type = u16_at(data, 12);
      return type == ether::vlan ? Inside{u16_at(data, 16), data.subspan(18)} : Inside{type, data.subspan(14)};
    }
    case LinkType::raw:
      return {(data[0] >> 4U) == 4 ? ether::ipv4 : ether::ipv6, data};
    case LinkType::linux_sll:
      return {u16_at(data, 14), data.subspan(16)};
    case LinkType::linux_sll2:
      return {u16_at(data, 0), data.subspan(20)};
    default:
      return {};
  }
}

bool read_plain_tcp(Bytes bytes, std::size_t wire, Segment& segment) {
  if (bytes.size() < tcp_header_bytes) {
    return false;
  }
  ByteReader reader(bytes.first(tcp_header_bytes));
  segment.source.port = reader.u16();
  segment.destination.port = reader.u16();
  segment.sequence = reader.u32();
  segment.acknowledgment = reader.u32();
  const std::size_t header_bytes = static_cast<std::size_t>(reader.u8() >> 4U) * 4;
  segment.flags = reader.u8();
  (void)reader.finish_partial("TCP");
  if (header_bytes < tcp_header_bytes || header_bytes > bytes.size()) {
    return false;
  }
  segment.payload = bytes.subspan(header_bytes);
  if (segment.has(flag::syn)) {
    segment.options = bytes.subspan(tcp_header_bytes, header_bytes - tcp_header_bytes);
  }
  segment.payload_length = static_cast<std::uint32_t>(wire - header_bytes);
  return true;
}

// Written as two whole words, so that who reads it by words does not wait for bytes to be put together.
std::array<std::uint8_t, 16> ipv4_address(Bytes four) {
  std::array<std::uint64_t, 2> words{};
  std::memcpy(words.data(), four.data(), 4);
  return std::bit_cast<std::array<std::uint8_t, 16>>(words);
}

bool read_plain_ipv4(Bytes ip, Segment& segment) {
  if (ip.size() < ipv4_header_bytes) {
    return false;
  }
  ByteReader reader(ip.first(ipv4_header_bytes));
  const std::uint8_t version_and_length = reader.u8();
  reader.skip(1);
  const std::size_t total = reader.u16();
  reader.skip(2);
  const std::uint16_t fragment_field = reader.u16();
  reader.skip(1);
  const std::uint8_t protocol = reader.u8();
  reader.skip(2);
  const Bytes source = reader.take(4);
  const Bytes destination = reader.take(4);
  (void)reader.finish("IPv4");
  if (version_and_length != 0x45 || (fragment_field & 0x3FFFU) != 0 || protocol != ip_protocol_tcp ||
      total < ipv4_header_bytes + tcp_header_bytes) {
    return false;
  }
  segment.source.address = ipv4_address(source);
  segment.source.is_v6 = false;
  segment.destination.address = ipv4_address(destination);
  segment.destination.is_v6 = false;
  const Bytes datagram = ip.first(std::min(ip.size(), total));
  return read_plain_tcp(datagram.subspan(ipv4_header_bytes), total - ipv4_header_bytes, segment);
}

bool read_plain_ipv6(Bytes ip, Segment& segment) {
  if (ip.size() < ipv6_header_bytes) {
    return false;
  }
  ByteReader reader(ip.first(ipv6_header_bytes));
  const std::uint8_t version = reader.u8() >> 4U;
  reader.skip(3);
  const std::size_t payload_bytes = reader.u16();
  const std::uint8_t next_header = reader.u8();
  reader.skip(1);
  const Bytes source = reader.take(16);
  const Bytes destination = reader.take(16);
  (void)reader.finish("IPv6");
  if (version != 6 || next_header != ip_protocol_tcp || payload_bytes < tcp_header_bytes) {
    return false;
  }
  std::memcpy(segment.source.address.data(), source.data(), 16);
  segment.source.is_v6 = true;
  std::memcpy(segment.destination.address.data(), destination.data(), 16);
  segment.destination.is_v6 = true;
  const Bytes behind = ip.subspan(ipv6_header_bytes);
  return read_plain_tcp(behind.first(std::min(behind.size(), payload_bytes)), payload_bytes, segment);
}

}  // namespace

bool decode_plain(const capture::Packet& packet, Segment& segment) {
  const auto [type, ip] = inside(packet);
  return type == ether::ipv4   ? read_plain_ipv4(ip, segment)
         : type == ether::ipv6 ? read_plain_ipv6(ip, segment)
                               : false;
}

Fate FrameDecoder::decode(const capture::Packet& packet, Segment& segment) {
  return decode_plain(packet, segment) ? Fate::tcp : Walk(packet, fragments_, segment).run(packet.link);
}

}  // namespace tlstrata::tcp
