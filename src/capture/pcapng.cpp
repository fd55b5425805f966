#include "capture/pcapng.h"

#include <algorithm>
#include <limits>

namespace tlstrata::capture::pcapng {
namespace {

constexpr std::uint16_t opt_endofopt = 0;
constexpr std::uint16_t if_tsresol = 9;
constexpr std::uint16_t if_tsoffset = 14;
constexpr std::uint16_t isb_ifdrop = 5;
constexpr std::uint16_t isb_osdrop = 7;

// Fields are padded to 32 bits. The last one of a body may lack its padding: some writers leave it out.
void skip_padding(ByteReader& reader, std::size_t length) {
  const std::size_t padding = (4 - length % 4) % 4;
  reader.skip(std::min(padding, reader.remaining()));
}

// Calls visit(code, value) for each option up to the end mark or the end of the body.
template <typename Visit>
void for_each_option(ByteReader& reader, Visit visit) {
  while (reader.ok() && !reader.empty()) {
    const std::uint16_t code = reader.u16();
    const std::uint16_t length = reader.u16();
    if (code == opt_endofopt) {
      return;
    }
    const std::uint64_t at = reader.offset();
    const auto value = reader.take(length);
    if (reader.ok()) {
      visit(code, value, at);
      skip_padding(reader, length);
    }
  }
}

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

}  // namespace

Result<void> check_section_header(const Body& body) {
  ByteReader reader = body.reader();
  reader.skip(4);  // byte-order magic, which told the order
  const std::uint16_t major = reader.u16();
  reader.skip(2);  // minor version: its changes can be read without knowing them
  reader.skip(8);  // section length: blocks are walked, so it is of no use
  if (auto read = reader.finish_partial("pcapng section header"); !read) {
    return read;
  }
  if (major != 1) {
    return std::unexpected(Error{ErrorCode::unsupported, "pcapng version other than 1", body.offset});
  }
  return {};
}

Result<Interface> read_interface(const Body& body) {
  ByteReader reader = body.reader();
  Interface interface;
  interface.link = static_cast<LinkType>(reader.u16());
  reader.skip(2);
  interface.snap_length = reader.u32();
  std::uint8_t resolution = TimeScale::microseconds;
  std::int64_t offset_seconds = 0;
  std::optional<Error> wrong;
  for_each_option(reader, [&](std::uint16_t code, std::span<const std::uint8_t> value, std::uint64_t at) {
    ByteReader option(value, at, body.order);
    if (code == if_tsresol) {
      resolution = option.u8();
    } else if (code == if_tsoffset) {
      offset_seconds = static_cast<std::int64_t>(option.u64());
    }
    if (auto read = option.finish_partial("pcapng time option"); !read) {
      wrong = read.error();
    }
  });
  // A wrong clock is worse than none, so damaged options are not passed over here.
  if (auto read = reader.finish_partial("pcapng interface description"); !read) {
    return std::unexpected(read.error());
  }
  if (wrong) {
    return std::unexpected(*wrong);
  }
  interface.scale = TimeScale(resolution, offset_seconds);
  return interface;
}

Result<Statistics> read_statistics(const Body& body) {
  ByteReader reader = body.reader();
  Statistics statistics;
  statistics.interface = reader.u32();
  reader.skip(8);  // time
  for_each_option(reader, [&](std::uint16_t code, std::span<const std::uint8_t> value, std::uint64_t at) {
    if ((code == isb_ifdrop || code == isb_osdrop) && value.size() == 8) {
      ByteReader option(value, at, body.order);
      statistics.drops = saturating_add(statistics.drops, option.u64());
      (void)option.finish_partial("pcapng drop counter");
    }
  });
  if (auto read = reader.finish_partial("pcapng interface statistics"); !read) {
    return std::unexpected(read.error());
  }
  return statistics;
}

Result<PacketFields> read_enhanced_packet(const Body& body) {
  ByteReader reader = body.reader();
  PacketFields fields;
  fields.interface = reader.u32();
  const std::uint64_t high = reader.u32();
  fields.ticks = (high << 32U) | reader.u32();
  const std::uint32_t captured_length = reader.u32();
  fields.original_length = reader.u32();
  fields.data = reader.take(captured_length);
  if (auto read = reader.finish_partial("pcapng enhanced packet"); !read) {
    return std::unexpected(read.error());
  }
  return fields;
}

Result<PacketFields> read_obsolete_packet(const Body& body) {
  ByteReader reader = body.reader();
  PacketFields fields;
  fields.interface = reader.u16();
  reader.skip(2);  // drops since the packet before: the statistics count them too
  const std::uint64_t high = reader.u32();
  fields.ticks = (high << 32U) | reader.u32();
  const std::uint32_t captured_length = reader.u32();
  fields.original_length = reader.u32();
  fields.data = reader.take(captured_length);
  if (auto read = reader.finish_partial("pcapng packet"); !read) {
    return std::unexpected(read.error());
  }
  return fields;
}

Result<PacketFields> read_simple_packet(const Body& body, std::uint32_t snap_length) {
  ByteReader reader = body.reader();
  PacketFields fields;
  fields.original_length = reader.u32();
  const bool cut = snap_length != 0 && fields.original_length > snap_length;
  fields.data = reader.take(cut ? snap_length : fields.original_length);
  if (auto read = reader.finish_partial("pcapng simple packet"); !read) {
    return std::unexpected(read.error());
  }
  return fields;
}

Result<Secrets> read_secrets(const Body& body) {
  ByteReader reader = body.reader();
  Secrets secrets;
  secrets.type = reader.u32();
  const std::uint32_t length = reader.u32();
  secrets.data = reader.take(length);
  if (auto read = reader.finish_partial("pcapng decryption secrets"); !read) {
    return std::unexpected(read.error());
  }
  return secrets;
}

bool takes_frame_number(BlockType type) {
  switch (type) {
    case BlockType::systemd_journal:
    case BlockType::sysdig_event:
    case BlockType::sysdig_event_v2:
    case BlockType::sysdig_event_v2_large:
    case BlockType::custom:
    case BlockType::custom_not_copied:
      return true;
    default:
      return false;
  }
}

}  // namespace tlstrata::capture::pcapng
