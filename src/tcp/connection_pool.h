// The connections that are open, by ConnectionId.
//
// In/Out:    take() gives the number of a fresh Connection, give_back() ends its use.
// Ownership: owns the connections. A Connection stays where it is, in use or not; its memory serves the next one, so that
//            memory follows the most connections open at a time.
// Errors:    none.
// Threads:   one an object.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "tcp/id_list.h"
#include "tcp/rounds.h"
#include "tcp/stream.h"
#include "tcp/types.h"

namespace tlstrata::tcp {

struct Connection {
  Endpoints endpoints;
  std::uint32_t flow = no_id;   // FlowIndex; no_id: not in use
  bool a_is_low = false;        // Side::a is the lower end of the flow's tuple
  std::array<bool, 2> spoke{};  // sent anything at all, by Side
  std::array<Stream, 2> streams;
  Rounds rounds;
  Stamp last;
  Stamp doubtful_reset;          // a RST that a receiver would not obey, if nothing is missing
  Side doubtful_side = Side::a;  // who sent it
  Nanos active_since_ns = 0;     // not silent later than this
  ConnectionId older = no_id;    // for a list by activity
  ConnectionId newer = no_id;

  [[nodiscard]] bool half_open() const { return !(spoke[0] && spoke[1]); }
};

class ConnectionPool {
 public:
  ConnectionId take();
  void give_back(ConnectionId id);

  Connection& operator[](ConnectionId id) { return (*blocks_[id / block_size])[id % block_size]; }
  const Connection& operator[](ConnectionId id) const { return (*blocks_[id / block_size])[id % block_size]; }
  // Numbers that were ever given; all are below it.
  [[nodiscard]] ConnectionId size() const { return size_; }
  [[nodiscard]] std::size_t in_use() const { return size_ - free_.size(); }

 private:
  static constexpr std::uint32_t block_size = 64;
  using Block = std::array<Connection, block_size>;

  std::vector<std::unique_ptr<Block>> blocks_;
  std::vector<ConnectionId> free_;
  ConnectionId size_ = 0;
};

}  // namespace tlstrata::tcp
