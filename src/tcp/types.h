// What the TCP step yields: connections, and per direction an ordered byte stream whose every byte knows its packet.
//
// Units:     offsets count stream bytes, the first byte after the SYN is 0 (of a connection whose SYN is not in the
//            capture: the first byte seen). Time in nanoseconds since the Unix epoch.
// Ownership: `bytes` of an event holds until the next call of next() or feed().
// Source:    RFC 9293; first copy of a byte wins where copies differ.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/nanos.h"

namespace tlstrata::tcp {

// A packet's place in the capture. Order is by packet number; times may run backwards in merged files.
struct Stamp {
  Nanos time_ns = 0;
  std::uint64_t packet = 0;  // capture::Packet::number; 0: no packet (absent)

  [[nodiscard]] bool present() const { return packet != 0; }
};

struct Endpoint {
  std::array<std::uint8_t, 16> address{};  // IPv4 in the first four bytes, network order
  std::uint16_t port = 0;
  bool is_v6 = false;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

// Which end sent: `a` is the sender of the connection's first captured packet.
enum class Side : std::uint8_t { a = 0, b = 1 };
[[nodiscard]] constexpr Side other(Side side) {
  return side == Side::a ? Side::b : Side::a;
}
[[nodiscard]] constexpr std::size_t index(Side side) {
  return static_cast<std::size_t>(side);
}

// A slot number: unique among the connections open at a time, used again after `closed`.
using ConnectionId = std::uint32_t;

enum class EventKind : std::uint8_t {
  opened,   // first packet of a connection (4-tuple and generation); `endpoints` is valid
  syn,      // SYN without ACK, each copy; first copy of a generation comes right after `opened`
  syn_ack,  // SYN with ACK, each copy
  data,     // the stream's next bytes
  gap,      // `length` bytes of the stream that the capture lacks; the stream goes on after them
  fin,      // in stream order: all bytes before it were delivered or declared a gap
  reset,    // RST inside the window
  again,  // a segment that was sent again: a copy of bytes seen before, or one that came too late to have been overtaken
  stall,   // the server waited for an acknowledgment; `first`: its last segment before, `in_order`: the one that waited
  closed,  // no more events of this generation; the id is free afterwards
};

enum class GapReason : std::uint8_t {
  none,
  not_captured,   // the peer acknowledged bytes that no captured packet carried, or a bound on memory was reached
  snap_length,    // the packet was captured, but cut
  capture_ended,  // bytes still missing at the end of the input
};

enum class CloseReason : std::uint8_t {
  none,
  finished,  // FIN from both sides
  reset,
  reused,  // a SYN with a new sequence number opened the next generation
  idle,    // silent in capture time beyond the limit
  capture_ended,
};

struct Event {
  EventKind kind = EventKind::opened;
  Side side = Side::a;  // who sent
  ConnectionId connection = 0;
  Stamp first;                          // the packet that first carried these bytes; the packet itself for others
  Stamp in_order;                       // data, gap, fin: the packet at which the stream has no hole up to here
  std::uint64_t offset = 0;             // data, gap, fin, stall: of the first byte
  std::span<const std::uint8_t> bytes;  // data
  std::uint64_t length = 0;             // gap
  GapReason gap = GapReason::none;
  CloseReason close = CloseReason::none;
  bool has_payload = false;  // syn: carries data (Fast Open)
};

// Both ends as the capture shows them; index() by Side.
struct Endpoints {
  std::array<Endpoint, 2> side;
  std::uint32_t generation = 0;  // 0 for the first connection of a 4-tuple
};

// Fate of each packet; the sum of all equals the packets fed (`other_connections` are counted by the worker that owns
// them).
struct PacketCounts {
  std::uint64_t tcp = 0;                // decoded and given to a connection
  std::uint64_t other_connections = 0;  // TCP, another worker's or another analysis's
  std::uint64_t late = 0;               // TCP of a connection that is over (last ACK, late copies)
  std::uint64_t no_connection = 0;      // TCP that opens and belongs to no connection (bare ACK, bare RST)
  std::uint64_t not_ip = 0;
  std::uint64_t not_tcp = 0;  // UDP, ICMP, ...
  std::uint64_t quic = 0;
  std::uint64_t dtls = 0;
  std::uint64_t fragments = 0;          // put together with others into a datagram that is counted by its last fragment
  std::uint64_t fragments_dropped = 0;  // contradicting, cut by the snap length, or too many at a time
  std::uint64_t malformed = 0;          // headers that contradict their lengths
  std::uint64_t cut_headers = 0;        // snap length ends inside a header
  std::uint64_t unsupported_link = 0;

  [[nodiscard]] std::uint64_t sum() const {
    return tcp + other_connections + late + no_connection + not_ip + not_tcp + quic + dtls + fragments +
           fragments_dropped + malformed + cut_headers + unsupported_link;
  }
};

// Bytes and segments on the wire per side, repeats included.
struct Traffic {
  std::uint64_t packets = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t retransmitted_bytes = 0;  // payload bytes that had been captured before
};

}  // namespace tlstrata::tcp
