#include "probe/guide.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/clock.h"

namespace tlstrata::probe {

bool Guide::is_stopped() const {
  return await(-1, 0, io::monotonic_ns()) == Waited::stopped;
}

bool Guide::wait_turn() {
  Nanos turn_ns = 0;
  {
    const std::lock_guard lock(mutex_);
    turn_ns = std::max(next_turn_ns_, io::monotonic_ns());
    next_turn_ns_ = turn_ns + std::llround(static_cast<double>(nanos_per_second) / limits_.rate);
  }
  if (await(-1, 0, turn_ns) == Waited::stopped) {
    return false;
  }
  ++connections_;
  return true;
}

Waited Guide::await(int fd, short events, Nanos deadline_ns) const {
  for (;;) {
    std::array<pollfd, 2> waiting{pollfd{stop_.fd(), POLLIN, 0}, pollfd{fd, events, 0}};
    const Nanos left_ns = std::max<Nanos>(0, deadline_ns - io::monotonic_ns());
    const timespec timeout{left_ns / nanos_per_second, left_ns % nanos_per_second};
    const int count = ::ppoll(waiting.data(), waiting.size(), &timeout, nullptr);
    if (waiting[0].revents != 0 && count > 0) {
      return Waited::stopped;
    }
    if (count > 0) {
      return Waited::ready;
    }
    if (io::monotonic_ns() >= deadline_ns) {
      return Waited::timeout;
    }
  }
}

}  // namespace tlstrata::probe
