#include "ossl/cpu_stopwatch.h"

#include <algorithm>
#include <ctime>

namespace tlstrata::ossl {
namespace {

// Of the calling thread, since its first sync.
struct Stolen {
  Nanos first_wall_ns = 0;
  Nanos first_cpu_ns = 0;
  Nanos sum_ns = 0;
};
thread_local Stolen stolen;

Nanos read_clock(clockid_t clock) {
  timespec now{};
  (void)::clock_gettime(clock, &now);
  return now.tv_sec * nanos_per_second + now.tv_nsec;
}

}  // namespace

void CpuStopwatch::sync() {
  const Nanos cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const Nanos wall = read_clock(CLOCK_MONOTONIC);
  if (stolen.first_wall_ns == 0) {
    stolen = {wall, cpu, 0};
    return;
  }
  stolen.sum_ns = std::max(stolen.sum_ns, wall - stolen.first_wall_ns - (cpu - stolen.first_cpu_ns));
}

void CpuStopwatch::start(Nanos now_ns) {
  began_ns_ = now_ns;
  stolen_before_ns_ = stolen.sum_ns;
}

Nanos CpuStopwatch::stop(Nanos now_ns, Nanos& shortest_ns) const {
  const Nanos elapsed = now_ns - began_ns_;
  if (shortest_ns != 0 && elapsed > 2 * shortest_ns + suspicious_ns) {
    sync();
  }
  const Nanos ran = elapsed - (stolen.sum_ns - stolen_before_ns_);
  if (stolen.sum_ns == stolen_before_ns_ && elapsed > 0) {
    shortest_ns = shortest_ns == 0 ? elapsed : std::min(shortest_ns, elapsed);
    return elapsed;
  }
  // Small thefts before it, unnoticed then, are noticed with it: they don't make it shorter than it can be.
  return std::clamp(ran, std::min(shortest_ns, elapsed), elapsed);
}

}  // namespace tlstrata::ossl
