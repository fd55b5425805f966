// Accepts clients and gives each a session: what origin and proxy have in common.
//
// In:        a listening address, a number of threads, what each thread's sessions share (Session::Thread).
// Out:       sessions that proceed when their sockets do, or when their deadline has come.
// Ownership: a Service owns its listener, threads, and through them the sessions; its destructor ends and joins all.
// Errors:    start: Complaint with the address. Later none: where descriptors run out new clients wait in the backlog.
// Threads:   start and stop from one thread. A session and its Thread live on one of the service's.
//
// A Session has
//   Session(Thread&)                          made once, used for one client after the other
//   open(socket, token, now_ns)               a new client; further sockets go to Thread::poller with the same token
//   proceed(now_ns) -> bool                   something is ready; true: stopped to let others have their turn
//   expire(now_ns)                            deadline_ns() has come
//   close(), is_open(), deadline_ns(), answered()
#pragma once

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/complaint.h"
#include "io/address.h"
#include "io/clock.h"
#include "io/poller.h"
#include "io/timer_queue.h"

namespace tlstrata::serve {

// A listening socket with a long backlog.
Checked<io::UniqueFd> listen_on(const io::Address& address);

// One thread's share of the clients.
template <typename Session>
class Hub {
 public:
  using Thread = typename Session::Thread;

  static Result<std::unique_ptr<Hub>> create(int listener, std::unique_ptr<Thread> shared) {
    auto poller = io::Poller::create();
    auto waker = io::Waker::create();
    if (!poller || !waker) {
      return std::unexpected(poller ? waker.error() : poller.error());
    }
    std::unique_ptr<Hub> hub(new Hub(std::move(*poller), std::move(*waker), listener, std::move(shared)));
    auto added = hub->poller_.add(listener, io::Interest::shared_read, listener_token);
    if (added) {
      added = hub->poller_.add(hub->waker_.fd(), io::Interest::read, waker_token);
    }
    if (!added) {
      return std::unexpected(added.error());
    }
    return hub;
  }

  void run() {
    shared_->poller = &poller_;
    while (!stopping_.load(std::memory_order_relaxed)) {
      const auto timer = timers_.next();
      const Nanos until = !unfinished_.empty() ? 0 : timer ? timer->deadline_ns : io::Poller::never;
      for (const io::Ready& ready : poller_.wait(until)) {
        if (ready.token == listener_token) {
          accept();
        } else if (ready.token != waker_token) {
          proceed(ready.token);
        }
      }
      for (const std::uint64_t token : std::exchange(unfinished_, {})) {
        proceed(token);
      }
      expire();
    }
    for (Slot& slot : slots_) {
      slot.session->close();
    }
  }

  void stop() {
    stopping_.store(true, std::memory_order_relaxed);
    waker_.wake();
  }

  [[nodiscard]] std::uint64_t answered() const {
    std::uint64_t sum = 0;
    for (const Slot& slot : slots_) {
      sum += slot.session->answered();
    }
    return sum;
  }

 private:
  static constexpr std::uint64_t listener_token = ~std::uint64_t{0};
  static constexpr std::uint64_t waker_token = listener_token - 1;
  static constexpr Nanos retry_accept_ns = 50 * nanos_per_millisecond;  // after descriptors ran out
  static constexpr int most_accepted = 64;  // in a row, before those that are connected get their turn

  Hub(io::Poller poller, io::Waker waker, int listener, std::unique_ptr<Thread> shared)
      : poller_(std::move(poller)), waker_(std::move(waker)), listener_(listener), shared_(std::move(shared)) {}

  // A session and who has it now: tokens carry the generation, so that what was meant for a client that is gone does
  // not reach its successor.
  struct Slot {
    std::unique_ptr<Session> session;
    std::uint32_t generation = 0;
    Nanos armed_ns = 0;  // the deadline of its timer
  };

  void accept() {
    for (int accepted = 0; accepted < most_accepted; ++accepted) {
      io::UniqueFd socket(::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket) {
        adopt(std::move(socket));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno != ECONNABORTED && errno != EINTR) {
        // No descriptor or no memory: the clients wait in the backlog, and the listener must not spin meanwhile.
        poller_.remove(listener_);
        timers_.set(io::monotonic_ns() + retry_accept_ns, listener_token);
        return;
      }
    }
  }

  void adopt(io::UniqueFd socket) {
    const int on = 1;
    (void)::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.push_back(Slot{std::make_unique<Session>(*shared_), 0, 0});
    }
    const std::uint32_t index = free_.back();
    Slot& slot = slots_[index];
    const std::uint64_t token = (std::uint64_t{++slot.generation} << 32U) | index;
    if (!poller_.add(socket.get(), io::Interest::edges, token)) {
      return;
    }
    free_.pop_back();
    slot.armed_ns = io::Poller::never;
    slot.session->open(std::move(socket), token, io::monotonic_ns());
    proceed(token);
  }

  // Null: the one that had this token is gone.
  Slot* find(std::uint64_t token) {
    Slot& slot = slots_[token & 0xFFFFFFFFU];
    return slot.generation == token >> 32U && slot.session->is_open() ? &slot : nullptr;
  }

  void proceed(std::uint64_t token) {
    Slot* const slot = find(token);
    if (slot == nullptr) {
      return;
    }
    if (slot->session->proceed(io::monotonic_ns())) {
      unfinished_.push_back(token);
    }
    settle(*slot, token);
  }

  // After a step: its place is free, or its timer is set.
  void settle(Slot& slot, std::uint64_t token) {
    if (!slot.session->is_open()) {
      free_.push_back(static_cast<std::uint32_t>(token));
    } else if (slot.session->deadline_ns() < slot.armed_ns) {
      slot.armed_ns = slot.session->deadline_ns();
      timers_.set(slot.armed_ns, token);
    }
  }

  // A deadline that moves on costs nothing: its timer is set anew only when it comes too early.
  void expire() {
    const Nanos now = io::monotonic_ns();
    while (const auto timer = timers_.due(now)) {
      if (timer->token == listener_token) {
        (void)poller_.add(listener_, io::Interest::shared_read, listener_token);
        continue;
      }
      Slot* const slot = find(timer->token);
      if (slot == nullptr || slot->armed_ns != timer->deadline_ns) {
        continue;
      }
      slot->armed_ns = io::Poller::never;
      if (slot->session->deadline_ns() <= now && slot->session->expire(now)) {
        unfinished_.push_back(timer->token);
      }
      settle(*slot, timer->token);
    }
  }

  io::Poller poller_;
  io::Waker waker_;
  int listener_;
  std::unique_ptr<Thread> shared_;  // before the sessions, which refer to it
  io::TimerQueue timers_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;        // indices of slots without a client
  std::vector<std::uint64_t> unfinished_;  // tokens of sessions that stopped to let others have their turn
  std::atomic<bool> stopping_ = false;
};

// Hubs on threads of their own that share one listener.
template <typename Session>
class Service {
 public:
  using MakeThread = std::function<Checked<std::unique_ptr<typename Session::Thread>>()>;

  // Listening and serving when it returns.
  static Checked<std::unique_ptr<Service>> start(const io::Address& listen, unsigned threads, const MakeThread& make) {
    auto listener = listen_on(listen);
    if (!listener) {
      return std::unexpected(listener.error());
    }
    std::unique_ptr<Service> service(new Service(std::move(*listener)));
    for (unsigned i = 0; i < threads; ++i) {
      auto shared = make();
      if (!shared) {
        return std::unexpected(shared.error());
      }
      auto hub = Hub<Session>::create(service->listener_.get(), std::move(*shared));
      if (!hub) {
        return std::unexpected(complain(hub.error(), service->address_.text(), "raise the limit on open files"));
      }
      service->hubs_.push_back(std::move(*hub));
    }
    for (const auto& hub : service->hubs_) {
      service->threads_.emplace_back([worker = hub.get()] { worker->run(); });
    }
    return service;
  }

  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  ~Service() { stop(); }

  void stop() {
    for (const auto& hub : hubs_) {
      hub->stop();
    }
    for (std::thread& thread : threads_) {
      thread.join();
    }
    threads_.clear();
    listener_.reset();
  }

  [[nodiscard]] io::Address address() const { return address_; }

  // Requests answered, of the threads that have ended: exact after stop().
  [[nodiscard]] std::uint64_t answered() const {
    std::uint64_t sum = 0;
    for (const auto& hub : hubs_) {
      sum += hub->answered();
    }
    return sum;
  }

 private:
  explicit Service(io::UniqueFd listener)
      : listener_(std::move(listener)), address_(io::Address::local_of(listener_.get())) {}

  io::UniqueFd listener_;
  io::Address address_;
  std::vector<std::unique_ptr<Hub<Session>>> hubs_;
  std::vector<std::thread> threads_;
};

}  // namespace tlstrata::serve
