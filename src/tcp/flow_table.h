// What each 4-tuple leads to: a flat hash table with open addressing, made for one lookup a packet.
//
// In:        a Tuple, the same for both directions of a connection, and its hash().
// Out:       the number of its Flow. Numbers stay while the flow is in the table; references hold until the next insert().
// Ownership: owns the flows. Memory follows the most flows that were in the table at a time.
// Errors:    none.
// Threads:   one an object.
// Limits:    captures are hostile: the hash is salted with a seed that nobody outside the process knows, so that nobody can
//            write a capture whose tuples all meet in one place. Nothing may depend on the order of the hashes but which
//            worker does what.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/nanos.h"
#include "tcp/id_list.h"
#include "tcp/types.h"

namespace tlstrata::tcp {

// Both ends of a connection, whichever of them sent: the lower one first.
struct Tuple {
  std::array<std::uint64_t, 2> low{};  // addresses
  std::array<std::uint64_t, 2> high{};
  std::uint64_t ports = 0;  // the lower end's, the higher end's, and whether they are IPv6's

  friend bool operator==(const Tuple& one, const Tuple& two) {
    return ((one.low[0] ^ two.low[0]) | (one.low[1] ^ two.low[1]) | (one.high[0] ^ two.high[0]) |
            (one.high[1] ^ two.high[1]) | (one.ports ^ two.ports)) == 0;
  }
};

// A packet's ends as a Tuple, and which of them sent it.
struct Route {
  Tuple tuple;
  bool from_low = false;

  // Without branches: which end is the lower one changes from packet to packet, so no branch would be foretold.
  static Route of(const Endpoint& source, const Endpoint& destination) {
    std::array<std::uint64_t, 2> from{};
    std::array<std::uint64_t, 2> to{};
    std::memcpy(from.data(), source.address.data(), sizeof from);
    std::memcpy(to.data(), destination.address.data(), sizeof to);
    const auto less = [](std::uint64_t a, std::uint64_t b) { return static_cast<unsigned>(a < b); };
    const auto same = [](std::uint64_t a, std::uint64_t b) { return static_cast<unsigned>(a == b); };
    const unsigned from_low =
        less(from[0], to[0]) |
        (same(from[0], to[0]) & (less(from[1], to[1]) | (same(from[1], to[1]) & less(source.port, destination.port))));
    const std::uint64_t swap = std::uint64_t{from_low} - 1;  // all ones where the sender is the higher end
    const std::uint64_t first = (from[0] ^ to[0]) & swap;
    const std::uint64_t second = (from[1] ^ to[1]) & swap;
    const std::uint64_t port = (std::uint64_t{source.port} ^ destination.port) & swap;
    return {{{from[0] ^ first, from[1] ^ second},
             {to[0] ^ first, to[1] ^ second},
             (source.port ^ port) | (destination.port ^ port) << 16U | std::uint64_t{source.is_v6} << 32U},
            from_low != 0};
  }
};

using FlowIndex = std::uint32_t;

// An open connection, or the memory of a closed one.
struct Flow {
  Tuple tuple;
  ConnectionId open = no_id;  // no_id: over
  std::uint32_t generation = 0;
  std::array<std::optional<std::uint32_t>, 2> syn_sequence;  // by lower, higher end; of the newest generation
  Nanos closed_ns = 0;                                       // where it is over
  std::uint64_t closed_packet = 0;
  FlowIndex older = no_id;  // for a list of those that are over
  FlowIndex newer = no_id;
};

class FlowTable {
 public:
  explicit FlowTable(std::uint64_t seed = process_seed());

  // Drawn once a process: all workers' tables agree on every hash.
  static std::uint64_t process_seed();

  [[nodiscard]] std::uint64_t hash(const Tuple& tuple) const {
    std::uint64_t state = fold(tuple.low[0] ^ salt_[0], tuple.high[0] ^ salt_[1]);
    state = fold(state ^ tuple.low[1], tuple.high[1] ^ salt_[2]);
    return fold(state ^ tuple.ports, salt_[3]);
  }

  // no_id where the tuple leads nowhere.
  [[nodiscard]] FlowIndex find(const Tuple& tuple, std::uint64_t hash) const {
    const auto tag = static_cast<std::uint32_t>(hash);
    for (std::uint32_t at = tag & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.flow == no_id || (slot.tag == tag && flows_[slot.flow].tuple == tuple)) {
        return slot.flow;
      }
    }
  }
  // The tuple must not be in the table.
  FlowIndex insert(const Tuple& tuple, std::uint64_t hash);
  void erase(FlowIndex index);

  Flow& operator[](FlowIndex index) { return flows_[index]; }
  const Flow& operator[](FlowIndex index) const { return flows_[index]; }
  [[nodiscard]] std::size_t size() const { return flows_.size() - free_.size(); }

 private:
  __extension__ typedef unsigned __int128 Wide;

  // A flow's place: at `tag & mask_`, or the next free one behind it.
  struct Slot {
    std::uint32_t tag = 0;  // the low half of the hash: most strangers are told from it, without a look at their flow
    FlowIndex flow = no_id;
  };

  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }
  void grow();
  void place(Slot slot);

  std::array<std::uint64_t, 4> salt_{};
  std::vector<Slot> slots_;  // a power of two of them, half of them free at least
  std::uint32_t mask_ = 0;
  std::vector<Flow> flows_;
  std::vector<FlowIndex> free_;
};

}  // namespace tlstrata::tcp
