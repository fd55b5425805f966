#include "tcp/flow_table.h"

#include <random>
#include <tuple>
#include <utility>

#include "base/splitmix64.h"

namespace tlstrata::tcp {
namespace {

constexpr std::size_t first_slots = 1024;

}  // namespace

Route Route::of_v6(const Endpoint& source, const Endpoint& destination) {
  std::array<std::uint64_t, 2> from{};
  std::array<std::uint64_t, 2> to{};
  std::memcpy(from.data(), source.address.data(), sizeof from);
  std::memcpy(to.data(), destination.address.data(), sizeof to);
  std::uint64_t from_port = source.port;
  std::uint64_t to_port = destination.port;
  Route route;
  route.from_low = std::tie(from, from_port) < std::tie(to, to_port);
  if (!route.from_low) {
    std::swap(from, to);
    std::swap(from_port, to_port);
  }
  route.tuple = {from[0], to[0], from[1], to[1], from_port | to_port << 16U | std::uint64_t{1} << 32U};
  return route;
}

std::uint64_t FlowHash::process_seed() {
  static const std::uint64_t seed = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
  }();
  return seed;
}

FlowHash::FlowHash(std::uint64_t seed) {
  SplitMix64 words(seed);
  for (std::uint64_t& word : salt_) {
    word = words.next();
  }
}

FlowTable::FlowTable(std::uint64_t seed) : hash_(seed), slots_(first_slots), mask_(first_slots - 1) {}

FlowIndex FlowTable::insert(const Tuple& tuple, std::uint64_t hash) {
  if ((size() + 1) * 2 > slots_.size()) {
    grow();
  }
  FlowIndex index = 0;
  if (free_.empty()) {
    index = static_cast<FlowIndex>(flows_.size());
    flows_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
    flows_[index] = Flow{};
  }
  flows_[index].tuple = tuple;
  place({static_cast<std::uint32_t>(hash), index});
  return index;
}

void FlowTable::place(Slot slot) {
  std::uint32_t at = slot.tag & mask_;
  while (slots_[at].flow != no_id) {
    at = (at + 1) & mask_;
  }
  slots_[at] = slot;
}

void FlowTable::grow() {
  std::vector<Slot> before(slots_.size() * 2);
  slots_.swap(before);
  mask_ = static_cast<std::uint32_t>(slots_.size() - 1);
  for (const Slot& slot : before) {
    if (slot.flow != no_id) {
      place(slot);
    }
  }
}

// Leaves no marks behind: those that had to step over the freed place move up (Knuth 6.4, algorithm R).
void FlowTable::erase(FlowIndex index) {
  auto hole = static_cast<std::uint32_t>(hash(flows_[index].tuple)) & mask_;
  while (slots_[hole].flow != index) {
    hole = (hole + 1) & mask_;
  }
  for (std::uint32_t at = (hole + 1) & mask_; slots_[at].flow != no_id; at = (at + 1) & mask_) {
    const std::uint32_t steps_from_home = (at - slots_[at].tag) & mask_;
    if (steps_from_home >= ((at - hole) & mask_)) {
      slots_[hole] = slots_[at];
      hole = at;
    }
  }
  slots_[hole] = Slot{};
  free_.push_back(index);
}

}  // namespace tlstrata::tcp
