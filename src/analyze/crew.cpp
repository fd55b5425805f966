#include "analyze/crew.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tlstrata::analyze {
namespace {

constexpr std::size_t usual_packets_a_turn = 1024;
// Handing over costs a lock and may wake a thread, so it is done for many connections at a time.
constexpr std::size_t connections_a_batch = 512;
constexpr std::size_t turns_a_watermark = 64;
constexpr std::size_t most_given = 4096;  // connections of a pass that wait to be taken, where next() has others

}  // namespace

Crew::Crew(std::unique_ptr<Dealer> dealer, std::vector<std::unique_ptr<Pass>> passes, bool impatient)
    : dealer_(std::move(dealer)), passes_(std::move(passes)), packets_a_turn_(impatient ? 1 : usual_packets_a_turn) {
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    lanes_.push_back(std::make_unique<Lane>());
  }
  if (passes_.size() == 1) {
    return;
  }
  // Also where one could not be made: those that were made must come to their end.
  const std::unique_ptr<Crew, void (*)(Crew*)> guard(this, [](Crew* crew) {
    if (crew->threads_.size() < crew->passes_.size()) {
      crew->stop();
    }
    crew->all_there_.count_down();
  });
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    threads_.emplace_back([this, i](const std::stop_token& stop) { work(i, stop); });
  }
}

Crew::~Crew() {
  stop();
}

void Crew::stop() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  if (dealer_) {
    dealer_->stop();
  }
  const std::scoped_lock lock(mutex_);  // none is between its look at the token and its wait
  for (const auto& lane : lanes_) {
    lane->room.notify_all();
  }
}

void Crew::work(std::size_t index, const std::stop_token& stop) {
  all_there_.wait();
  Pass& pass = *passes_[index];
  Lane& lane = *lanes_[index];
  std::vector<Ended> batch;
  std::size_t turns = 0;
  bool more = true;
  while (more && !stop.stop_requested()) {
    more = pass.advance(packets_a_turn_);
    pass.worker().take(batch);
    if (batch.size() < connections_a_batch && ++turns < turns_a_watermark && more) {
      continue;
    }
    turns = 0;
    if (!give(lane, batch, more ? pass.worker().watermark() : at_end, stop)) {
      return;
    }
    pass.worker().recycle(batch);
  }
}

// `batch` comes back with what was used up of an earlier one.
bool Crew::give(Lane& lane, std::vector<Ended>& batch, std::uint64_t watermark, const std::stop_token& stop) {
  std::vector<Ended> spent;
  {
    std::unique_lock lock(mutex_);
    lane.room.wait(lock, [&] { return lane.given.size() < most_given || starving_ || stop.stop_requested(); });
    std::ranges::move(batch, std::back_inserter(lane.given));
    lane.watermark = watermark;
    std::swap(spent, lane.spent);
  }
  something_.notify_one();
  batch = std::move(spent);
  return !stop.stop_requested();
}

Ended* Crew::next_of_one() {
  Lane& lane = *lanes_.front();
  if (lane.has_head()) {
    return &lane.taken[lane.position++];
  }
  passes_.front()->worker().recycle(lane.taken);
  lane.position = 0;
  while (lane.taken.empty()) {
    if (ended_) {
      return nullptr;
    }
    ended_ = !passes_.front()->advance(packets_a_turn_);
    passes_.front()->worker().take(lane.taken);
  }
  return &lane.taken[lane.position++];
}

// Waits until a lane that has nothing left got something, or knows better what will come.
void Crew::refill() {
  std::unique_lock lock(mutex_);
  const auto is_news = [](const auto& lane) {
    return !lane->has_head() && lane->known_watermark != at_end &&
           (!lane->given.empty() || lane->watermark != lane->known_watermark);
  };
  if (!std::ranges::any_of(lanes_, is_news)) {
    starving_ = true;
    for (const auto& lane : lanes_) {
      lane->room.notify_one();
    }
    something_.wait(lock, [&] { return std::ranges::any_of(lanes_, is_news); });
    starving_ = false;
  }
  for (const auto& lane : lanes_) {
    if (is_news(lane)) {
      std::ranges::move(lane->taken, std::back_inserter(lane->spent));
      lane->taken.clear();
      lane->position = 0;
      std::swap(lane->taken, lane->given);
      lane->known_watermark = lane->watermark;
      lane->room.notify_one();
    }
  }
}

Ended* Crew::next() {
  if (lanes_.size() == 1) {
    return next_of_one();
  }
  while (true) {
    Lane* first = nullptr;
    std::uint64_t others = at_end;  // what lanes without a head may yet bring begins here or later
    for (const auto& lane : lanes_) {
      if (!lane->has_head()) {
        others = std::min(others, lane->known_watermark);
      } else if (first == nullptr || lane->head() < first->head()) {
        first = lane.get();
      }
    }
    if (first != nullptr && first->head() < others) {
      return &first->taken[first->position++];
    }
    if (first == nullptr && others == at_end) {
      return nullptr;
    }
    refill();
  }
}

}  // namespace tlstrata::analyze
