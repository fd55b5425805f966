#include "tcp/fragments.h"

#include <algorithm>

namespace tlstrata::tcp {
namespace {

constexpr std::size_t most_datagrams = 64;
constexpr std::uint32_t largest_datagram = 65'535;

}  // namespace

// Adds the fragment's bytes; false where they contradict the datagram. An exact copy of a piece is welcome (mirrored
// ports).
bool Fragments::merge(Datagram& datagram, const Fragment& fragment) {
  const std::uint32_t begin = fragment.offset;
  const auto end = static_cast<std::uint32_t>(begin + fragment.bytes.size());
  if (!fragment.more) {
    if (datagram.total && *datagram.total != end) {
      return false;
    }
    datagram.total = end;
  }
  for (const Piece& piece : datagram.pieces) {
    if (piece.begin == begin && piece.end == end) {
      return true;
    }
    if (begin < piece.end && piece.begin < end) {
      return false;
    }
  }
  if (datagram.bytes.size() < end) {
    datagram.bytes.resize(end);
  }
  std::ranges::copy(fragment.bytes, datagram.bytes.begin() + begin);
  const auto place = std::ranges::lower_bound(datagram.pieces, begin, {}, &Piece::begin);
  datagram.pieces.insert(place, Piece{begin, end});
  return !datagram.total || datagram.pieces.back().end <= *datagram.total;
}

Fragments::Verdict Fragments::add(const Fragment& fragment) {
  if (fragment.offset + fragment.bytes.size() > largest_datagram || fragment.bytes.empty()) {
    return Verdict::dropped;
  }
  auto datagram = std::ranges::find(open_, fragment.key, &Datagram::key);
  if (datagram == open_.end()) {
    if (open_.size() == most_datagrams) {
      open_.pop_front();
    }
    datagram = open_.insert(open_.end(), Datagram{fragment.key, {}, {}, {}});
  }
  if (!merge(*datagram, fragment)) {
    open_.erase(datagram);
    return Verdict::dropped;
  }
  if (!datagram->total) {
    return Verdict::kept;
  }
  std::uint32_t reached = 0;
  for (const Piece& piece : datagram->pieces) {
    if (piece.begin != reached) {
      return Verdict::kept;
    }
    reached = piece.end;
  }
  if (reached != *datagram->total) {
    return Verdict::kept;
  }
  whole_ = std::move(datagram->bytes);
  open_.erase(datagram);
  return Verdict::complete;
}

}  // namespace tlstrata::tcp
