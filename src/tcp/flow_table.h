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

// Both ends of a connection, whichever of them sent: the lower one first. IPv4 needs the first two words only.
struct Tuple {
  std::uint64_t low = 0;  // IPv4: address and port. IPv6: half of the address
  std::uint64_t high = 0;
  std::uint64_t low_rest = 0;  // IPv6: the other half
  std::uint64_t high_rest = 0;
  std::uint64_t ports = 0;  // IPv6: the lower end's, the higher end's, and a bit that is always set

  [[nodiscard]] bool is_v6() const { return ports != 0; }

  friend bool operator==(const Tuple& one, const Tuple& two) {
    return one.low == two.low && one.high == two.high && one.ports == two.ports &&
           (!one.is_v6() || (one.low_rest == two.low_rest && one.high_rest == two.high_rest));
  }
};

// A packet's ends as a Tuple, and which of them sent it.
struct Route {
  Tuple tuple;
  bool from_low = false;

  static Route of(const Endpoint& source, const Endpoint& destination) {
    if (source.is_v6) {
      return of_v6(source, destination);
    }
    const std::uint64_t from = v4_word(source);
    const std::uint64_t to = v4_word(destination);
    Route route;
    route.from_low = from < to;
    // Swapped without a branch: who sends changes from packet to packet, so a branch would be foretold wrong as often.
    const std::uint64_t swap = (from ^ to) & (std::uint64_t{route.from_low} - 1);
    route.tuple.low = from ^ swap;
    route.tuple.high = to ^ swap;
    return route;
  }

 private:
  static std::uint64_t v4_word(const Endpoint& end) {
    std::uint32_t address = 0;
    std::memcpy(&address, end.address.data(), sizeof address);
    return std::uint64_t{address} << 16U | end.port;
  }
  static Route of_v6(const Endpoint& source, const Endpoint& destination);
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

// A salted hash of tuples.
class FlowHash {
 public:
  explicit FlowHash(std::uint64_t seed = process_seed());

  // Drawn once a process: all that use it agree on every hash.
  static std::uint64_t process_seed();

  [[nodiscard]] std::uint64_t operator()(const Tuple& tuple) const {
    std::uint64_t state = fold(tuple.low ^ salt_[0], tuple.high ^ salt_[1]);
    if (tuple.is_v6()) {
      state = fold(state ^ tuple.low_rest, tuple.high_rest ^ salt_[2]);
      state = fold(state ^ tuple.ports, salt_[0]);
    }
    return fold(state, salt_[3]);
  }

 private:
  __extension__ typedef unsigned __int128 Wide;

  static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }

  std::array<std::uint64_t, 4> salt_{};
};

class FlowTable {
 public:
  explicit FlowTable(std::uint64_t seed = FlowHash::process_seed());

  [[nodiscard]] std::uint64_t hash(const Tuple& tuple) const { return hash_(tuple); }

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
  // A flow's place: at `tag & mask_`, or the next free one behind it.
  struct Slot {
    std::uint32_t tag = 0;  // the low half of the hash: most strangers are told from it, without a look at their flow
    FlowIndex flow = no_id;
  };

  void grow();
  void place(Slot slot);

  FlowHash hash_;
  std::vector<Slot> slots_;  // a power of two of them, half of them free at least
  std::uint32_t mask_ = 0;
  std::vector<Flow> flows_;
  std::vector<FlowIndex> free_;
};

}  // namespace tlstrata::tcp
