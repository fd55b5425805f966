#include "analyze/dealer.h"

#include <algorithm>
#include <span>
#include <utility>

namespace tlstrata::analyze {
namespace {

// A walk's packets are to be in the processor's cache still when their worker comes to them, and many enough for a lock.
constexpr std::size_t packets_a_walk = 1024;
constexpr std::size_t bytes_a_walk = std::size_t{512} << 10U;
constexpr std::size_t few_hands = 2;    // nobody should have to wait while another walks
constexpr std::size_t most_hands = 12;  // all their bytes lie within what a mapping keeps behind the walk (MappedFile)

// Only now: while bytes were added they moved.
void point_to_bytes(Hand& hand) {
  std::span<const std::uint8_t> rest(hand.bytes);
  for (Dealt& dealt : hand.packets) {
    const std::size_t size = dealt.packet.data.size();
    dealt.packet.data = rest.first(size);
    rest = rest.subspan(size);
  }
}

}  // namespace

Dealer::Dealer(Reader& reader, std::uint32_t workers)
    : reader_(&reader), deal_(workers), copies_(!reader.source().packets_stay()), fresh_(workers), waiting_(workers) {}

bool Dealer::may_walk() const {
  return !walking_ && !ended_ &&
         std::ranges::all_of(waiting_, [](const auto& hands) { return hands.size() < most_hands; });
}

Dealer::Taken Dealer::take(std::uint32_t worker, Hand& hand) {
  std::unique_lock lock(mutex_);
  hand.packets.clear();
  hand.bytes.clear();
  spare_.push_back(std::move(hand));
  std::deque<Hand>& mine = waiting_[worker];
  while (!stopped_) {
    if (mine.size() < few_hands && may_walk()) {
      walking_ = true;
      for (Hand& fresh : fresh_) {
        if (!spare_.empty()) {
          fresh = std::move(spare_.back());
          spare_.pop_back();
        }
      }
      lock.unlock();
      walk();
      lock.lock();
      for (std::size_t i = 0; i < fresh_.size(); ++i) {
        waiting_[i].push_back(std::exchange(fresh_[i], {}));
      }
      walking_ = false;
      ended_ = at_end_;
      changed_.notify_all();
    } else if (!mine.empty()) {
      hand = std::move(mine.front());
      mine.pop_front();
      changed_.notify_all();  // somebody may walk now
      return Taken::hand;
    } else if (ended_) {
      return Taken::end;
    } else {
      changed_.wait(lock);
    }
  }
  return Taken::stopped;
}

void Dealer::deal(Hand& hand, const capture::Packet& packet) const {
  hand.packets.push_back({packet, deal_.latest_ns()});
  if (copies_) {
    hand.bytes.insert(hand.bytes.end(), packet.data.begin(), packet.data.end());
  }
}

void Dealer::walk() {
  const std::uint64_t end_bytes = reader_->walked_bytes() + bytes_a_walk;
  for (std::size_t count = 0; count < packets_a_walk && reader_->walked_bytes() < end_bytes; ++count) {
    const capture::Packet* const packet = reader_->next();
    if (packet == nullptr) {
      at_end_ = true;
      break;
    }
    last_ = {packet->time_ns, packet->number};
    const std::uint32_t worker = deal_.worker_of(*packet);
    if (worker != tcp::Deal::everyone) [[likely]] {
      deal(fresh_[worker], *packet);
      continue;
    }
    for (Hand& fresh : fresh_) {
      deal(fresh, *packet);
    }
  }
  for (Hand& fresh : fresh_) {
    fresh.last = last_;
    fresh.latest_ns = deal_.latest_ns();
    if (copies_) {
      point_to_bytes(fresh);
    }
  }
}

void Dealer::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

}  // namespace tlstrata::analyze
