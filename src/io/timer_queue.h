// Deadlines of many things, soonest first.
//
// In/Out:  set(deadline, token) adds; due(now) takes out one that has come. A token may be set again and again: every
//          setting comes out, and the caller compares with the deadline it now has ("lazy" cancelling), which is
//          cheaper than a search.
// Units:   nanoseconds, of whatever clock the caller uses throughout.
// Threads: one an object.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "base/nanos.h"

namespace tlstrata::io {

struct Timer {
  Nanos deadline_ns = 0;
  std::uint64_t token = 0;
  friend bool operator>(const Timer& a, const Timer& b) { return a.deadline_ns > b.deadline_ns; }
};

class TimerQueue {
 public:
  void set(Nanos deadline_ns, std::uint64_t token) { timers_.push({deadline_ns, token}); }

  // The soonest; std::nullopt: none is set.
  [[nodiscard]] std::optional<Timer> next() const {
    return timers_.empty() ? std::nullopt : std::optional(timers_.top());
  }
  // Takes it out: who finds that it no longer matters saves a wake-up.
  void pop() { timers_.pop(); }

  // One whose deadline is at or before `now_ns`.
  std::optional<Timer> due(Nanos now_ns) {
    if (timers_.empty() || timers_.top().deadline_ns > now_ns) {
      return std::nullopt;
    }
    const Timer timer = timers_.top();
    timers_.pop();
    return timer;
  }

 private:
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
};

}  // namespace tlstrata::io
