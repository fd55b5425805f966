#include "io/poller.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "io/clock.h"

namespace tlstrata::io {
namespace {

std::unexpected<Error> failed(const char* what) {
  return std::unexpected(Error{ErrorCode::io, what, 0, static_cast<unsigned long>(errno)});
}

// Between two looks at the descriptors while spinning: long enough that most of the time is the thread's own and not
// the kernel's, short against the time that a wake-up takes.
constexpr Nanos spin_step_ns = 5 * nanos_per_microsecond;

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

Result<Poller> Poller::create() {
  UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) {
    return failed("epoll_create1");
  }
  return Poller(std::move(epoll));
}

Result<void> Poller::add(int fd, Interest interest, std::uint64_t token) {
  epoll_event event{};
  event.events = static_cast<std::uint32_t>(interest);
  event.data.u64 = token;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return failed("epoll_ctl");
  }
  return {};
}

void Poller::modify(int fd, Interest interest, std::uint64_t token) {
  epoll_event event{};
  event.events = static_cast<std::uint32_t>(interest);
  event.data.u64 = token;
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::remove(int fd) {
  (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

int Poller::sleep(Nanos duration_ns) {
  timespec timeout{};
  timeout.tv_sec = duration_ns / nanos_per_second;
  timeout.tv_nsec = duration_ns % nanos_per_second;
  const int size = static_cast<int>(events_.size());
  const int count = ::epoll_pwait2(epoll_.get(), events_.data(), size, &timeout, nullptr);
  if (count < 0 && errno == ENOSYS) {
    // Before Linux 5.11, and under valgrind: whole milliseconds, the last of them without sleeping.
    constexpr Nanos longest_ms = std::numeric_limits<int>::max();
    const auto whole_ms = static_cast<int>(std::min(duration_ns / nanos_per_millisecond, longest_ms));
    return ::epoll_wait(epoll_.get(), events_.data(), size, whole_ms);
  }
  return count;
}

int Poller::spin(Nanos deadline_ns) {
  const Nanos cpu_before = thread_cpu_ns();
  int count = 0;
  for (Nanos now = monotonic_ns(); count == 0 && now < deadline_ns; now = monotonic_ns()) {
    count = ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0);
    const Nanos pause_until = std::min(deadline_ns, now + spin_step_ns);
    while (count == 0 && monotonic_ns() < pause_until) {
      relax();
    }
  }
  spun_ns_ += thread_cpu_ns() - cpu_before;
  return count;
}

std::span<const Ready> Poller::wait(Nanos deadline_ns, Nanos spin_ns) {
  if (deadline_ns == never) {
    return collect(::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), -1));
  }
  const Nanos remaining_ns = deadline_ns - monotonic_ns();
  if (remaining_ns <= 0) {
    return collect(::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), 0));
  }
  if (remaining_ns > spin_ns) {
    const int count = sleep(remaining_ns - spin_ns);
    if (count != 0 || spin_ns == 0) {
      return collect(count);
    }
  }
  return collect(spin(deadline_ns));
}

std::span<const Ready> Poller::collect(int count) {
  const std::size_t ready = count > 0 ? static_cast<std::size_t>(count) : 0;
  for (std::size_t i = 0; i < ready; ++i) {
    const std::uint32_t seen = events_[i].events;
    const bool broken = (seen & (EPOLLERR | EPOLLHUP)) != 0;
    ready_[i] = {events_[i].data.u64, broken || (seen & (EPOLLIN | EPOLLRDHUP)) != 0, broken || (seen & EPOLLOUT) != 0};
  }
  return std::span(ready_).first(ready);
}

Result<Waker> Waker::create() {
  UniqueFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) {
    return failed("eventfd");
  }
  return Waker(std::move(event));
}

void Waker::wake() const {
  (void)::eventfd_write(event_.get(), 1);
}

void Waker::clear() const {
  eventfd_t count = 0;
  (void)::eventfd_read(event_.get(), &count);
}

bool run_before_others() {
  sched_param parameters{};
  parameters.sched_priority = ::sched_get_priority_min(SCHED_FIFO);
  return ::sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) == 0;
}

void use_precise_timers() {
  (void)::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}

}  // namespace tlstrata::io
