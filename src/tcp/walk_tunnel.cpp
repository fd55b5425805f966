#include "tcp/walk.h"

namespace tlstrata::tcp {
namespace {

constexpr std::uint16_t vxlan_port = 4789;
constexpr std::uint16_t geneve_port = 6081;

}  // namespace

bool Walk::read_mpls() {
  auto reader = header(4);
  const std::uint32_t entry = reader.u32();
  if (!drop(4) || !reader.finish("MPLS")) {
    return false;
  }
  const bool bottom = (entry & 0x100U) != 0;
  if (!bottom) {
    return go(Header::mpls);
  }
  // Nothing names what is inside; a zero nibble is the control word of an Ethernet pseudowire (RFC 4385).
  if (!captured_.empty() && (captured_[0] >> 4U) == 0) {
    return drop(4) && go(Header::ethernet);
  }
  return go(Header::ip_any);
}

bool Walk::read_gre() {
  auto reader = header(4);
  const std::uint16_t flags = reader.u16();
  const std::uint16_t type = reader.u16();
  if (!reader.finish("GRE")) {
    return drop(4) && end(Fate::malformed);
  }
  if ((flags & 0x0007U) != 0) {
    return end(Fate::not_tcp);  // version 1 carries PPTP
  }
  const std::size_t length =
      4 + ((flags & 0x8000U) != 0 ? 4U : 0U) + ((flags & 0x2000U) != 0 ? 4U : 0U) + ((flags & 0x1000U) != 0 ? 4U : 0U);
  return drop(length) && go_ether(type);
}

bool Walk::read_udp() {
  auto reader = header(8);
  reader.skip(2);
  const std::uint16_t destination_port = reader.u16();
  reader.skip(4);
  if (!drop(8) || !reader.finish("UDP")) {
    return false;
  }
  if (destination_port == vxlan_port) {
    auto vxlan = header(8);
    const bool has_network = (vxlan.u8() & 0x08U) != 0;
    return vxlan.finish_partial("VXLAN") && has_network ? drop(8) && go(Header::ethernet) : end(Fate::not_tcp);
  }
  if (destination_port == geneve_port) {
    auto geneve = header(8);
    const std::size_t options = std::size_t{geneve.u8() & 0x3FU} * 4;
    geneve.skip(1);
    const std::uint16_t type = geneve.u16();
    return geneve.finish_partial("GENEVE") ? drop(8 + options) && go_ether(type) : end(Fate::not_tcp);
  }
  if (captured_.size() >= 13) {
    auto start = header(13);
    const std::uint8_t first = start.u8();
    const std::uint32_t version = start.u32();
    // QUIC: long header form and fixed bit, version 1 or 2. DTLS: a known content type and version 1.0, 1.2 (1.3
    // keeps 1.2's).
    const bool quic = start.finish_partial("UDP") && (first & 0xC0U) == 0xC0 && (version == 1 || version == 0x6B3343CF);
    const bool dtls = first >= 20 && first <= 25 && ((version >> 16U) == 0xFEFF || (version >> 16U) == 0xFEFD);
    return end(quic ? Fate::udp_quic : dtls ? Fate::udp_dtls : Fate::not_tcp);
  }
  return end(Fate::not_tcp);
}

}  // namespace tlstrata::tcp
