// A time-out that survives interruptions: a point of CLOCK_MONOTONIC.
//
// Units: nanoseconds. Threads: any.
#pragma once

#include <poll.h>

#include <cerrno>
#include <ctime>

#include "base/nanos.h"
#include "io/clock.h"

namespace tlstrata::testbed {

class Deadline {
 public:
  explicit Deadline(Nanos timeout_ns) : at_ns_(io::monotonic_ns() + timeout_ns) {}

  [[nodiscard]] Nanos left_ns() const {
    const Nanos left_ns = at_ns_ - io::monotonic_ns();
    return left_ns > 0 ? left_ns : 0;
  }
  [[nodiscard]] bool over() const { return left_ns() == 0; }

  // Waits for `events` on a descriptor. False: the time is over.
  [[nodiscard]] bool poll(int descriptor, short events) const {
    for (;;) {
      const Nanos left = left_ns();
      const timespec wait = {left / nanos_per_second, left % nanos_per_second};
      pollfd polled = {descriptor, events, 0};
      const int ready = ::ppoll(&polled, 1, &wait, nullptr);
      if (ready > 0) {
        return true;
      }
      if (ready == 0 || errno != EINTR) {
        return false;
      }
    }
  }

 private:
  Nanos at_ns_;
};

}  // namespace tlstrata::testbed
