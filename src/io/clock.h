// The clocks of the operating system.
//
// Units:   nanoseconds. monotonic_ns: since boot, never set; realtime_ns: since the Unix epoch, as the kernel stamps
//          packets; thread_cpu_ns: CPU that the calling thread has used.
// Threads: any.
// Source:  clock_gettime(2).
#pragma once

#include "base/nanos.h"

namespace tlstrata::io {

Nanos monotonic_ns();
Nanos realtime_ns();
Nanos thread_cpu_ns();

// Both at one moment. Where the thread loses its core between two readings, reads again, at most thrice.
struct Moment {
  Nanos monotonic_ns = 0;
  Nanos realtime_ns = 0;
  [[nodiscard]] Nanos offset_ns() const { return realtime_ns - monotonic_ns; }
};
Moment now();

struct CpuTime {
  Nanos user_ns = 0;
  Nanos system_ns = 0;
};
// Of all threads of the process so far; the kernel gives their sum exactly and its split by sampling.
CpuTime process_cpu_time();
// The same of the calling thread.
CpuTime thread_cpu_time();

}  // namespace tlstrata::io
