#include "tcp/walk.h"

namespace tlstrata::tcp {

using capture::LinkType;

bool Walk::start(LinkType link) {
  switch (link) {
    case LinkType::ethernet:
      return go(Header::ethernet);
    case LinkType::raw:
    case LinkType::raw_bsd:
    case LinkType::raw_old:
    case LinkType::ipv4:
    case LinkType::ipv6:
      return go(Header::ip_any);
    case LinkType::null_loopback:
    case LinkType::loop:
      // The family's number differs by system and byte order; the IP version says the same.
      return drop(4) && go(Header::ip_any);
    case LinkType::linux_sll: {
      auto reader = header(16);
      reader.skip(14);
      const std::uint16_t type = reader.u16();
      return drop(16) && reader.finish("SLL") && go_ether(type);
    }
    case LinkType::linux_sll2: {
      auto reader = header(20);
      const std::uint16_t type = reader.u16();
      const bool has_type = reader.finish_partial("SLL2").has_value();
      return drop(20) && has_type && go_ether(type);
    }
    case LinkType::ppp:
    case LinkType::ppp_hdlc:
      return go(Header::ppp);
    case LinkType::pppoe:
      return go(Header::pppoe);
    case LinkType::nflog:
      return read_nflog();
  }
  return end(Fate::unsupported_link);
}

bool Walk::read_ethernet() {
  auto reader = header(14);
  reader.skip(12);
  const std::uint16_t type = reader.u16();
  if (!drop(14) || !reader.finish("Ethernet")) {
    return false;
  }
  return type < ether::smallest ? go(Header::llc) : go_ether(type);
}

bool Walk::read_ether_type() {
  switch (protocol_) {
    case ether::ipv4:
      return go(Header::ipv4);
    case ether::ipv6:
      return go(Header::ipv6);
    case ether::vlan:
    case ether::provider_vlan:
    case ether::old_qinq:
    case ether::old_qinq2: {
      auto reader = header(4);
      reader.skip(2);
      const std::uint16_t type = reader.u16();
      if (!drop(4) || !reader.finish("VLAN tag")) {
        return false;
      }
      return type < ether::smallest ? go(Header::llc) : go_ether(type);
    }
    case ether::vn_tag: {
      auto reader = header(6);
      reader.skip(4);
      const std::uint16_t type = reader.u16();
      return drop(6) && reader.finish("VN tag") && go_ether(type);
    }
    case ether::mpls:
    case ether::mpls_multicast:
      return go(Header::mpls);
    case ether::pppoe_session:
      return go(Header::pppoe);
    case ether::transparent_bridging:
      return go(Header::ethernet);
    default:
      return end(Fate::not_ip);
  }
}

// IEEE 802.2 with SNAP (RFC 1042).
bool Walk::read_llc() {
  auto reader = header(8);
  const std::uint32_t snap = reader.u24();
  reader.skip(3);
  const std::uint16_t type = reader.u16();
  if (!reader.finish("SNAP") || snap != 0xAAAA03) {
    return end(Fate::not_ip);
  }
  return drop(8) && go_ether(type);
}

// RFC 1661, with or without the address and control bytes of RFC 1662, with the protocol field in one or two bytes.
bool Walk::read_ppp() {
  auto reader = header(4);
  std::size_t length = 2;
  std::uint16_t protocol = reader.u16();
  if (protocol == 0xFF03) {
    protocol = reader.u16();
    length = 4;
  }
  if (!reader.finish_partial("PPP")) {
    return drop(length) && end(Fate::malformed);
  }
  if ((protocol & 0x0100U) != 0) {  // an odd first byte is a whole protocol number
    protocol = static_cast<std::uint16_t>(protocol >> 8U);
    --length;
  }
  if (!drop(length)) {
    return false;
  }
  return protocol == 0x0021 ? go(Header::ipv4) : protocol == 0x0057 ? go(Header::ipv6) : end(Fate::not_ip);
}

bool Walk::read_pppoe() {
  auto reader = header(6);
  reader.skip(4);
  const std::uint16_t length = reader.u16();
  if (!drop(6) || !reader.finish("PPPoE")) {
    return false;
  }
  if (length < wire_) {
    bound(length);
  }
  return go(Header::ppp);
}

// Linux's netfilter log: a fixed header, then attributes, one of which is the packet from its IP header on. Their numbers
// are in the byte order of the host that captured. No type has more than one byte, which tells the order.
bool Walk::read_nflog() {
  constexpr std::size_t attribute_head_bytes = 4;
  constexpr unsigned payload = 9;  // NFULA_PAYLOAD
  if (!drop(4)) {                  // family, version, resource
    return false;
  }
  while (!captured_.empty()) {
    auto reader = header(attribute_head_bytes);
    const unsigned length_0 = reader.u8();
    const unsigned length_1 = reader.u8();
    const unsigned type_0 = reader.u8();
    const unsigned type_1 = reader.u8();
    if (!reader.finish("NFLOG attribute")) {
      return drop(attribute_head_bytes);
    }
    const bool is_big = type_0 == 0 && type_1 != 0;
    const std::size_t length = is_big ? length_0 << 8U | length_1 : length_1 << 8U | length_0;
    if (length < attribute_head_bytes) {
      return end(Fate::malformed);
    }
    if ((is_big ? type_1 : type_0 | type_1 << 8U) == payload) {
      (void)drop(attribute_head_bytes);
      bound(std::min(wire_, length - attribute_head_bytes));
      return go(Header::ip_any);
    }
    if (!drop(std::min(wire_, (length + 3) / 4 * 4))) {  // the last one may lack its padding
      return false;
    }
  }
  return end(wire_ > 0 ? Fate::cut_header : Fate::not_ip);
}

}  // namespace tlstrata::tcp
