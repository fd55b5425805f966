// What a capture file or a live capture yields: timed packets and the secrets that travel with them.
//
// Units:     time in nanoseconds since the Unix epoch; lengths in bytes.
// Ownership: spans point into the reader's file or buffer and hold until the reader's next call.
// Source:    pcap: draft-ietf-opsawg-pcap; pcapng: draft-ietf-opsawg-pcapng; link types: the tcpdump group's registry.
#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "base/nanos.h"

namespace tlstrata::capture {

// LINKTYPE_* values that are read; any other value may stand in a file and is carried as it is.
enum class LinkType : std::uint16_t {
  null_loopback = 0,  // BSD loopback: 4-byte protocol family in the capturing host's byte order
  ethernet = 1,
  ppp = 9,
  pppoe = 51,  // LINKTYPE_PPP_ETHER
  ppp_hdlc = 50,
  raw_bsd = 12,  // raw IP as some BSDs wrote it
  raw_old = 14,
  raw = 101,        // raw IPv4 or IPv6, by the version nibble
  loop = 108,       // OpenBSD loopback: 4-byte family, network byte order
  linux_sll = 113,  // Linux cooked v1
  ipv4 = 228,
  ipv6 = 229,
  nflog = 239,       // Linux netfilter log
  linux_sll2 = 276,  // Linux cooked v2
};

// Stamps beyond this (the year 2116) are clamped to it, and to its negative, so that two stamps can be subtracted.
inline constexpr Nanos max_time_ns = (Nanos{1} << 62) - 1;

struct Packet {
  Nanos time_ns = 0;                   // stamp; 0 where the block has none (pcapng simple packet blocks)
  std::span<const std::uint8_t> data;  // the captured bytes, link header first
  std::uint32_t original_length = 0;   // bytes on the wire; more than data.size() where the snap length cut it
  LinkType link = LinkType::ethernet;
  std::uint32_t interface = 0;  // pcapng interface, counted over all sections of a file; 0 for pcap
  std::uint64_t number = 0;  // 1 for the first packet of the input, as TShark's frame.number: blocks that TShark shows
                             // as frames but that are no packets (custom, journal, system call) use one up too
  // Where several files are read as one: which of them, and the packet's number in it. 0: there is one.
  std::uint32_t file = 0;
  std::uint64_t file_number = 0;
};

// What a Decryption Secrets Block holds.
struct Secrets {
  static constexpr std::uint32_t tls_key_log = 0x544c534b;
  std::uint32_t type = 0;              // tls_key_log is the only one used
  std::span<const std::uint8_t> data;  // for tls_key_log: lines of an NSS key log
};

// What an input yields, in the order of the file.
using Item = std::variant<Packet, Secrets>;

// What happened to the blocks and packets of an input; every one is in exactly one of the first five counters.
struct FileCounts {
  std::uint64_t packets = 0;           // yielded
  std::uint64_t secrets = 0;           // Decryption Secrets Blocks yielded
  std::uint64_t structure_blocks = 0;  // pcapng section headers, interface descriptions and statistics
  std::uint64_t skipped_blocks = 0;    // pcapng blocks of any other type: name resolution, custom, unknown
  std::uint64_t damaged_packets = 0;   // a packet block whose own lengths or interface contradict the file; not yielded
  std::uint64_t reported_drops = 0;    // drops that the capturing kernel or tool reported (pcapng statistics blocks)
  bool truncated = false;              // the input ends in mid-record
};

}  // namespace tlstrata::capture
