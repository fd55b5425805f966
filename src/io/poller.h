// Waiting for descriptors and for points in time: epoll whose waits end on time.
//
// In:        descriptors with a token each (what the caller knows them by), a deadline.
// Out:       wait() gives the tokens that are ready; none when the deadline came first.
// Units:     deadlines are of CLOCK_MONOTONIC, in nanoseconds.
// Ownership: owns its epoll descriptor, not the descriptors it watches. The span holds until the next wait().
// Errors:    create and add: io. wait: none; a signal ends it early with nothing.
// Threads:   one thread an object, except for Waker::wake.
// Source:    epoll(7), epoll_pwait2(2). A sleeping thread wakes some 40 to 350 us late (measured; the timer slack's 50
//            us on top where it is not set to 1 ns), so a precise wait sleeps short of its deadline and spins the rest,
//            serving descriptors all the while.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "base/nanos.h"
#include "base/result.h"
#include "io/unique_fd.h"

namespace tlstrata::io {

enum class Interest : std::uint32_t {
  none = 0,  // still reports errors and hang-ups
  read = EPOLLIN | EPOLLRDHUP,
  write = EPOLLOUT,
  read_write = EPOLLIN | EPOLLRDHUP | EPOLLOUT,
  // Both, told once when they change: serve until the call would block, and no modify() is ever needed.
  edges = EPOLLIN | EPOLLRDHUP | EPOLLOUT | EPOLLET,
  // A listener that several pollers share wakes one of them. Not to be modified: remove and add.
  shared_read = EPOLLIN | EPOLLEXCLUSIVE,
};

struct Ready {
  std::uint64_t token = 0;
  bool readable = false;  // data, end of stream, or an error to collect
  bool writable = false;  // room, or an error to collect
};

class Poller {
 public:
  static constexpr Nanos never = std::numeric_limits<Nanos>::max();

  static Result<Poller> create();

  [[nodiscard]] Result<void> add(int fd, Interest interest, std::uint64_t token);
  // Of a descriptor that was added; these cannot fail for one that is open.
  void modify(int fd, Interest interest, std::uint64_t token);
  void remove(int fd);

  // Readable when something is ready: another loop can watch this one.
  [[nodiscard]] int fd() const { return epoll_.get(); }

  // Until something is ready or `deadline_ns` has come (Poller::never: no deadline). With `spin_ns` above 0 the last
  // stretch of that length is spent without sleeping, which costs CPU and keeps the deadline to about a microsecond.
  std::span<const Ready> wait(Nanos deadline_ns, Nanos spin_ns = 0);

  // CPU time burnt by spinning so far: not work, and to be taken off where CPU per transaction is stated.
  [[nodiscard]] Nanos spun_ns() const { return spun_ns_; }

 private:
  explicit Poller(UniqueFd epoll) : epoll_(std::move(epoll)) {}
  std::span<const Ready> collect(int count);
  int sleep(Nanos duration_ns);
  int spin(Nanos deadline_ns);

  UniqueFd epoll_;
  Nanos spun_ns_ = 0;
  std::array<epoll_event, 256> events_{};
  std::array<Ready, 256> ready_{};
};

// Lets another thread end a Poller's wait: an eventfd to be added for reading.
class Waker {
 public:
  static Result<Waker> create();
  [[nodiscard]] int fd() const { return event_.get(); }
  void wake() const;   // any thread
  void clear() const;  // the waiting thread, once it was woken

 private:
  explicit Waker(UniqueFd event) : event_(std::move(event)) {}
  UniqueFd event_;
};

// Timers of the calling thread end within a nanosecond of slack instead of 50 us.
void use_precise_timers();

// The calling thread runs as soon as it is to, whatever else does (SCHED_FIFO, sched(7)): for one that works for
// microseconds at a time. False: the system does not allow it (CAP_SYS_NICE or RLIMIT_RTPRIO), and nothing changed.
bool run_before_others();

}  // namespace tlstrata::io
