// One walk over an input's packets for several workers: deals each the packets of its connections, and those that are
// everyone's (tcp/deal.h).
//
// In:        a Reader.
// Out:       take(): the next hand of a worker. The hands of a worker hold its packets in the input's order.
// Ownership: a hand is the taker's. So are its packets' bytes, unless they stay with the reader (PacketSource::packets_stay).
//            The Reader must outlive the dealer.
// Errors:    none.
// Threads:   take() from one thread a worker; stop() from any. There is no thread of its own: whoever comes for a hand when
//            few are left walks on for all, so that the walk is done by one at a time while the others work.
// Memory:    hands that wait are bounded: who would walk while another has many left waits for it. Of packets that do not stay
//            and are everyone's each worker has a copy.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "analyze/reader.h"
#include "base/nanos.h"
#include "capture/types.h"
#include "tcp/deal.h"
#include "tcp/types.h"

namespace tlstrata::analyze {

struct Dealt {
  capture::Packet packet;
  Nanos latest_ns = 0;  // of the input up to here
};

struct Hand {
  std::vector<Dealt> packets;
  std::vector<std::uint8_t> bytes;  // of all packets, one behind the other, where the reader does not keep them
  tcp::Stamp last;                  // the packet up to which the input was walked, whoever's it is
  Nanos latest_ns = 0;              // up to there
};

class Dealer {
 public:
  Dealer(Reader& reader, std::uint32_t workers);

  enum class Taken : std::uint8_t { hand, end, stopped };

  // Waits for one if it must. `hand`: what was taken before, or an empty one.
  Taken take(std::uint32_t worker, Hand& hand);
  void stop();

 private:
  void walk();
  void deal(Hand& hand, const capture::Packet& packet) const;
  [[nodiscard]] bool may_walk() const;

  // The walker's own.
  Reader* reader_;
  tcp::Deal deal_;
  bool copies_;              // packets' bytes
  std::vector<Hand> fresh_;  // by worker
  tcp::Stamp last_;
  bool at_end_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<std::deque<Hand>> waiting_;  // by worker
  std::vector<Hand> spare_;                // their memory serves the next ones
  bool walking_ = false;
  bool ended_ = false;
  bool stopped_ = false;
};

}  // namespace tlstrata::analyze
