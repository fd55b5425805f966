// One direction of a connection: from segments in any order to the ordered stream, each byte with its packet.
//
// In:        segments' payloads with their sequence numbers and stamps, the peer's acknowledgments.
// Out:       Pieces in stream order: bytes, gaps, the FIN. The first copy of a byte wins; a later copy only fills
//            holes. Ownership: bytes that come in order point into the packet; held ones into the stream until the next
//            call of add() or release().
// Errors:    none; bytes outside the plausible window are counted and ignored.
// Limits:    `hold_limit` bytes wait for a hole; beyond it the hole is declared a gap. A hole that the peer has
//            acknowledged can't be filled by a retransmission, so it waits less.
// Source:    RFC 9293 sections 3.4 (sequence numbers) and 3.10.7.4 (segments).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tcp/types.h"

namespace tlstrata::tcp {

struct Piece {
  enum class Kind : std::uint8_t { bytes, gap, fin };
  Kind kind = Kind::bytes;
  GapReason gap = GapReason::none;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  std::span<const std::uint8_t> bytes;
  Stamp first;
  Stamp in_order;
};

class Stream {
 public:
  static constexpr std::size_t hold_limit = std::size_t{16} << 20U;
  static constexpr std::size_t hold_limit_acknowledged = std::size_t{256} << 10U;

  // The sequence number of stream offset 0; only the first call counts.
  void set_base(std::uint32_t sequence) {
    if (!has_base_) {
      has_base_ = true;
      base_ = sequence;
    }
  }
  [[nodiscard]] bool has_base() const { return has_base_; }
  [[nodiscard]] bool starts_at(std::uint32_t sequence) const { return has_base_ && base_ == sequence; }

  // The usual segment: wholly captured, it starts at the next byte (delivered()), and nothing waits. All its bytes are
  // deliverable as they are. False: nothing was done, it is a case for add().
  bool add_in_order(std::uint32_t sequence, std::size_t captured, std::uint32_t length) {
    if (sequence != static_cast<std::uint32_t>(base_ + next_) || captured != length || !has_base_ || waiting_ ||
        fin_offset_) {
      return false;
    }
    ++traffic.packets;
    traffic.payload_bytes += length;
    next_ += length;
    return true;
  }
  // A segment's payload: `bytes` of `length` were captured. `pieces` gets what became deliverable.
  void add(std::uint32_t sequence, std::span<const std::uint8_t> bytes, std::uint32_t length, bool fin, Stamp stamp,
           std::vector<Piece>& pieces);
  // The peer acknowledged up to `sequence`.
  void acknowledge(std::uint32_t sequence) {
    if (has_base_) {
      const std::int64_t offset = offset_of(sequence);
      if (offset > static_cast<std::int64_t>(acknowledged_) && offset - static_cast<std::int64_t>(next_) < window) {
        acknowledged_ = static_cast<std::uint64_t>(offset);
      }
    }
  }
  // Declares all holes gaps and delivers the rest: the connection is over. With `only_acknowledged`, stops at the first
  // hole that the peer had not acknowledged: those bytes never arrived.
  void release(bool only_acknowledged, Stamp stamp, std::vector<Piece>& pieces);

  // True where a RST with this sequence number can belong to the stream.
  [[nodiscard]] bool plausible(std::uint32_t sequence) const;
  // Of a plausible RST: true where it is the next byte for the sender or the receiver as captured, as a receiver demands (RFC 5961
  // section 3.2). Else it is forged, or comes behind bytes that the capture lacks.
  [[nodiscard]] bool resets(std::uint32_t sequence) const;

  [[nodiscard]] bool finished() const { return fin_delivered_; }
  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  // When the capture first had bytes behind the hole that a segment with this sequence number would fill; absent: no hole.
  [[nodiscard]] std::optional<Nanos> hole_since(std::uint32_t sequence) const;
  // The stream offset of a sequence number near the expected one.
  [[nodiscard]] std::uint64_t offset_at(std::uint32_t sequence) const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(offset_of(sequence), 0));
  }
  // What waits for holes costs so much memory.
  [[nodiscard]] std::size_t held_bytes() const { return waiting_ ? waiting_->cost : 0; }
  [[nodiscard]] std::uint64_t delivered() const { return next_; }
  [[nodiscard]] std::uint64_t ignored_bytes() const { return ignored_bytes_; }
  Traffic traffic;

 private:
  // Waits for a hole before it to be filled. A segment that the snap length cut is two entries, the second without bytes.
  struct Held {
    std::uint64_t length = 0;
    std::vector<std::uint8_t> bytes;  // empty: cut by the snap length
    Stamp stamp;
  };
  using HeldByOffset = std::map<std::uint64_t, Held>;
  // There only while something waits or was just delivered: most streams never need it.
  struct Waiting {
    HeldByOffset held;                               // disjoint, all beyond next_
    std::vector<std::vector<std::uint8_t>> drained;  // keeps the bytes of delivered pieces alive
    std::size_t cost = 0;                            // of `held`
  };
  // What an entry costs beside its bytes: so many tiny segments are bounded too.
  static constexpr std::size_t entry_cost = 128;
  // Farther than this from the expected byte is no segment of this stream (the largest window is 1 GiB; RFC 7323).
  static constexpr std::int64_t window = std::int64_t{1} << 30U;

  // Unwraps a 32-bit sequence number around the next expected byte.
  [[nodiscard]] std::int64_t offset_of(std::uint32_t sequence) const {
    const auto expected = static_cast<std::uint32_t>(base_ + next_);
    return static_cast<std::int64_t>(next_) + static_cast<std::int32_t>(sequence - expected);
  }
  [[nodiscard]] bool holds() const { return waiting_ && !waiting_->held.empty(); }
  void drop_delivered();
  void place(std::uint64_t offset, std::span<const std::uint8_t> bytes, std::uint64_t length, Stamp stamp,
             std::vector<Piece>& pieces);
  void hold(std::uint64_t offset, std::span<const std::uint8_t> bytes, std::uint64_t length, Stamp stamp);
  void keep(HeldByOffset::iterator before, std::uint64_t offset, std::uint64_t length,
            std::span<const std::uint8_t> bytes, Stamp stamp);
  void drain(Stamp stamp, std::vector<Piece>& pieces);
  void declare_gap(GapReason reason, Stamp stamp, std::vector<Piece>& pieces);
  void deliver_fin(Stamp stamp, std::vector<Piece>& pieces);
  [[nodiscard]] std::uint64_t reached() const;
  [[nodiscard]] std::uint64_t already_captured(std::uint64_t begin, std::uint64_t end) const;

  bool has_base_ = false;
  bool fin_delivered_ = false;
  std::uint32_t base_ = 0;
  std::uint64_t next_ = 0;          // offset of the first byte not yet delivered
  std::uint64_t acknowledged_ = 0;  // highest offset that the peer acknowledged
  std::optional<std::uint64_t> fin_offset_;
  Stamp fin_stamp_;
  std::unique_ptr<Waiting> waiting_;
  std::uint64_t ignored_bytes_ = 0;
};

}  // namespace tlstrata::tcp
