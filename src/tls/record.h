// From one direction's ordered stream to TLS records, each with its packets.
//
// In:        chunk(): the stream's next bytes with their stamps; gap(): bytes that the capture lacks. A chunk's bytes
// must
//            hold until settle(), which keeps what is not consumed.
// Out:       next(): the next whole record. A record whose body has a hole is `damaged`; after a hole that hides a
// record
//            header the reader is lost() and yields nothing more.
// Ownership: a record's spans hold until the next call of any function. Memory for records that span chunks is borrowed
//            from the thread's pool and goes back with the record, so that open connections at rest hold none.
// Errors:    malformed where the stream is no TLS from the start or stops being TLS; the reader then yields nothing
// more. Limits:    `buffer_limit` bytes wait for their consumer. Source:    RFC 8446 section 5.1; RFC 5246 section 6.2
// (length bound of protected records); PROXY protocol 2.7.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "tls/types.h"

namespace tlstrata::tls {

// Bytes from `offset` on (to the next mark) came first in packet `first` and were in order at packet `in_order`.
struct Mark {
  std::uint64_t offset = 0;
  Stamp first;
  Stamp in_order;
};

// Where a record's bytes lie in the stream and in which packets.
struct RecordPosition {
  std::uint64_t begin = 0;      // stream offset of the header's first byte
  std::uint64_t end = 0;        // stream offset behind the record's last byte
  std::span<const Mark> marks;  // sorted by offset; the first is at or before `begin`

  // The packet that first carried the byte at this stream offset.
  [[nodiscard]] Stamp first_at(std::uint64_t offset) const;
  // The packet at which the stream had no hole up to and with this byte.
  [[nodiscard]] Stamp in_order_at(std::uint64_t offset) const;
  [[nodiscard]] Stamp first() const { return first_at(begin); }
  [[nodiscard]] Stamp complete() const { return in_order_at(end - 1); }
};

struct Record {
  ContentType type = ContentType::handshake;
  std::uint16_t version = 0;
  std::span<const std::uint8_t> header;  // 5 bytes: the additional data of protected records
  std::span<const std::uint8_t> body;    // empty where skipped
  bool damaged = false;                  // bytes of the body are missing, for `damage`'s reason
  tcp::GapReason damage = tcp::GapReason::none;
  bool skipped = false;  // the body was not kept, as asked
  RecordPosition position;
};

class RecordReader {
 public:
  static constexpr std::size_t header_size = 5;
  static constexpr std::size_t buffer_limit = std::size_t{4} << 20U;

  // A client's stream may begin with a PROXY protocol header, which is skipped.
  explicit RecordReader(Role role) : role_(role) {}
  // As newly made, but with the memory of before.
  void reset(Role role);

  void chunk(std::span<const std::uint8_t> bytes, std::uint64_t offset, Stamp first, Stamp in_order);
  void gap(std::uint64_t offset, std::uint64_t length, tcp::GapReason reason, Stamp stamp);
  Result<std::optional<Record>> next();
  void settle() {
    if (!borrowed_.empty() || consumed_ != 0) {
      settle_bytes();
    }
  }
  // next() has nothing to look at.
  [[nodiscard]] bool idle() const { return view().empty() && skip_until_ == 0 && !lost(); }

  // Bodies of application data records from here on are not needed.
  void skip_application_data(bool skip) { skip_application_data_ = skip; }

  [[nodiscard]] bool lost() const { return lost_ != tcp::GapReason::none; }
  [[nodiscard]] tcp::GapReason lost_reason() const { return lost_; }
  // Bytes of a record that is not whole wait here.
  [[nodiscard]] bool in_record() const { return !view().empty() || skip_until_ != 0; }
  [[nodiscard]] std::size_t waiting_bytes() const { return view().size(); }
  // The first bytes of a stream that is no TLS, for telling what it is.
  [[nodiscard]] std::span<const std::uint8_t> waiting() const { return view(); }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  [[nodiscard]] std::span<const std::uint8_t> view() const {
    const std::span<const std::uint8_t> all = buffer_.empty() ? borrowed_ : std::span<const std::uint8_t>(buffer_);
    return all.subspan(consumed_);
  }
  void settle_bytes();
  void consume(std::size_t count);
  void keep(std::span<const std::uint8_t> bytes);
  [[nodiscard]] bool read_proxy_header();
  std::optional<Record> finish_skipped();
  [[nodiscard]] std::uint64_t view_offset() const { return view_offset_; }

  Role role_;
  bool at_start_ = true;
  bool proxy_header_read_ = false;  // there is at most one
  bool failed_ = false;
  bool skip_application_data_ = false;
  tcp::GapReason damage_ = tcp::GapReason::none;  // the record that is being gathered has a hole
  tcp::GapReason lost_ = tcp::GapReason::none;
  std::vector<std::uint8_t> buffer_;
  std::size_t consumed_ = 0;  // of buffer_, or of borrowed_
  std::span<const std::uint8_t> borrowed_;
  std::uint64_t view_offset_ = 0;  // stream offset of view()'s first byte
  std::vector<Mark> marks_;
  std::uint64_t skip_until_ = 0;  // a record whose body is skipped ends here; 0: none
  std::array<std::uint8_t, header_size> skipped_header_{};
  std::uint64_t skip_begin_ = 0;
  std::vector<Mark> skip_marks_;
  std::uint64_t records_ = 0;
};

}  // namespace tlstrata::tls
