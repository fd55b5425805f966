#include "load/starter.h"

#include <utility>

#include "io/clock.h"

namespace tlstrata::load {
namespace {

// What a sleep is ended early by: above the usual lateness of a wake-up (poller.h), below what would burn a core at
// thousands of starts per second.
constexpr Nanos spin_ns = 100 * nanos_per_microsecond;

}  // namespace

Starter::Starter(const Plan& plan, std::span<const std::unique_ptr<Worker>> workers, io::Poller poller, io::Waker waker)
    : plan_(plan), starts_(plan, 0, 1), workers_(workers), poller_(std::move(poller)), waker_(std::move(waker)) {}

Checked<std::unique_ptr<Starter>> Starter::create(const Plan& plan, std::span<const std::unique_ptr<Worker>> workers) {
  auto poller = io::Poller::create();
  auto waker = io::Waker::create();
  if (!poller || !waker) {
    return std::unexpected(
        complain(poller ? waker.error() : poller.error(), "load", "raise the limit on open files (ulimit -n)"));
  }
  std::unique_ptr<Starter> starter(new Starter(plan, workers, std::move(*poller), std::move(*waker)));
  if (auto added = starter->poller_.add(starter->waker_.fd(), io::Interest::read, 0); !added) {
    return std::unexpected(complain(added.error(), "load", "raise the limit on open files (ulimit -n)"));
  }
  return starter;
}

void Starter::run(Nanos begin_ns) {
  io::use_precise_timers();
  // Else a start waits for the slice of whoever has the core: milliseconds, where server and client share two.
  runs_before_others_ = io::run_before_others();
  starts_.begin(begin_ns);
  while (starts_.next_ns()) {
    const Start start = starts_.take();
    Dialled opened = open_socket(plan_, start.connection);
    do {
      (void)poller_.wait(start.scheduled_ns, spin_ns);
      if (cancelled_.load(std::memory_order_relaxed)) {
        return;
      }
    } while (io::monotonic_ns() < start.scheduled_ns);  // a signal woke it
    if (opened.failed != Dialled::Failed::nothing) {
      opened = open_socket(plan_, start.connection);  // a descriptor may have come free meanwhile
    }
    workers_[start.connection % workers_.size()]->launch(start, std::move(opened));
  }
}

void Starter::cancel() {
  cancelled_.store(true, std::memory_order_relaxed);
  waker_.wake();
}

}  // namespace tlstrata::load
