// Builds packets byte by byte, innermost header first, so that tests owe nothing to the decoder that they test.
//
// In:     fields of one header and the bytes that it carries.
// Out:    the header followed by those bytes; Frame adds what a capture knows of a packet.
// Source: the RFCs that src/tcp/frame.h names. Checksums stay zero, as offloading NICs leave them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "capture/types.h"
#include "tcp/address.h"
#include "tcp/frame.h"

namespace tlstrata::tcp::test {

using Bytes = std::vector<std::uint8_t>;

// Integers in network order, one after the other.
class Writer {
 public:
  Writer& u8(std::uint64_t value) { return integer(value, 1); }
  Writer& u16(std::uint64_t value) { return integer(value, 2); }
  Writer& u24(std::uint64_t value) { return integer(value, 3); }
  Writer& u32(std::uint64_t value) { return integer(value, 4); }
  Writer& u64(std::uint64_t value) { return integer(value, 8); }
  Writer& raw(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Writer& text(std::string_view characters) {
    bytes_.insert(bytes_.end(), characters.begin(), characters.end());
    return *this;
  }
  Writer& fill(std::size_t count, std::uint8_t value = 0) {
    bytes_.insert(bytes_.end(), count, value);
    return *this;
  }
  // A vector with a length prefix of 1, 2 or 3 bytes (RFC 8446 section 3.4).
  Writer& vector8(std::span<const std::uint8_t> body) { return u8(body.size()).raw(body); }
  Writer& vector16(std::span<const std::uint8_t> body) { return u16(body.size()).raw(body); }
  Writer& vector24(std::span<const std::uint8_t> body) { return u24(body.size()).raw(body); }

  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Writer& integer(std::uint64_t value, std::size_t count) {
    for (std::size_t i = count; i > 0; --i) {
      bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
    }
    return *this;
  }

  Bytes bytes_;
};

inline Bytes text_bytes(std::string_view text) {
  return {text.begin(), text.end()};
}

// `count` bytes of which neighbours differ, from a start that the caller chooses.
inline Bytes pattern(std::size_t count, std::uint8_t start = 0) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::uint8_t>(start + i * 7);
  }
  return bytes;
}

inline Endpoint endpoint(std::string_view text) {
  return parse_endpoint(text).value();
}

// --- TCP, UDP

struct TcpFields {
  Endpoint source = endpoint("10.0.0.1:50000");
  Endpoint destination = endpoint("10.0.0.2:443");
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;
  std::uint8_t flags = flag::ack;
  Bytes payload;
  std::size_t option_bytes = 0;  // a multiple of 4
  Bytes options;                 // in place of so many that do nothing; a multiple of 4 long
};

// What a SYN of these days says beside SACK and window scale: maximum segment size and timestamps.
inline Bytes syn_options(std::uint16_t mss, bool timestamps = true) {
  Writer writer;
  writer.u8(2).u8(4).u16(mss);
  return timestamps ? writer.u8(1).u8(1).u8(8).u8(10).u64(1).bytes() : writer.bytes();
}

inline Bytes tcp_bytes(const TcpFields& fields) {
  Writer writer;
  writer.u16(fields.source.port).u16(fields.destination.port).u32(fields.sequence).u32(fields.acknowledgment);
  const std::size_t option_bytes = fields.options.empty() ? fields.option_bytes : fields.options.size();
  writer.u8((5 + option_bytes / 4) << 4U).u8(fields.flags).u16(0xFFFF).u16(0).u16(0);
  if (fields.options.empty()) {
    writer.fill(option_bytes, 1);
  }
  return writer.raw(fields.options).raw(fields.payload).bytes();
}

inline Bytes udp_bytes(std::uint16_t source, std::uint16_t destination, const Bytes& payload) {
  return Writer().u16(source).u16(destination).u16(8 + payload.size()).u16(0).raw(payload).bytes();
}

// --- IP

struct Ipv4Fields {
  std::uint8_t protocol = 6;
  Endpoint source = endpoint("10.0.0.1:0");
  Endpoint destination = endpoint("10.0.0.2:0");
  std::uint16_t identification = 0;
  std::uint32_t fragment_offset = 0;  // bytes, a multiple of 8
  bool more_fragments = false;
  std::size_t option_bytes = 0;  // a multiple of 4
  int total_length = -1;         // -1: as it is; 0 as segmentation offload leaves it
};

inline Bytes ipv4_bytes(const Ipv4Fields& fields, const Bytes& payload) {
  const std::size_t header = 20 + fields.option_bytes;
  Writer writer;
  writer.u8(0x40 + header / 4).u8(0);
  writer.u16(fields.total_length < 0 ? header + payload.size() : static_cast<std::size_t>(fields.total_length));
  writer.u16(fields.identification).u16((fields.more_fragments ? 0x2000U : 0U) | fields.fragment_offset / 8);
  writer.u8(64).u8(fields.protocol).u16(0);
  writer.raw(std::span(fields.source.address).first(4)).raw(std::span(fields.destination.address).first(4));
  return writer.fill(fields.option_bytes, 1).raw(payload).bytes();
}

struct Ipv6Fields {
  std::uint8_t next_header = 6;
  Endpoint source = endpoint("[2001:db8::1]:0");
  Endpoint destination = endpoint("[2001:db8::2]:0");
  int payload_length = -1;  // -1: as it is; 0 as segmentation offload leaves it
};

inline Bytes ipv6_bytes(const Ipv6Fields& fields, const Bytes& payload) {
  Writer writer;
  writer.u32(0x60000000);
  writer.u16(fields.payload_length < 0 ? payload.size() : static_cast<std::size_t>(fields.payload_length));
  writer.u8(fields.next_header).u8(64).raw(fields.source.address).raw(fields.destination.address);
  return writer.raw(payload).bytes();
}

// An extension header of the common shape (RFC 8200 section 4.2), `units` of 8 bytes beyond the first 8.
inline Bytes ipv6_extension_bytes(std::uint8_t next_header, std::uint8_t units, const Bytes& payload) {
  return Writer().u8(next_header).u8(units).fill(6 + 8 * std::size_t{units}, 0).raw(payload).bytes();
}

inline Bytes ipv6_fragment_bytes(std::uint8_t next_header, std::uint32_t offset, bool more,
                                 std::uint32_t identification, const Bytes& payload) {
  return Writer().u8(next_header).u8(0).u16(offset | (more ? 1U : 0U)).u32(identification).raw(payload).bytes();
}

// The segment in the IP header of its endpoints' family.
inline Bytes ip_bytes(const TcpFields& fields) {
  if (fields.source.is_v6) {
    return ipv6_bytes({6, fields.source, fields.destination, -1}, tcp_bytes(fields));
  }
  Ipv4Fields ip;
  ip.source = fields.source;
  ip.destination = fields.destination;
  return ipv4_bytes(ip, tcp_bytes(fields));
}

// --- links

inline Bytes ethernet_bytes(std::uint16_t type, const Bytes& payload) {
  return Writer().fill(6, 0x02).fill(6, 0x04).u16(type).raw(payload).bytes();
}

inline Bytes vlan_bytes(std::uint16_t type, const Bytes& payload) {
  return Writer().u16(42).u16(type).raw(payload).bytes();
}

inline Bytes mpls_bytes(std::uint32_t label, bool bottom, const Bytes& payload) {
  return Writer().u32(label << 12U | (bottom ? 0x100U : 0U) | 64U).raw(payload).bytes();
}

inline Bytes pppoe_bytes(std::uint16_t protocol, const Bytes& payload) {
  return Writer().u8(0x11).u8(0).u16(7).u16(2 + payload.size()).u16(protocol).raw(payload).bytes();
}

// A packet as a capture holds it; owns its bytes.
struct Frame {
  Bytes bytes;
  capture::LinkType link = capture::LinkType::ethernet;
  Nanos time_ns = 0;
  std::uint32_t original_length = 0;  // 0: as many as there are bytes

  [[nodiscard]] capture::Packet packet(std::uint64_t number = 1) const {
    const auto length = static_cast<std::uint32_t>(bytes.size());
    return {time_ns, bytes, std::max(original_length, length), link, 0, number};
  }
  // The same packet as a capture with this snap length holds it.
  [[nodiscard]] Frame cut(std::size_t snap_length) const {
    Frame frame = *this;
    frame.original_length = std::max(original_length, static_cast<std::uint32_t>(bytes.size()));
    frame.bytes.resize(std::min(snap_length, bytes.size()));
    return frame;
  }
};

// The segment on Ethernet.
inline Frame frame_of(const TcpFields& fields, Nanos time_ns = 0) {
  return {ethernet_bytes(fields.source.is_v6 ? 0x86DD : 0x0800, ip_bytes(fields)), capture::LinkType::ethernet, time_ns,
          0};
}

}  // namespace tlstrata::tcp::test
