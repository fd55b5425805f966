// The blocks of a pcapng file, one function a block: bytes of a whole block to a plain struct.
//
// In:        a block's body: what stands between its first eight bytes (type, length) and its trailing length.
// Out:       the block's fields. Options that are not used are skipped.
// Ownership: spans point into the body.
// Errors:    truncated or malformed where the body contradicts itself; offsets are the file's.
// Source:    draft-ietf-opsawg-pcapng sections 3 and 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/byte_reader.h"
#include "base/result.h"
#include "capture/time_scale.h"
#include "capture/types.h"

namespace tlstrata::capture::pcapng {

enum class BlockType : std::uint32_t {
  interface_description = 1,
  packet = 2,  // obsolete
  simple_packet = 3,
  interface_statistics = 5,
  enhanced_packet = 6,
  systemd_journal = 9,
  decryption_secrets = 10,
  sysdig_event = 0x204,
  sysdig_event_v2 = 0x216,
  sysdig_event_v2_large = 0x221,
  custom = 0xBAD,
  custom_not_copied = 0x40000BAD,
  section_header = 0x0A0D0D0A,  // the same in both byte orders
};

inline constexpr std::uint32_t byte_order_magic = 0x1A2B3C4D;
inline constexpr std::size_t block_head_bytes = 8;      // type, total length
inline constexpr std::size_t block_trailer_bytes = 4;   // total length again
inline constexpr std::size_t enhanced_head_bytes = 20;  // an enhanced packet block's fields before its data

// The body of a block and where it stands.
struct Body {
  std::span<const std::uint8_t> bytes;
  std::uint64_t offset = 0;  // of its first byte in the file
  ByteOrder order = ByteOrder::little;

  [[nodiscard]] ByteReader reader() const { return ByteReader(bytes, offset, order); }
};

struct Interface {
  LinkType link = LinkType::ethernet;
  std::uint32_t snap_length = 0;  // bytes; 0: no limit
  TimeScale scale;
  std::uint64_t drops = 0;  // of its latest statistics block
};

// What the three kinds of packet blocks have in common.
struct PacketFields {
  std::uint32_t interface = 0;  // within the section
  std::uint64_t ticks = 0;      // absent in simple packet blocks: their time is 0
  std::uint32_t original_length = 0;
  std::span<const std::uint8_t> data;
};

// drops: packets that the statistics say were lost by interface and operating system.
struct Statistics {
  std::uint32_t interface = 0;
  std::uint64_t drops = 0;
};

Result<void> check_section_header(const Body& body);
Result<Interface> read_interface(const Body& body);
Result<Statistics> read_statistics(const Body& body);
Result<PacketFields> read_enhanced_packet(const Body& body);
Result<PacketFields> read_obsolete_packet(const Body& body);
// `snap_length` is that of the section's first interface, which simple packets belong to.
Result<PacketFields> read_simple_packet(const Body& body, std::uint32_t snap_length);
Result<Secrets> read_secrets(const Body& body);

// TShark gives frame numbers to some blocks that carry no packet; ours follow its count.
bool takes_frame_number(BlockType type);

}  // namespace tlstrata::capture::pcapng
