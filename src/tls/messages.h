// From record contents to handshake messages, coalesced and fragmented as they come.
//
// In:        contents of handshake records of one direction under one key, with their positions.
// Out:       next(): whole messages with their first and completing packets.
// Ownership: a message's body holds until the next call of any function. Contents are borrowed: settle(), before they go,
//            copies what no whole message used.
// Errors:    limit for a message of more than `longest_message` bytes or `most_records` records.
// Source:    RFC 8446 sections 4 and 5.1. Which packet counts: design of the layers, see docs/measurement.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "tls/record.h"
#include "tls/types.h"

namespace tlstrata::tls {

struct Message {
  HandshakeType type = HandshakeType::finished;
  std::span<const std::uint8_t> body;
  std::uint32_t size = 0;          // with the 4-byte header
  Stamp first;                     // the packet that first carried its first byte
  Stamp complete;                  // encrypted: with its last record's last byte; in plaintext: with its own last byte
  std::uint64_t record_begin = 0;  // stream offset of the first record's header
  std::uint64_t record_end = 0;    // stream offset behind the last record
};

class MessageReader {
 public:
  static constexpr std::size_t longest_message = std::size_t{1} << 20U;
  static constexpr std::size_t most_records = std::size_t{1} << 14U;

  // `record_offset`: where the content's first byte lies within the record, header included. `encrypted` messages are
  // as whole as their record.
  void feed(std::span<const std::uint8_t> content, const RecordPosition& position, std::uint32_t record_offset,
            bool encrypted);
  Result<std::optional<Message>> next();
  void settle() {
    if (!borrowed_.empty() || consumed_ != 0) {
      settle_contents();
    }
  }
  // Keys change: a message never spans the change, so what is left is dropped (and was malformed).
  void reset();
  [[nodiscard]] bool in_message() const { return view().size() > consumed_; }
  [[nodiscard]] bool empty() const { return !in_message(); }

 private:
  // Where content from `begin` (to the next part) came from.
  struct Part {
    std::size_t begin = 0;            // of view()
    std::uint64_t stream_offset = 0;  // of the byte at `begin`
    std::uint64_t record_begin = 0;
    std::uint64_t record_end = 0;
    bool encrypted = false;
    bool starts_record = false;  // `begin` is the record's first content byte
    std::span<const Mark> marks;
    std::vector<Mark> own_marks;  // what `marks` points to, once settled
  };

  // Either a record's content that was borrowed whole or the bytes of a message that came in several.
  [[nodiscard]] std::span<const std::uint8_t> view() const {
    return borrowed_.empty() ? std::span<const std::uint8_t>(buffer_) : borrowed_;
  }
  [[nodiscard]] const Part& part_of(std::size_t position) const;
  void settle_contents();
  static void own(Part& part);
  void drop_parts();

  std::span<const std::uint8_t> borrowed_;
  std::vector<std::uint8_t> buffer_;
  std::size_t consumed_ = 0;  // of view()
  std::vector<Part> parts_;
};

}  // namespace tlstrata::tls
