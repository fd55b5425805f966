// Which of several workers a packet is for, so that one walk over a capture serves them all.
//
// In:        every packet of the capture, in its order.
// Out:       of each: the worker of its connection, or everyone; and the latest stamp so far, which a worker that does not see
//            all packets can't know. Workers that are fed this say together what a single one says: of plain TCP each sees
//            its own connections' only, and everyone sees what is put together from several packets (fragments), lies in
//            tunnels, is no TCP, or comes when it is time to look for connections that fell silent.
// Ownership: nothing is kept of the packets.
// Errors:    none.
// Threads:   one at a time.
#pragma once

#include <cstdint>
#include <limits>

#include "base/nanos.h"
#include "capture/types.h"
#include "tcp/flow_table.h"

namespace tlstrata::tcp {

// Time as a capture's stamps tell it: their latest. They may run backwards.
class CaptureClock {
 public:
  [[nodiscard]] Nanos now_ns() const { return now_ns_; }
  // True: it is time to look for connections that fell silent. The same for all that saw the same stamps.
  bool tick(Nanos time_ns) {
    if (time_ns <= now_ns_) {
      return false;
    }
    now_ns_ = time_ns;
    if (now_ns_ < next_sweep_ns_) [[likely]] {
      return false;
    }
    next_sweep_ns_ = now_ns_ + sweep_every_ns;
    return true;
  }

 private:
  static constexpr Nanos sweep_every_ns = 10 * nanos_per_second;

  Nanos now_ns_ = 0;
  Nanos next_sweep_ns_ = 0;
};

// The worker of a tuple, by its hash. By the upper half: the table of each worker uses the lower one.
inline std::uint32_t worker_of(std::uint64_t hash, std::uint32_t workers) {
  return static_cast<std::uint32_t>(((hash >> 32U) * workers) >> 32U);
}

class Deal {
 public:
  static constexpr std::uint32_t everyone = std::numeric_limits<std::uint32_t>::max();

  explicit Deal(std::uint32_t workers) : workers_(workers) {}

  std::uint32_t worker_of(const capture::Packet& packet);
  // Of the packets so far.
  [[nodiscard]] Nanos latest_ns() const { return clock_.now_ns(); }

 private:
  std::uint32_t workers_;
  FlowHash hash_;
  CaptureClock clock_;
};

}  // namespace tlstrata::tcp
