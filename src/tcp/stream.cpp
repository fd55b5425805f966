#include "tcp/stream.h"

#include <algorithm>
#include <iterator>

namespace tlstrata::tcp {

bool Stream::plausible(std::uint32_t sequence) const {
  if (!has_base_) {
    return true;
  }
  const std::int64_t distance = offset_of(sequence) - static_cast<std::int64_t>(next_);
  return distance >= -1 && distance < window;
}

bool Stream::resets(std::uint32_t sequence) const {
  if (!has_base_) {
    return true;
  }
  const std::int64_t offset = offset_of(sequence);
  constexpr std::int64_t fin = 1;  // has a number of its own
  return offset + fin >= static_cast<std::int64_t>(std::min(acknowledged_, next_)) &&
         offset <= static_cast<std::int64_t>(std::max(acknowledged_, reached())) + fin;
}

// Behind the last byte that was seen, in order or not.
std::uint64_t Stream::reached() const {
  return holds() ? waiting_->held.rbegin()->first + waiting_->held.rbegin()->second.length : next_;
}

std::optional<Nanos> Stream::hole_since(std::uint32_t sequence) const {
  if (!has_base_ || !holds()) {
    return std::nullopt;
  }
  const auto behind = waiting_->held.upper_bound(offset_at(sequence));
  return behind == waiting_->held.end() ? std::nullopt : std::optional(behind->second.stamp.time_ns);
}

std::uint64_t Stream::already_captured(std::uint64_t begin, std::uint64_t end) const {
  std::uint64_t seen = begin < next_ ? std::min(end, next_) - begin : 0;
  if (!holds()) {
    return seen;
  }
  const HeldByOffset& held = waiting_->held;
  auto each = held.upper_bound(begin);
  if (each != held.begin()) {
    --each;  // may begin before and reach into it
  }
  for (; each != held.end() && each->first < end; ++each) {
    const std::uint64_t from = std::max(begin, each->first);
    const std::uint64_t to = std::min(end, each->first + each->second.length);
    seen += from < to ? to - from : 0;
  }
  return seen;
}

// Nobody looks at the bytes of earlier pieces any more.
void Stream::drop_delivered() {
  if (waiting_) {
    waiting_->drained.clear();
    if (waiting_->held.empty()) {
      waiting_.reset();
    }
  }
}

void Stream::add(std::uint32_t sequence, std::span<const std::uint8_t> bytes, std::uint32_t length, bool fin,
                 Stamp stamp, std::vector<Piece>& pieces) {
  drop_delivered();
  ++traffic.packets;
  traffic.payload_bytes += length;
  set_base(sequence);
  const std::int64_t begin = offset_of(sequence);
  const std::int64_t distance = begin - static_cast<std::int64_t>(next_);
  if (distance > window || distance < -window) {
    ignored_bytes_ += length;
    return;
  }
  if (fin && !fin_offset_ && begin + length >= static_cast<std::int64_t>(reached())) {  // else forged: bytes follow it
    fin_offset_ = static_cast<std::uint64_t>(begin + length);
    fin_stamp_ = stamp;
  }
  if (fin_offset_) {  // nothing is sent behind a FIN
    const std::int64_t left = std::max<std::int64_t>(static_cast<std::int64_t>(*fin_offset_) - begin, 0);
    const auto kept = static_cast<std::uint32_t>(std::min<std::int64_t>(length, left));
    ignored_bytes_ += length - kept;
    length = kept;
    bytes = bytes.first(std::min<std::size_t>(bytes.size(), kept));
  }
  const std::int64_t end = begin + length;
  if (length != 0) {
    const auto from = static_cast<std::uint64_t>(std::max<std::int64_t>(begin, 0));
    if (end > static_cast<std::int64_t>(from)) {
      traffic.retransmitted_bytes += already_captured(from, static_cast<std::uint64_t>(end));
    }
  }
  if (end > static_cast<std::int64_t>(next_)) {
    const std::uint64_t skip = begin < static_cast<std::int64_t>(next_) ? next_ - static_cast<std::uint64_t>(begin) : 0;
    const auto from = static_cast<std::uint64_t>(begin + static_cast<std::int64_t>(skip));
    place(from, bytes.subspan(std::min<std::size_t>(skip, bytes.size())), length - skip, stamp, pieces);
  }
  deliver_fin(stamp, pieces);
}

// `offset` is at or beyond next_.
void Stream::place(std::uint64_t offset, std::span<const std::uint8_t> bytes, std::uint64_t length, Stamp stamp,
                   std::vector<Piece>& pieces) {
  if (offset == next_ && !holds()) {
    if (!bytes.empty()) {
      pieces.push_back({Piece::Kind::bytes, GapReason::none, offset, bytes.size(), bytes, stamp, stamp});
    }
    if (bytes.size() < length) {
      pieces.push_back(
          {Piece::Kind::gap, GapReason::snap_length, offset + bytes.size(), length - bytes.size(), {}, stamp, stamp});
    }
    next_ = offset + length;
    return;
  }
  hold(offset, bytes, length, stamp);
  drain(stamp, pieces);
  while (holds() && waiting_->cost > (acknowledged_ > next_ && acknowledged_ >= waiting_->held.begin()->first
                                          ? hold_limit_acknowledged
                                          : hold_limit)) {
    declare_gap(GapReason::not_captured, stamp, pieces);
    drain(stamp, pieces);
  }
}

// Keeps the parts of [offset, offset + length) that no earlier segment brought.
void Stream::hold(std::uint64_t offset, std::span<const std::uint8_t> bytes, std::uint64_t length, Stamp stamp) {
  const std::uint64_t end = offset + length;
  const std::uint64_t captured_end = offset + bytes.size();
  std::uint64_t from = offset;
  if (!waiting_) {
    waiting_ = std::make_unique<Waiting>();
  }
  HeldByOffset& held = waiting_->held;
  auto after = held.upper_bound(offset);
  if (after != held.begin()) {
    const auto& [begin, before] = *std::prev(after);
    from = std::max(from, begin + before.length);
  }
  while (from < end) {
    const std::uint64_t to = after == held.end() ? end : std::min(end, after->first);
    const std::uint64_t with_bytes = std::clamp(captured_end, from, std::max(from, to));
    if (from < with_bytes) {
      keep(after, from, with_bytes - from, bytes.subspan(from - offset, with_bytes - from), stamp);
    }
    if (with_bytes < to) {
      keep(after, with_bytes, to - with_bytes, {}, stamp);
    }
    if (after == held.end()) {
      break;
    }
    from = std::max(from, after->first + after->second.length);
    ++after;
  }
}

void Stream::keep(HeldByOffset::iterator before, std::uint64_t offset, std::uint64_t length,
                  std::span<const std::uint8_t> bytes, Stamp stamp) {
  waiting_->held.emplace_hint(before, offset, Held{length, {bytes.begin(), bytes.end()}, stamp});
  waiting_->cost += entry_cost + bytes.size();
}

// Delivers what has become contiguous; `stamp` is the packet that filled the hole.
void Stream::drain(Stamp stamp, std::vector<Piece>& pieces) {
  while (holds() && waiting_->held.begin()->first == next_) {
    auto& [offset, held] = *waiting_->held.begin();
    next_ = offset + held.length;
    waiting_->cost -= entry_cost + held.bytes.size();
    const bool cut = held.bytes.empty();
    waiting_->drained.push_back(std::move(held.bytes));
    pieces.push_back({cut ? Piece::Kind::gap : Piece::Kind::bytes, cut ? GapReason::snap_length : GapReason::none,
                      offset, held.length, waiting_->drained.back(), held.stamp, stamp});
    waiting_->held.erase(waiting_->held.begin());
  }
}

void Stream::declare_gap(GapReason reason, Stamp stamp, std::vector<Piece>& pieces) {
  const std::uint64_t end = waiting_->held.begin()->first;
  pieces.push_back({Piece::Kind::gap, reason, next_, end - next_, {}, stamp, stamp});
  next_ = end;
}

void Stream::deliver_fin(Stamp stamp, std::vector<Piece>& pieces) {
  if (fin_offset_ && !fin_delivered_ && next_ >= *fin_offset_) {
    fin_delivered_ = true;
    pieces.push_back({Piece::Kind::fin, GapReason::none, next_, 0, {}, fin_stamp_, stamp});
  }
}

void Stream::release(bool only_acknowledged, Stamp stamp, std::vector<Piece>& pieces) {
  while (holds()) {
    const bool arrived = acknowledged_ >= waiting_->held.begin()->first;
    if (only_acknowledged && !arrived) {
      return;
    }
    declare_gap(arrived ? GapReason::not_captured : GapReason::capture_ended, stamp, pieces);
    drain(stamp, pieces);
  }
  // Acknowledged bytes that no packet carried, with nothing behind them: the acknowledgment of a FIN counts one more.
  const std::uint64_t sent = fin_offset_ ? std::min(acknowledged_, *fin_offset_) : acknowledged_;
  if (sent > next_ && (fin_offset_ || sent > next_ + 1)) {
    pieces.push_back({Piece::Kind::gap, GapReason::not_captured, next_, sent - next_, {}, stamp, stamp});
    next_ = sent;
  }
  deliver_fin(stamp, pieces);
}

}  // namespace tlstrata::tcp
