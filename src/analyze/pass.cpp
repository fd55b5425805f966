#include "analyze/pass.h"

#include <algorithm>

namespace tlstrata::analyze {
namespace {

// Another core has walked over the packet: what the worker reads of it is fetched while the ones before it are worked on.
void fetch(const capture::Packet& packet) {
  constexpr std::size_t line_bytes = 64;
  constexpr std::size_t most_bytes = 2048;  // of a larger one only the start is sure to be read
  for (std::size_t offset = 0; offset < std::min(packet.data.size(), most_bytes); offset += line_bytes) {
    __builtin_prefetch(&packet.data[offset]);
  }
}

}  // namespace

bool Pass::advance(std::size_t packets) {
  if (dealer_ != nullptr) {
    return advance_by_hand();
  }
  for (std::size_t i = 0; i < packets; ++i) {
    const capture::Packet* const packet = reader_->next();
    if (packet == nullptr) {
      worker_.finish(end_ns_);
      return false;
    }
    worker_.feed(*packet);
  }
  return true;
}

bool Pass::advance_by_hand() {
  constexpr std::size_t packets_ahead = 4;
  const Dealer::Taken taken = dealer_->take(number_, hand_);
  if (taken == Dealer::Taken::end) {
    worker_.finish(end_ns_);
  }
  if (taken != Dealer::Taken::hand) {
    return false;
  }
  for (std::size_t i = 0; i < hand_.packets.size(); ++i) {
    if (i + packets_ahead < hand_.packets.size()) {
      fetch(hand_.packets[i + packets_ahead].packet);
    }
    worker_.feed(hand_.packets[i].packet, hand_.packets[i].latest_ns);
  }
  worker_.pass_others(hand_.last, hand_.latest_ns);
  return true;
}

}  // namespace tlstrata::analyze
