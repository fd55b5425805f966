#include "io/clock.h"

#include <sys/resource.h>

#include <ctime>

namespace tlstrata::io {
namespace {

Nanos read_clock(clockid_t clock) {
  timespec now{};
  (void)::clock_gettime(clock, &now);
  return now.tv_sec * nanos_per_second + now.tv_nsec;
}
Nanos from_timeval(const timeval& time) {
  return time.tv_sec * nanos_per_second + time.tv_usec * nanos_per_microsecond;
}

CpuTime cpu_time_of(int whom) {
  rusage used{};
  (void)::getrusage(whom, &used);
  return {from_timeval(used.ru_utime), from_timeval(used.ru_stime)};
}

}  // namespace

Nanos monotonic_ns() {
  return read_clock(CLOCK_MONOTONIC);
}
Nanos realtime_ns() {
  return read_clock(CLOCK_REALTIME);
}
Nanos thread_cpu_ns() {
  return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

Moment now() {
  constexpr Nanos close_ns = 2 * nanos_per_microsecond;
  Moment best;
  Nanos closest_ns = 0;
  for (int tries = 0; tries < 3 && (tries == 0 || closest_ns > close_ns); ++tries) {
    const Nanos before = monotonic_ns();
    const Nanos between = realtime_ns();
    const Nanos after = monotonic_ns();
    if (tries == 0 || after - before < closest_ns) {
      closest_ns = after - before;
      best = {after, between + (after - before) / 2};
    }
  }
  return best;
}

CpuTime process_cpu_time() {
  return cpu_time_of(RUSAGE_SELF);
}
CpuTime thread_cpu_time() {
  return cpu_time_of(RUSAGE_THREAD);
}

}  // namespace tlstrata::io
