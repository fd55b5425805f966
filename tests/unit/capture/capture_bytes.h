// Captures built byte by byte, so that the tests owe nothing to the writer that they test the reader against.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/byte_reader.h"
#include "capture/file_parser.h"

namespace tlstrata::capture::test {

using Bytes = std::vector<std::uint8_t>;

// Integers of one byte order, one after the other.
class Maker {
 public:
  explicit Maker(ByteOrder order = ByteOrder::little) : order_(order) {}

  Maker& u16(std::uint32_t value) { return integer(value, 2); }
  Maker& u32(std::uint64_t value) { return integer(value, 4); }
  Maker& u64(std::uint64_t value) { return integer(value, 8); }
  Maker& raw(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Maker& zeros(std::size_t count) {
    bytes_.insert(bytes_.end(), count, 0);
    return *this;
  }
  Maker& pad() { return zeros((4 - bytes_.size() % 4) % 4); }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] ByteOrder order() const { return order_; }

 private:
  Maker& integer(std::uint64_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t shift = 8 * (order_ == ByteOrder::little ? i : count - 1 - i);
      bytes_.push_back(static_cast<std::uint8_t>(value >> shift));
    }
    return *this;
  }

  ByteOrder order_;
  Bytes bytes_;
};

inline Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline Bytes from_text(std::string_view text) {
  return {text.begin(), text.end()};
}

// `count` bytes that differ from packet to packet.
inline Bytes payload(std::size_t count, std::uint8_t first) {
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bytes[i] = static_cast<std::uint8_t>(first + i);
  }
  return bytes;
}

// --- pcap

inline constexpr std::uint32_t micro_magic = 0xA1B2C3D4;
inline constexpr std::uint32_t nano_magic = 0xA1B23C4D;
inline constexpr std::uint32_t modified_magic = 0xA1B2CD34;

struct PcapHeader {
  std::uint32_t magic = micro_magic;
  std::uint16_t major = 2;
  std::uint16_t minor = 4;
  std::uint32_t network = 1;
};

inline Bytes pcap_header(ByteOrder order, const PcapHeader& header) {
  return Maker(order)
      .u32(header.magic)
      .u16(header.major)
      .u16(header.minor)
      .u64(0)
      .u32(65'535)
      .u32(header.network)
      .bytes();
}

inline Bytes pcap_record(ByteOrder order, std::uint32_t seconds, std::uint32_t fraction, std::uint32_t first_length,
                         std::uint32_t second_length, const Bytes& data, std::size_t extra = 0) {
  return Maker(order).u32(seconds).u32(fraction).u32(first_length).u32(second_length).zeros(extra).raw(data).bytes();
}

// --- pcapng

inline Bytes block(ByteOrder order, std::uint32_t type, const Bytes& body) {
  Maker maker(order);
  const Bytes padded = Maker().raw(body).pad().bytes();
  maker.u32(type).u32(padded.size() + 12).raw(padded).u32(padded.size() + 12);
  return maker.bytes();
}

inline Bytes section(ByteOrder order, std::uint16_t major = 1) {
  return block(order, 0x0A0D0D0A, Maker(order).u32(0x1A2B3C4D).u16(major).u16(0).u64(~std::uint64_t{0}).bytes());
}

inline Bytes option(ByteOrder order, std::uint16_t code, const Bytes& value) {
  return Maker(order).u16(code).u16(static_cast<std::uint32_t>(value.size())).raw(value).pad().bytes();
}

inline Bytes tsresol(ByteOrder order, std::uint8_t resolution) {
  return option(order, 9, {resolution});
}
inline Bytes tsoffset(ByteOrder order, std::int64_t seconds) {
  return option(order, 14, Maker(order).u64(static_cast<std::uint64_t>(seconds)).bytes());
}

inline Bytes interface(ByteOrder order, std::uint16_t link = 1, std::uint32_t snap_length = 0,
                       const Bytes& options = {}) {
  return block(order, 1, Maker(order).u16(link).u16(0).u32(snap_length).raw(options).bytes());
}

inline Bytes enhanced(ByteOrder order, std::uint32_t interface, std::uint64_t ticks, const Bytes& data,
                      std::uint32_t captured_length, std::uint32_t original_length) {
  return block(order, 6,
               Maker(order)
                   .u32(interface)
                   .u32(ticks >> 32U)
                   .u32(ticks)
                   .u32(captured_length)
                   .u32(original_length)
                   .raw(data)
                   .bytes());
}

inline Bytes enhanced(ByteOrder order, std::uint32_t interface, std::uint64_t ticks, const Bytes& data) {
  const auto length = static_cast<std::uint32_t>(data.size());
  return enhanced(order, interface, ticks, data, length, length);
}

inline Bytes simple(ByteOrder order, std::uint32_t original_length, const Bytes& data) {
  return block(order, 3, Maker(order).u32(original_length).raw(data).bytes());
}

inline Bytes obsolete(ByteOrder order, std::uint16_t interface, std::uint64_t ticks, const Bytes& data) {
  return block(order, 2,
               Maker(order)
                   .u16(interface)
                   .u16(0xFFFF)
                   .u32(ticks >> 32U)
                   .u32(ticks)
                   .u32(data.size())
                   .u32(data.size())
                   .raw(data)
                   .bytes());
}

inline Bytes secrets(ByteOrder order, const Bytes& key_log, std::uint32_t type = 0x544C534B) {
  return block(order, 10, Maker(order).u32(type).u32(key_log.size()).raw(key_log).bytes());
}

inline Bytes statistics(ByteOrder order, std::uint32_t interface, std::uint64_t by_interface, std::uint64_t by_system) {
  return block(order, 5,
               Maker(order)
                   .u32(interface)
                   .u64(0)
                   .raw(option(order, 5, Maker(order).u64(by_interface).bytes()))
                   .raw(option(order, 7, Maker(order).u64(by_system).bytes()))
                   .u32(0)
                   .bytes());
}

// --- what came out

// A Packet or Secrets with bytes of its own, so that it can be kept.
struct Seen {
  bool is_secrets = false;
  Nanos time_ns = 0;
  Bytes data;
  std::uint32_t original_length = 0;
  std::uint32_t link = 0;  // of Secrets: their type
  std::uint32_t interface = 0;
  std::uint64_t number = 0;

  friend bool operator==(const Seen&, const Seen&) = default;
};

inline Seen keep(const Item& item) {
  Seen seen;
  if (const auto* packet = std::get_if<Packet>(&item)) {
    seen.time_ns = packet->time_ns;
    seen.data.assign(packet->data.begin(), packet->data.end());
    seen.original_length = packet->original_length;
    seen.link = static_cast<std::uint32_t>(packet->link);
    seen.interface = packet->interface;
    seen.number = packet->number;
  } else {
    const auto& found = std::get<Secrets>(item);
    seen.is_secrets = true;
    seen.link = found.type;
    seen.data.assign(found.data.begin(), found.data.end());
  }
  return seen;
}

struct Outcome {
  std::vector<Seen> items;
  FileCounts counts;
  bool failed = false;
  Error error;
};

// Feeds pieces whose sizes `next_size` gives, each from a buffer that is gone once it is used up.
template <typename NextSize>
Outcome parse_in_pieces(std::span<const std::uint8_t> bytes, NextSize next_size) {
  FileParser parser;
  Outcome outcome;
  const auto drain = [&] {
    for (;;) {
      const auto item = parser.next();
      if (!item) {
        outcome.failed = true;
        outcome.error = item.error();
        return;
      }
      if (!*item) {
        return;
      }
      outcome.items.push_back(keep(**item));
    }
  };
  Bytes piece;
  while (!bytes.empty() && !outcome.failed) {
    const std::size_t size = std::min<std::size_t>(next_size(), bytes.size());
    piece.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    bytes = bytes.subspan(size);
    parser.feed(piece);
    drain();
    std::fill(piece.begin(), piece.end(), std::uint8_t{0xEE});
  }
  if (!outcome.failed) {
    if (const auto finished = parser.finish(); !finished) {
      outcome.failed = true;
      outcome.error = finished.error();
    }
  }
  outcome.counts = parser.counts();
  return outcome;
}

inline Outcome parse(std::span<const std::uint8_t> bytes) {
  return parse_in_pieces(bytes, [&] { return bytes.size(); });
}

}  // namespace tlstrata::capture::test
