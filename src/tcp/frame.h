// From a captured frame to its TCP segment: link headers, tunnels, IP, TCP.
//
// In:        capture::Packet of any link type.
// Out:       the segment, or the fate of a packet that has none. A packet ends in exactly one Fate.
// Ownership: the payload points into the packet, or into the decoder where IP fragments were put together (until the
//            next call of decode()).
// Errors:    none: hostile and cut packets are fates. Checksums are not verified, since offloading NICs leave them
//            blank.
// Limits:    16 nested headers; fragments in fragments.h.
// Source:    IEEE 802.3/802.1Q, RFC 791, RFC 8200, RFC 9293, RFC 2516 (PPPoE), RFC 3032 (MPLS), RFC 2784/2890 (GRE),
//            RFC 7348 (VXLAN), RFC 8926 (GENEVE), the tcpdump group's link type pages.
#pragma once

#include <cstdint>
#include <span>

#include "capture/types.h"
#include "tcp/fragments.h"
#include "tcp/types.h"

namespace tlstrata::tcp {

namespace flag {
inline constexpr std::uint8_t fin = 0x01;
inline constexpr std::uint8_t syn = 0x02;
inline constexpr std::uint8_t rst = 0x04;
inline constexpr std::uint8_t ack = 0x10;
}  // namespace flag

struct Segment {
  Endpoint source;
  Endpoint destination;
  std::uint32_t sequence = 0;
  std::uint32_t acknowledgment = 0;  // meaningful with flag::ack
  std::uint8_t flags = 0;
  std::span<const std::uint8_t> payload;  // the captured part
  std::uint32_t payload_length = 0;       // on the wire; more than payload.size() where the snap length cut it
  std::span<const std::uint8_t> options;  // of a SYN; empty elsewhere, and where the snap length cut them

  [[nodiscard]] bool has(std::uint8_t mask) const { return (flags & mask) != 0; }
};

enum class Fate : std::uint8_t {
  tcp,
  not_ip,
  not_tcp,
  udp_quic,          // a QUIC long header with a version (RFC 9000 section 17.2)
  udp_dtls,          // a DTLS record header (RFC 6347, RFC 9147)
  fragment_kept,     // waits for the rest of its datagram
  fragment_dropped,  // contradicts its siblings, or the bound on memory was reached
  malformed,
  cut_header,
  unsupported_link,
};

// Reads what nearly every packet is: a whole TCP segment in plain IP on Ethernet or the like. False: it is anything else, also
// where a FrameDecoder finds a segment in it; `segment` is undefined then.
bool decode_plain(const capture::Packet& packet, Segment& segment);

class FrameDecoder {
 public:
  // `segment` is valid when Fate::tcp comes back.
  Fate decode(const capture::Packet& packet, Segment& segment);

 private:
  Fragments fragments_;
};

}  // namespace tlstrata::tcp
