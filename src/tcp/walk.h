// The walk through the headers of one packet, whatever stands in it: links, tunnels, IP, TCP.
//
// In:        a packet of any link type.
// Out:       its Fate; the segment where that is Fate::tcp.
// Ownership: see frame.h, which is the way in. `fragments` and `segment` must outlive the walk.
// Errors:    none: each is a Fate.
// Threads:   one.
// Source:    frame.h. Link headers are read in walk_link.cpp, tunnels' in walk_tunnel.cpp, IP's and TCP's in walk_ip.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/byte_reader.h"
#include "capture/types.h"
#include "tcp/fragments.h"
#include "tcp/frame.h"

namespace tlstrata::tcp {

namespace ether {
inline constexpr std::uint16_t ipv4 = 0x0800;
inline constexpr std::uint16_t transparent_bridging = 0x6558;
inline constexpr std::uint16_t vlan = 0x8100;
inline constexpr std::uint16_t ipv6 = 0x86DD;
inline constexpr std::uint16_t mpls = 0x8847;
inline constexpr std::uint16_t mpls_multicast = 0x8848;
inline constexpr std::uint16_t pppoe_session = 0x8864;
inline constexpr std::uint16_t provider_vlan = 0x88A8;
inline constexpr std::uint16_t vn_tag = 0x8926;
inline constexpr std::uint16_t old_qinq = 0x9100;
inline constexpr std::uint16_t old_qinq2 = 0x9200;
inline constexpr std::uint16_t smallest = 0x0600;  // below it the field is a length (IEEE 802.3)
}  // namespace ether

// Walks the headers of one packet. `captured` is what is there, `wire` how many bytes the wire had of it.
class Walk {
 public:
  Walk(const capture::Packet& packet, Fragments& fragments, Segment& segment)
      : captured_(packet.data),
        wire_(std::max<std::size_t>(packet.original_length, packet.data.size())),
        fragments_(fragments),
        segment_(segment) {}

  Fate run(capture::LinkType link);

 private:
  static constexpr int most_headers = 16;

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

  // Each header's function reads its fields, drops the header from `captured_` and `wire_`, and sets what comes next;
  // false ends the walk with `fate_`.
  bool start(capture::LinkType link);
  bool step();
  bool read_ethernet();
  bool read_ether_type();
  bool read_llc();
  bool read_ppp();
  bool read_mpls();
  bool read_pppoe();
  bool read_nflog();
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

}  // namespace tlstrata::tcp
