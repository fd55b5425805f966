// Where a server's bytes waited for an acknowledgment: it had sent all that its window let it.
//
// In:        a connection's SYN and SYN-ACK, then in the capture's order what the server sends and the client acknowledges.
// Out:       true for the segment that ends a stall.
// Units:     nanoseconds; offsets of the server's stream. An absent time is `unknown`.
// Ownership: plain numbers, the same few for each connection.
// Errors:    none: a connection without SYN, SYN-ACK and the client's acknowledgment of it has no stalls that could be told.
// Limits:    looks at the server's first `most_bytes`, which every handshake fits.
// Source:    docs/measurement.md, "Flights and stalls". RFC 6928 (initial window), RFC 5681 section 3.1 (slow start).
#pragma once

#include <algorithm>
#include <cstdint>

#include "tcp/frame.h"
#include "tcp/types.h"

namespace tlstrata::tcp {

class Rounds {
 public:
  static constexpr std::uint64_t most_bytes = std::uint64_t{256} << 10U;

  // Each copy of the client's SYN and of the server's SYN-ACK.
  void syn(const Segment& segment, Nanos time_ns);
  void syn_ack(const Segment& segment, Side server, Nanos time_ns);

  // False: nothing that comes can end a stall, or begin to be watched.
  [[nodiscard]] bool watches() const { return phase_ == Phase::answered || phase_ == Phase::open; }
  // What stalls are told by was captured: TCP's handshake, and the server's bytes being acknowledged.
  [[nodiscard]] bool sees() const { return saw_acknowledgment_; }
  [[nodiscard]] Side server() const { return server_; }
  // The client acknowledged the server's stream up to this offset.
  void acknowledged(std::uint64_t offset, Nanos time_ns) {
    if (phase_ == Phase::answered) {
      begin(time_ns);
    }
    if (offset > round_begin_ && first_acknowledgment_ns_ == unknown) {
      first_acknowledgment_ns_ = time_ns;
      saw_acknowledgment_ = true;
    }
  }
  // The client sent bytes from this offset of its stream on; the server acknowledged the client's stream up to there. One
  // sample more of the way to the server and back: the SYN's alone may have waited for a listener that was busy.
  void asked(std::uint64_t offset, Nanos time_ns) {
    if (asked_ns_ == unknown) {
      asked_ns_ = time_ns;
      asked_offset_ = offset;
    }
  }
  void answered(std::uint64_t offset, Nanos time_ns) {
    if (asked_ns_ != unknown && !saw_answer_ && offset > asked_offset_) {
      saw_answer_ = true;
      server_loop_ns_ = std::clamp<Nanos>(time_ns - asked_ns_, 0, server_loop_ns_);
    }
  }
  // The server sent so many bytes from this offset on. True: bytes of it waited; last_before() tells since when.
  bool sent(std::uint64_t offset, std::uint32_t length, Stamp stamp) {
    if (offset + length <= reached_ || phase_ != Phase::open) {
      return false;
    }
    const bool waited = first_acknowledgment_ns_ != unknown && ends_round(length, stamp.time_ns);
    if (waited) {
      last_before_ = last_;
    }
    note(offset + length, length, stamp);
    return waited;
  }
  // The server's last segment before the one that ended the stall.
  [[nodiscard]] Stamp last_before() const { return last_before_; }

  // From the capture point to this side and back; `unknown` where the capture does not show it.
  [[nodiscard]] Nanos loop_ns(Side side) const { return side == server_ ? server_loop_ns_ : client_loop_ns_; }

  static constexpr Nanos unknown = -1;
  static constexpr Nanos least_ns = 200'000;  // below it a machine's own delays look like a path's

 private:
  enum class Phase : std::uint8_t { closed, asked, answered, open, done };

  void begin(Nanos time_ns);
  bool ends_round(std::uint32_t length, Nanos time_ns);
  [[nodiscard]] bool window_was_full(std::uint32_t length) const;
  [[nodiscard]] std::uint32_t segments_of(std::uint32_t length) const {
    return length <= segment_bytes_ ? 1 : (length + segment_bytes_ - 1) / segment_bytes_;
  }
  [[nodiscard]] bool is_full(std::uint32_t length) const {
    return length >= segment_bytes_ && length % segment_bytes_ == 0;
  }
  void note(std::uint64_t end, std::uint32_t length, Stamp stamp) {
    reached_ = end;
    segments_ += segments_of(length);
    last_full_ = is_full(length);
    last_ = stamp;
    if (end > most_bytes) {
      phase_ = Phase::done;
    }
  }

  Phase phase_ = Phase::closed;
  Side server_ = Side::b;
  bool last_full_ = false;
  bool saw_acknowledgment_ = false;  // of the server's payload
  bool saw_answer_ = false;          // to the client's first bytes
  std::uint16_t segment_bytes_ = 0;  // payload of a full segment, as both SYNs allow it
  Nanos syn_ns_ = unknown;           // newest copy before the SYN-ACK
  Nanos syn_ack_ns_ = unknown;       // newest copy before the client's answer
  Nanos server_loop_ns_ = unknown;
  Nanos asked_ns_ = unknown;  // the client's first bytes
  std::uint64_t asked_offset_ = 0;
  Nanos client_loop_ns_ = unknown;
  // The round: what the server sent since a stall, or an acknowledgment that no stall waited for, ended.
  std::uint64_t round_begin_ = 0;
  std::uint64_t reached_ = 0;  // behind the last byte that was sent
  std::uint32_t segments_ = 0;
  Nanos first_acknowledgment_ns_ = unknown;  // of bytes of the round
  Stamp last_;                               // the newest segment with new bytes
  Stamp last_before_;
};

}  // namespace tlstrata::tcp
