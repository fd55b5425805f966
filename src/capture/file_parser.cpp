#include "capture/file_parser.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace tlstrata::capture {
namespace {

constexpr std::uint32_t pcap_micros = 0xA1B2C3D4;
constexpr std::uint32_t pcap_nanos = 0xA1B23C4D;
constexpr std::uint32_t pcap_modified = 0xA1B2CD34;  // microseconds; records with interface, protocol, packet type
constexpr std::size_t pcap_header_bytes = 24;
constexpr std::size_t magic_bytes = 4;
constexpr std::size_t min_block_bytes = 12;

struct Foreign {
  std::string_view magic;
  const char* what;
};
using namespace std::string_view_literals;
// Files that people take for captures, so that the error can say what they have.
constexpr std::array foreign_files{
    Foreign{"snoop"sv.substr(0, magic_bytes), "a snoop capture, neither pcap nor pcapng"},
    Foreign{"\x1f\x8b"sv, "gzip inside the capture's compression"},
    Foreign{"\x28\xb5\x2f\xfd"sv, "zstd inside the capture's compression"},
    Foreign{"\xfd\x37zX"sv, "a file compressed with xz"},
    Foreign{"BZh"sv, "a file compressed with bzip2"},
    Foreign{"\x04\x22\x4d\x18"sv, "a file compressed with lz4"},
    Foreign{"PK\x03\x04"sv, "a zip archive"},
};

const char* name_foreign(std::span<const std::uint8_t> start) {
  for (const Foreign& foreign : foreign_files) {
    if (std::equal(foreign.magic.begin(), foreign.magic.end(), start.begin(),
                   [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; })) {
      return foreign.what;
    }
  }
  return "not a pcap or pcapng capture";
}

bool is_pcap(std::uint32_t magic) {
  return magic == pcap_micros || magic == pcap_nanos || magic == pcap_modified;
}

// The first `Count` 32-bit words of `bytes`, which has them. The order is a constant here so that each word is one load.
template <ByteOrder Order, std::size_t Count>
std::array<std::uint32_t, Count> words_in(std::span<const std::uint8_t> bytes) {
  ByteReader reader(bytes.first(Count * 4), 0, Order);
  std::array<std::uint32_t, Count> words{};
  for (std::uint32_t& word : words) {
    word = reader.u32();
  }
  (void)reader.finish("32-bit fields");
  return words;
}

template <std::size_t Count>
std::array<std::uint32_t, Count> read_words(std::span<const std::uint8_t> bytes, ByteOrder order) {
  return order == ByteOrder::little ? words_in<ByteOrder::little, Count>(bytes)
                                    : words_in<ByteOrder::big, Count>(bytes);
}

std::uint32_t read_u32(std::span<const std::uint8_t> bytes, ByteOrder order) {
  return read_words<1>(bytes, order)[0];
}

constexpr std::uint64_t round_up_to_4(std::uint64_t length) {
  return (length + 3) & ~std::uint64_t{3};
}

}  // namespace

// Packets of which all is here in one piece: nearly all of a file that was fed whole. They are read with few tests and no
// copies; false: nothing was done, and step() says what there is.
bool FileParser::read_usual() {
  return waiting_ == Waiting::pcap_record ? read_usual_record()
         : waiting_ == Waiting::block     ? read_usual_block()
                                          : false;
}

bool FileParser::read_usual_record() {
  const auto here = window_.in_one_piece();
  if (here.size() < record_head_bytes_ || length_order_ != LengthOrder::captured_first) {
    return false;
  }
  const RecordHead head = read_words<record_words>(here, order_);
  const std::uint32_t captured_length = head[captured_length_word];
  const std::size_t record_bytes = std::size_t{record_head_bytes_} + captured_length;
  if (captured_length > max_packet_bytes || record_bytes > here.size()) {
    return false;
  }
  set_packet(head, here.subspan(record_head_bytes_, captured_length));
  window_.consume_and_fetch(record_bytes);
  return true;
}

// An enhanced packet block.
bool FileParser::read_usual_block() {
  constexpr std::size_t head_bytes = pcapng::block_head_bytes + pcapng::enhanced_head_bytes;
  const auto here = window_.in_one_piece();
  if (here.size() < head_bytes) {
    return false;
  }
  const auto [type, length, interface, high, low, captured_length, original_length] = read_words<7>(here, order_);
  const bool is_whole = type == std::to_underlying(pcapng::BlockType::enhanced_packet) && length % 4 == 0 &&
                        length >= head_bytes + pcapng::block_trailer_bytes && length <= max_packet_bytes &&
                        length <= here.size();
  if (!is_whole || read_u32(here.subspan(length - pcapng::block_trailer_bytes), order_) != length ||
      captured_length > length - head_bytes - pcapng::block_trailer_bytes || interface >= interfaces_.size()) {
    return false;
  }
  set_packet({interface, std::uint64_t{high} << 32U | low, original_length, here.subspan(head_bytes, captured_length)},
             true);
  window_.consume_and_fetch(length);
  return true;
}

Result<const Item*> FileParser::next_step() {
  for (;;) {
    const Result<Step> stepped = step();
    if (!stepped) {
      failure_ = stepped.error();
      waiting_ = Waiting::nowhere;
      return std::unexpected(failure_);
    }
    if (*stepped != Step::again) {
      return *stepped == Step::item ? &item_ : nullptr;
    }
  }
}

Result<FileParser::Step> FileParser::step() {
  switch (waiting_) {
    case Waiting::file_header:
      return read_file_header();
    case Waiting::pcap_record:
      return read_pcap_record();
    case Waiting::block:
      return read_block();
    case Waiting::block_rest:
      return skip_block_rest();
    case Waiting::nowhere:
      break;
  }
  return std::unexpected(failure_);
}

Result<void> FileParser::finish() {
  if (waiting_ == Waiting::nowhere) {
    return std::unexpected(failure_);
  }
  const bool in_file_header = waiting_ == Waiting::file_header || (waiting_ == Waiting::block && !in_section_);
  if (in_file_header && window_.available() == 0) {
    return fail(ErrorCode::truncated, "the file is empty", 0);
  }
  if (in_file_header) {
    return fail(
        ErrorCode::truncated,
        window_.available() < magic_bytes ? "too short for a capture" : "the capture ends inside its file header",
        window_.available());
  }
  counts_.truncated = window_.available() > 0 || waiting_ == Waiting::block_rest;
  return {};
}

std::unexpected<Error> FileParser::fail(ErrorCode code, const char* what, std::uint64_t offset) const {
  return std::unexpected(Error{code, what, offset});
}

Result<FileParser::Step> FileParser::read_file_header() {
  const auto start = window_.peek(magic_bytes);
  if (!start) {
    return Step::need_more;
  }
  const std::uint32_t little = read_u32(*start, ByteOrder::little);
  const std::uint32_t big = read_u32(*start, ByteOrder::big);
  if (is_pcap(little)) {
    return read_pcap_header(little, ByteOrder::little);
  }
  if (is_pcap(big)) {
    return read_pcap_header(big, ByteOrder::big);
  }
  if (big == std::to_underlying(pcapng::BlockType::section_header)) {
    waiting_ = Waiting::block;
    return Step::again;
  }
  return fail(ErrorCode::unsupported, name_foreign(*start), 0);
}

Result<FileParser::Step> FileParser::read_pcap_header(std::uint32_t magic, ByteOrder order) {
  const auto header = window_.peek(pcap_header_bytes);
  if (!header) {
    return Step::need_more;
  }
  ByteReader reader(*header, 0, order);
  reader.skip(magic_bytes);
  const std::uint16_t major = reader.u16();
  const std::uint16_t minor = reader.u16();
  reader.skip(12);  // time zone and accuracy, which nobody writes; snap length, which each record's lengths tell better
  const std::uint32_t network = reader.u32();
  if (auto read = reader.finish("pcap file header"); !read) {
    return std::unexpected(read.error());
  }
  const bool digital_unix = major == 543 && minor == 0;
  if (major != 2 && !digital_unix) {
    return fail(ErrorCode::unsupported, "pcap version other than 2", magic_bytes);
  }
  if (digital_unix || minor < 3) {
    length_order_ = LengthOrder::original_first;
  } else if (minor == 3) {
    length_order_ = LengthOrder::larger_is_original;
  }
  order_ = order;
  nanos_per_fraction_ = magic == pcap_nanos ? 1 : static_cast<std::uint32_t>(nanos_per_microsecond);
  record_head_bytes_ = magic == pcap_modified ? 24 : 16;
  pcap_link_ = static_cast<LinkType>(network & 0xFFFFU);  // above: length of the frame check sequence
  window_.consume(pcap_header_bytes);
  waiting_ = Waiting::pcap_record;
  return Step::again;
}

void FileParser::set_packet(const RecordHead& head, std::span<const std::uint8_t> data) {
  Packet& packet = this->packet();
  const auto [seconds, fraction, captured_length, original_length] = head;
  packet.time_ns = std::min(seconds * nanos_per_second + Nanos{fraction} * nanos_per_fraction_, max_time_ns);
  packet.data = data;
  packet.original_length = original_length;
  packet.link = pcap_link_;
  packet.interface = 0;
  packet.number = ++number_;
  ++counts_.packets;
}

Result<FileParser::Step> FileParser::read_pcap_record() {
  const auto bytes = window_.peek(record_head_bytes_);
  if (!bytes) {
    return Step::need_more;
  }
  RecordHead head = read_words<record_words>(*bytes, order_);
  std::uint32_t& captured_length = head[captured_length_word];
  std::uint32_t& original_length = head[captured_length_word + 1];
  if (length_order_ == LengthOrder::original_first ||
      (length_order_ == LengthOrder::larger_is_original && captured_length > original_length)) {
    std::swap(captured_length, original_length);
  }
  if (captured_length > max_packet_bytes) {
    return fail(ErrorCode::limit, "pcap record longer than any packet: damaged here", window_.offset());
  }
  const std::size_t record_bytes = std::size_t{record_head_bytes_} + captured_length;
  const auto record = window_.peek(record_bytes);
  if (!record) {
    return Step::need_more;
  }
  set_packet(head, record->subspan(record_head_bytes_));
  window_.consume(record_bytes);
  return Step::item;
}

Result<FileParser::Step> FileParser::read_block() {
  using enum pcapng::BlockType;
  const auto start = window_.peek(min_block_bytes);
  if (!start) {
    return Step::need_more;
  }
  auto type = static_cast<pcapng::BlockType>(read_u32(*start, order_));
  if (type == section_header) {
    // Each section has its own byte order, told by the first word of its body.
    const auto magic = start->subspan(pcapng::block_head_bytes);
    if (read_u32(magic, ByteOrder::little) == pcapng::byte_order_magic) {
      order_ = ByteOrder::little;
    } else if (read_u32(magic, ByteOrder::big) == pcapng::byte_order_magic) {
      order_ = ByteOrder::big;
    } else {
      return fail(ErrorCode::malformed, "pcapng section header without byte-order magic", window_.offset());
    }
  }
  const std::uint32_t length = read_u32(start->subspan(4), order_);
  if (length < min_block_bytes) {
    return fail(ErrorCode::malformed, "pcapng block shorter than its own head", window_.offset());
  }
  // Writers that forget to pad state the unpadded length; the next block is aligned all the same.
  const std::uint64_t padded_length = round_up_to_4(length);
  const bool is_packet = type == enhanced_packet || type == packet || type == simple_packet;
  const bool is_structure = type == section_header || type == interface_description || type == interface_statistics;
  if (!is_packet && !is_structure && type != decryption_secrets) {
    rest_type_ = type;
    rest_length_ = length;
    rest_left_ = padded_length - pcapng::block_trailer_bytes;
    waiting_ = Waiting::block_rest;
    return Step::again;
  }
  if (length > (type == decryption_secrets ? max_secrets_bytes : max_packet_bytes)) {
    return fail(ErrorCode::limit, "pcapng block longer than any of its kind: damaged here", window_.offset());
  }
  const auto block = window_.peek(static_cast<std::size_t>(padded_length));
  if (!block) {
    return Step::need_more;
  }
  if (round_up_to_4(read_u32(block->last(pcapng::block_trailer_bytes), order_)) != padded_length) {
    return fail(ErrorCode::malformed, "pcapng block whose two lengths differ", window_.offset());
  }
  const pcapng::Body body{
      block->subspan(pcapng::block_head_bytes, static_cast<std::size_t>(padded_length) - min_block_bytes),
      window_.offset() + pcapng::block_head_bytes, order_};
  window_.consume(static_cast<std::size_t>(padded_length));
  return use_block(type, body);
}

Result<FileParser::Step> FileParser::skip_block_rest() {
  rest_left_ -= window_.discard(rest_left_);
  if (rest_left_ > 0) {
    return Step::need_more;
  }
  const auto trailer = window_.peek(pcapng::block_trailer_bytes);
  if (!trailer) {
    return Step::need_more;
  }
  if (round_up_to_4(read_u32(*trailer, order_)) != round_up_to_4(rest_length_)) {
    return fail(ErrorCode::malformed, "pcapng block whose two lengths differ", window_.offset());
  }
  window_.consume(pcapng::block_trailer_bytes);
  ++counts_.skipped_blocks;
  if (pcapng::takes_frame_number(rest_type_)) {
    ++number_;
  }
  waiting_ = Waiting::block;
  return Step::again;
}

Result<FileParser::Step> FileParser::use_block(pcapng::BlockType type, const pcapng::Body& body) {
  using enum pcapng::BlockType;
  switch (type) {
    case enhanced_packet:
      return yield_packet(pcapng::read_enhanced_packet(body), true);
    case packet:
      return yield_packet(pcapng::read_obsolete_packet(body), true);
    case simple_packet: {
      const std::uint32_t snap_length = interfaces_.empty() ? 0 : interfaces_.front().snap_length;
      return yield_packet(pcapng::read_simple_packet(body, snap_length), false);
    }
    case section_header:
      return begin_section(body);
    case interface_description:
      return add_interface(body);
    case interface_statistics:
      note_statistics(body);
      return Step::again;
    default: {
      const auto secrets = pcapng::read_secrets(body);
      if (!secrets) {
        return std::unexpected(secrets.error());
      }
      ++counts_.secrets;
      item_ = *secrets;
      return Step::item;
    }
  }
}

Result<FileParser::Step> FileParser::begin_section(const pcapng::Body& body) {
  if (auto checked = pcapng::check_section_header(body); !checked) {
    return std::unexpected(checked.error());
  }
  in_section_ = true;
  interfaces_before_ += static_cast<std::uint32_t>(interfaces_.size());
  interfaces_.clear();
  ++counts_.structure_blocks;
  return Step::again;
}

Result<FileParser::Step> FileParser::add_interface(const pcapng::Body& body) {
  const auto interface = pcapng::read_interface(body);
  if (!interface) {
    return std::unexpected(interface.error());
  }
  if (interfaces_.size() == max_interfaces) {
    return fail(ErrorCode::limit, "pcapng section with more than 65536 interfaces", body.offset);
  }
  interfaces_.push_back(*interface);
  ++counts_.structure_blocks;
  return Step::again;
}

void FileParser::note_statistics(const pcapng::Body& body) {
  const auto statistics = pcapng::read_statistics(body);
  if (!statistics || statistics->interface >= interfaces_.size()) {
    ++counts_.skipped_blocks;  // a tale of no interface; no packet depends on it
    return;
  }
  ++counts_.structure_blocks;
  // The counters of an interface are running totals: the latest block replaces those before.
  pcapng::Interface& interface = interfaces_[statistics->interface];
  counts_.reported_drops += statistics->drops - interface.drops;
  interface.drops = statistics->drops;
}

void FileParser::set_packet(const pcapng::PacketFields& fields, bool has_time) {
  Packet& packet = this->packet();
  const pcapng::Interface& interface = interfaces_[fields.interface];
  packet.time_ns = has_time ? interface.scale.to_nanos(fields.ticks) : 0;
  packet.data = fields.data;
  packet.original_length = fields.original_length;
  packet.link = interface.link;
  packet.interface = interfaces_before_ + fields.interface;
  packet.number = ++number_;
  ++counts_.packets;
}

FileParser::Step FileParser::yield_packet(const Result<pcapng::PacketFields>& fields, bool has_time) {
  if (!fields || fields->interface >= interfaces_.size()) {
    ++counts_.damaged_packets;
    return Step::again;
  }
  set_packet(*fields, has_time);
  return Step::item;
}

}  // namespace tlstrata::capture
