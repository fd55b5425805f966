// What all connections of a probe keep to: time-outs, a common rate of new connections, and the word to stop.
//
// In:        limits. Out: wait_turn() returns when the next connection may begin; await() waits for a descriptor.
// Units:     nanoseconds of CLOCK_MONOTONIC; connections per second.
// Ownership: shared by all threads of a probe; outlives them.
// Threads:   any.
#pragma once

#include <poll.h>

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/nanos.h"
#include "io/poller.h"

namespace tlstrata::probe {

struct Limits {
  Nanos connect_timeout_ns = 5 * nanos_per_second;
  Nanos answer_timeout_ns = 5 * nanos_per_second;  // longer is silence
  Nanos pause_ns = 200 * nanos_per_millisecond;    // between the parts of a cut ClientHello
  double rate = 20;                                // new connections per second, of all hosts together
  unsigned hosts_at_once = 4;
  unsigned connections_per_host = 1;  // at once
};

enum class Waited : std::uint8_t { ready, timeout, stopped };

class Guide {
 public:
  Guide(const Limits& limits, const io::Waker& stop) : limits_(limits), stop_(stop) {}

  [[nodiscard]] const Limits& limits() const { return limits_; }
  [[nodiscard]] bool is_stopped() const;
  // Anybody may call it; waits end at once.
  void stop() const { stop_.wake(); }

  // Until this connection may begin. false: stopped.
  [[nodiscard]] bool wait_turn();
  // Until `events` (poll(2)'s) hold for `fd`; -1: for none, until the deadline.
  [[nodiscard]] Waited await(int fd, short events, Nanos deadline_ns) const;

  [[nodiscard]] std::uint64_t connections() const { return connections_; }

 private:
  Limits limits_;
  const io::Waker& stop_;  // never cleared, so that all who wait see it
  std::mutex mutex_;
  Nanos next_turn_ns_ = 0;
  std::atomic<std::uint64_t> connections_ = 0;
};

}  // namespace tlstrata::probe
