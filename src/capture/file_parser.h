// Bytes of a pcap or pcapng file to timed packets and the secrets that travel with them.
//
// In:        the file's bytes in chunks of any size, by feed(). Each chunk must hold until next() has asked for more; a
//            whole file fed at once is never copied.
// Out:       next(): an Item, null (feed more, or finish() where there is no more), or an Error. Any chunking of the same
//            bytes yields the same items, counts and errors.
// Units:     nanoseconds since the Unix epoch, bytes.
// Ownership: the Item and its spans hold until the next call of next() or feed(); spans that lie in a fed chunk (all of
//            them where the file was fed whole) as long as the chunk.
// Errors:    unsupported: no pcap or pcapng; malformed, limit: the bytes contradict the format, and what follows can't
//            be found. Items before the error stand. An error is final: next() repeats it. A packet whose block is
//            whole but contradicts itself is counted and passed over; a file cut in mid-record is no error but
//            counts().truncated.
// Threads:   one.
// Source:    draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng; the order of a packet's two lengths before version 2.4
//            and the 24-byte record of magic 0xa1b2cd34: as libpcap reads them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "base/byte_reader.h"
#include "base/result.h"
#include "capture/input_window.h"
#include "capture/pcapng.h"
#include "capture/types.h"

namespace tlstrata::capture {

class FileParser {
 public:
  // A packet record or block longer than this is an Error (limit): it is damage, not a packet.
  static constexpr std::uint32_t max_packet_bytes = 16U << 20U;
  // The same for Decryption Secrets Blocks, which hold the key log of a whole capture.
  static constexpr std::uint32_t max_secrets_bytes = 256U << 20U;
  // Interfaces of one section.
  static constexpr std::size_t max_interfaces = 65'536;

  void feed(std::span<const std::uint8_t> chunk) { window_.feed(chunk); }
  [[nodiscard]] Result<const Item*> next() { return read_usual() ? Result<const Item*>(&item_) : next_step(); }

  // The input is over. To be called once next() has returned null.
  [[nodiscard]] Result<void> finish();

  [[nodiscard]] const FileCounts& counts() const { return counts_; }
  // Bytes of the input that are behind the parser.
  [[nodiscard]] std::uint64_t offset() const { return window_.offset(); }

 private:
  // What the next bytes of the input are.
  //
  //   file_header --pcap magic--> pcap_record --> pcap_record ...
  //        |
  //        +--section header--> block --known type--> block ...
  //                               +--other type--> block_rest --> block ...
  //   any --Error--> nowhere
  enum class Waiting : std::uint8_t { file_header, pcap_record, block, block_rest, nowhere };
  // What a step came to; `again`: bytes were used up, but yield no item.
  enum class Step : std::uint8_t { item, again, need_more };
  // Which of a pcap record's two lengths comes first.
  enum class LengthOrder : std::uint8_t { captured_first, original_first, larger_is_original };

  // Of a pcap record: seconds, fraction, captured length, original length.
  static constexpr std::size_t record_words = 4;
  static constexpr std::size_t captured_length_word = 2;
  using RecordHead = std::array<std::uint32_t, record_words>;

  bool read_usual();
  bool read_usual_record();
  bool read_usual_block();
  Result<const Item*> next_step();
  Result<Step> step();
  Result<Step> read_file_header();
  Result<Step> read_pcap_header(std::uint32_t magic, ByteOrder order);
  Result<Step> read_pcap_record();
  Result<Step> read_block();
  Result<Step> skip_block_rest();
  Result<Step> use_block(pcapng::BlockType type, const pcapng::Body& body);
  Result<Step> begin_section(const pcapng::Body& body);
  Result<Step> add_interface(const pcapng::Body& body);
  void note_statistics(const pcapng::Body& body);
  Step yield_packet(const Result<pcapng::PacketFields>& fields, bool has_time);
  void set_packet(const RecordHead& head, std::span<const std::uint8_t> data);
  void set_packet(const pcapng::PacketFields& fields, bool has_time);
  // Where the next packet is written; nearly always, a packet stands there already.
  Packet& packet() {
    auto* const packet = std::get_if<Packet>(&item_);
    return packet != nullptr ? *packet : item_.emplace<Packet>();
  }
  std::unexpected<Error> fail(ErrorCode code, const char* what, std::uint64_t offset) const;

  InputWindow window_;
  Item item_;  // the latest
  Waiting waiting_ = Waiting::file_header;
  Error failure_;  // while waiting for nothing
  FileCounts counts_;
  std::uint64_t number_ = 0;  // frame numbers given
  ByteOrder order_ = ByteOrder::little;

  // pcap
  LinkType pcap_link_ = LinkType::ethernet;
  LengthOrder length_order_ = LengthOrder::captured_first;
  std::uint32_t record_head_bytes_ = 16;
  std::uint32_t nanos_per_fraction_ = 1;

  // pcapng
  bool in_section_ = false;
  std::vector<pcapng::Interface> interfaces_;  // of the section
  std::uint32_t interfaces_before_ = 0;        // of the sections before
  pcapng::BlockType rest_type_{};              // block_rest: of the block being passed over,
  std::uint32_t rest_length_ = 0;              //   its total length,
  std::uint64_t rest_left_ = 0;                //   and what is left of it before its trailing length
};

}  // namespace tlstrata::capture
