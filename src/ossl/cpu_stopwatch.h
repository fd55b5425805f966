// How long the calling thread was running between two moments, nearly for free.
//
// In:        instants of CLOCK_MONOTONIC. Out: the time between them less what was stolen: sleep, and other threads on the
//            same processor.
// Units:     nanoseconds.
// Errors:    theft of less than `suspicious_ns` beyond the usual goes unnoticed until the next sync.
// Threads:   what was stolen is known per thread; a stopwatch stays on its thread.
// Source:    CLOCK_THREAD_CPUTIME_ID tells it exactly, but reading it is a system call (0.5 to 0.9 us measured, some 25
//            times CLOCK_MONOTONIC), and two around each primitive cost 4.5 % of a handshake. So it is read once after
//            each sleep (sync), and again only where something took suspiciously long.
#pragma once

#include "base/nanos.h"

namespace tlstrata::ossl {

// More than twice the shortest seen, and this much: then somebody else may have had the processor meanwhile.
inline constexpr Nanos suspicious_ns = 20 * nanos_per_microsecond;

class CpuStopwatch {
 public:
  // After a sleep, and after anything else in which time may have been stolen that is not to be counted.
  static void sync();

  void start(Nanos now_ns);
  // `shortest_ns`: the least that the like took so far on this thread, 0: nothing yet; is kept up to date.
  [[nodiscard]] Nanos stop(Nanos now_ns, Nanos& shortest_ns) const;

 private:
  Nanos began_ns_ = 0;
  Nanos stolen_before_ns_ = 0;
};

}  // namespace tlstrata::ossl
