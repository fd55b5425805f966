#include "tcp/frame.h"

#include <algorithm>

#include "base/byte_reader.h"

namespace tlstrata::tcp {
namespace {

using capture::LinkType;

// What the next header is.
enum class Header : std::uint8_t {
  ethernet,
  ether_type,  // `protocol` is an EtherType
  llc,
  ppp,
  mpls,
  pppoe,
  ip_any,
  ipv4,
  ipv6,
  ip_protocol,  // `protocol` is an IP protocol number
  tcp,
  udp,
  gre,
};

namespace ether {
constexpr std::uint16_t ipv4 = 0x0800;
constexpr std::uint16_t transparent_bridging = 0x6558;
constexpr std::uint16_t vlan = 0x8100;
constexpr std::uint16_t ipv6 = 0x86DD;
constexpr std::uint16_t mpls = 0x8847;
constexpr std::uint16_t mpls_multicast = 0x8848;
constexpr std::uint16_t pppoe_session = 0x8864;
constexpr std::uint16_t provider_vlan = 0x88A8;
constexpr std::uint16_t vn_tag = 0x8926;
constexpr std::uint16_t old_qinq = 0x9100;
constexpr std::uint16_t old_qinq2 = 0x9200;
constexpr std::uint16_t smallest = 0x0600;  // below it the field is a length (IEEE 802.3)
}  // namespace ether

namespace ip {
constexpr std::uint8_t hop_by_hop = 0;
constexpr std::uint8_t ipv4 = 4;
constexpr std::uint8_t tcp = 6;
constexpr std::uint8_t udp = 17;
constexpr std::uint8_t ipv6 = 41;
constexpr std::uint8_t routing = 43;
constexpr std::uint8_t fragment = 44;
constexpr std::uint8_t gre = 47;
constexpr std::uint8_t authentication = 51;
constexpr std::uint8_t destination_options = 60;
constexpr std::uint8_t mobility = 135;
constexpr std::uint8_t host_identity = 139;
constexpr std::uint8_t shim6 = 140;
}  // namespace ip

constexpr int most_headers = 16;
constexpr std::uint16_t vxlan_port = 4789;
constexpr std::uint16_t geneve_port = 6081;

// Walks the headers of one packet. `captured` is what is there, `wire` how many bytes the wire had of it.
class Walk {
 public:
  Walk(const capture::Packet& packet, Fragments& fragments, Segment& segment)
      : captured_(packet.data),
        wire_(std::max<std::size_t>(packet.original_length, packet.data.size())),
        fragments_(fragments),
        segment_(segment) {}

  Fate run(LinkType link) {
    if (!start(link)) {
      return fate_;
    }
    for (int depth = 0; depth < most_headers; ++depth) {
      if (!step()) {
        return fate_;
      }
    }
    return Fate::malformed;
  }

 private:
  // Each header's function reads its fields, drops the header from `captured_` and `wire_`, and sets what comes next;
  // false ends the walk with `fate_`.
  bool start(LinkType link);
  bool step();
  bool read_ethernet();
  bool read_ether_type();
  bool read_llc();
  bool read_ppp();
  bool read_mpls();
  bool read_pppoe();
  bool read_ipv4();
  bool read_ipv6();
  bool read_ipv6_extension();
  bool read_ip_protocol();
  bool read_gre();
  bool read_udp();
  bool read_tcp();
  bool reassemble(const Fragment& fragment);

  bool end(Fate fate) {
    fate_ = fate;
    return false;
  }
  bool go(Header next) {
    next_ = next;
    return true;
  }
  bool go_ether(std::uint16_t type) {
    protocol_ = type;
    return go(Header::ether_type);
  }
  bool go_ip(std::uint8_t protocol) {
    protocol_ = protocol;
    return go(Header::ip_protocol);
  }
  // Drops a header of `length` bytes; false where the snap length ends inside it or the wire does.
  bool drop(std::size_t length) {
    if (length > captured_.size()) {
      return end(wire_ > captured_.size() ? Fate::cut_header : Fate::malformed);
    }
    captured_ = captured_.subspan(length);
    wire_ -= length;
    return true;
  }
  // A reader over a fixed header; reads past the end are found by drop().
  [[nodiscard]] ByteReader header(std::size_t length) const {
    return ByteReader(captured_.first(std::min(length, captured_.size())));
  }
  // Bounds what follows to `length` bytes on the wire (IP lengths; what is behind is padding).
  void bound(std::size_t length) {
    wire_ = length;
    captured_ = captured_.first(std::min(captured_.size(), length));
  }

  std::span<const std::uint8_t> captured_;
  std::size_t wire_;
  Fragments& fragments_;
  Segment& segment_;
  Header next_ = Header::ethernet;
  std::uint16_t protocol_ = 0;
  bool is_v6_ = false;
  Fate fate_ = Fate::malformed;
};

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
  }
  return end(Fate::unsupported_link);
}

bool Walk::step() {
  switch (next_) {
    case Header::ethernet:
      return read_ethernet();
    case Header::ether_type:
      return read_ether_type();
    case Header::llc:
      return read_llc();
    case Header::ppp:
      return read_ppp();
    case Header::mpls:
      return read_mpls();
    case Header::pppoe:
      return read_pppoe();
    case Header::ip_any:
      if (captured_.empty()) {
        return end(wire_ > 0 ? Fate::cut_header : Fate::malformed);
      }
      return (captured_[0] >> 4U) == 4   ? go(Header::ipv4)
             : (captured_[0] >> 4U) == 6 ? go(Header::ipv6)
                                         : end(Fate::not_ip);
    case Header::ipv4:
      return read_ipv4();
    case Header::ipv6:
      return read_ipv6();
    case Header::ip_protocol:
      return read_ip_protocol();
    case Header::gre:
      return read_gre();
    case Header::udp:
      return read_udp();
    case Header::tcp:
      return read_tcp();
  }
  return end(Fate::malformed);
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

bool Walk::read_ipv4() {
  auto reader = header(20);
  const std::uint8_t version_and_length = reader.u8();
  reader.skip(1);
  std::size_t total = reader.u16();
  const std::uint16_t identification = reader.u16();
  const std::uint16_t fragment_field = reader.u16();
  reader.skip(1);
  const std::uint8_t protocol = reader.u8();
  reader.skip(2);
  const auto source = reader.take(4);
  const auto destination = reader.take(4);
  if (!reader.finish("IPv4")) {
    return drop(20) && end(Fate::malformed);
  }
  const std::size_t header_length = static_cast<std::size_t>(version_and_length & 0x0FU) * 4;
  if ((version_and_length >> 4U) != 4 || header_length < 20) {
    return end(Fate::malformed);
  }
  if (total == 0) {
    total = wire_;  // segmentation offload: the length did not fit
  }
  if (total < header_length) {
    return end(Fate::malformed);
  }
  is_v6_ = false;
  segment_.source = Endpoint{};
  segment_.destination = Endpoint{};
  std::ranges::copy(source, segment_.source.address.begin());
  std::ranges::copy(destination, segment_.destination.address.begin());
  bound(total);
  if (!drop(header_length)) {
    return false;
  }
  const auto offset = static_cast<std::uint32_t>(fragment_field & 0x1FFFU) * 8;
  const bool more = (fragment_field & 0x2000U) != 0;
  if (offset != 0 || more) {
    const FragmentKey key{segment_.source.address, segment_.destination.address, identification, protocol};
    if (!reassemble(Fragment{key, offset, more, captured_})) {
      return false;
    }
  }
  return go_ip(protocol);
}

// True when the datagram is whole: the walk goes on in it.
bool Walk::reassemble(const Fragment& fragment) {
  if (captured_.size() < wire_) {
    return end(Fate::fragment_dropped);
  }
  switch (fragments_.add(fragment)) {
    case Fragments::Verdict::kept:
      return end(Fate::fragment_kept);
    case Fragments::Verdict::dropped:
      return end(Fate::fragment_dropped);
    case Fragments::Verdict::complete:
      break;
  }
  captured_ = fragments_.datagram();
  wire_ = captured_.size();
  return true;
}

bool Walk::read_ipv6() {
  auto reader = header(40);
  const std::uint8_t version = reader.u8() >> 4U;
  reader.skip(3);
  const std::size_t payload_length = reader.u16();
  const std::uint8_t next_header = reader.u8();
  reader.skip(1);
  const auto source = reader.take(16);
  const auto destination = reader.take(16);
  if (!reader.finish("IPv6")) {
    return drop(40) && end(Fate::malformed);
  }
  if (version != 6) {
    return end(Fate::malformed);
  }
  is_v6_ = true;
  segment_.source.is_v6 = true;
  segment_.destination.is_v6 = true;
  std::ranges::copy(source, segment_.source.address.begin());
  std::ranges::copy(destination, segment_.destination.address.begin());
  if (!drop(40)) {
    return false;
  }
  if (payload_length != 0) {  // 0: a jumbogram or segmentation offload (RFC 2675)
    bound(payload_length);
  }
  return go_ip(next_header);
}

bool Walk::read_ipv6_extension() {
  auto reader = header(8);
  const std::uint8_t next_header = reader.u8();
  const std::size_t length_field = reader.u8();
  const std::uint16_t fragment_field = reader.u16();
  const std::uint32_t identification = reader.u32();
  if (!reader.finish("IPv6 extension header")) {
    return drop(8) && end(Fate::malformed);
  }
  if (protocol_ == ip::fragment) {
    if (!drop(8)) {
      return false;
    }
    const std::uint32_t offset = fragment_field & 0xFFF8U;
    const bool more = (fragment_field & 1U) != 0;
    if (offset != 0 || more) {  // else an atomic fragment (RFC 6946)
      const FragmentKey key{segment_.source.address, segment_.destination.address, identification, next_header};
      if (!reassemble(Fragment{key, offset, more, captured_})) {
        return false;
      }
    }
    return go_ip(next_header);
  }
  // Authentication Headers count 4-byte units less 2 (RFC 4302), the others 8-byte units less 1.
  const std::size_t length = protocol_ == ip::authentication ? (length_field + 2) * 4 : (length_field + 1) * 8;
  return drop(length) && go_ip(next_header);
}

bool Walk::read_ip_protocol() {
  switch (protocol_) {
    case ip::tcp:
      return go(Header::tcp);
    case ip::udp:
      return go(Header::udp);
    case ip::gre:
      return go(Header::gre);
    case ip::ipv4:
      return go(Header::ipv4);
    case ip::ipv6:
      return go(Header::ipv6);
    case ip::hop_by_hop:
    case ip::routing:
    case ip::fragment:
    case ip::destination_options:
    case ip::mobility:
    case ip::host_identity:
    case ip::shim6:
      return is_v6_ ? read_ipv6_extension() : end(Fate::not_tcp);
    case ip::authentication:
      return read_ipv6_extension();
    default:
      return end(Fate::not_tcp);
  }
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
    const std::size_t options = (geneve.u8() & 0x3FU) * 4U;
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

bool Walk::read_tcp() {
  auto reader = header(20);
  segment_.source.port = reader.u16();
  segment_.destination.port = reader.u16();
  segment_.sequence = reader.u32();
  segment_.acknowledgment = reader.u32();
  const std::size_t header_length = static_cast<std::size_t>(reader.u8() >> 4U) * 4;
  segment_.flags = reader.u8();
  if (!reader.finish_partial("TCP")) {
    return drop(20) && end(Fate::malformed);
  }
  if (header_length < 20 || header_length > wire_) {
    return end(Fate::malformed);
  }
  if (captured_.size() < header_length) {
    // The snap length cut the options: the header says all that is needed, the payload is wholly cut.
    captured_ = {};
    wire_ -= header_length;
  } else if (!drop(header_length)) {
    return false;
  }
  segment_.payload = captured_;
  segment_.payload_length = static_cast<std::uint32_t>(std::min<std::size_t>(wire_, 0xFFFFFFFFU));
  return end(Fate::tcp);
}

}  // namespace

Fate FrameDecoder::decode(const capture::Packet& packet, Segment& segment) {
  return Walk(packet, fragments_, segment).run(packet.link);
}

}  // namespace tlstrata::tcp
