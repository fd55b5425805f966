#include "serve/origin.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <utility>
#include <vector>

#include "io/clock.h"
#include "io/poller.h"
#include "io/timer_queue.h"

namespace tlstrata::serve {
namespace {

constexpr std::uint64_t listener_token = ~std::uint64_t{0};
constexpr std::uint64_t waker_token = listener_token - 1;
constexpr Nanos retry_accept_ns = 50 * nanos_per_millisecond;  // after descriptors ran out
constexpr int backlog = 4096;
constexpr int most_accepted = 64;  // in a row, before those that are connected get their turn

Checked<io::UniqueFd> listen_on(const io::Address& address) {
  io::UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!socket || ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(socket.get(), address.get(), address.size()) != 0 || ::listen(socket.get(), backlog) != 0) {
    const char* const remedy = errno == EADDRINUSE      ? "choose another port, or stop the program that has it"
                               : errno == EADDRNOTAVAIL ? "choose an address of this machine"
                               : errno == EACCES        ? "choose a port above 1023"
                                                        : "choose another address";
    return std::unexpected(complain_errno("cannot listen", address.text(), remedy));
  }
  return socket;
}

// One thread's share of the connections.
class Server {
 public:
  static Result<std::unique_ptr<Server>> create(int listener, const Limits& limits) {
    auto poller = io::Poller::create();
    auto waker = io::Waker::create();
    if (!poller || !waker) {
      return std::unexpected(poller ? waker.error() : poller.error());
    }
    auto server = std::unique_ptr<Server>(new Server(std::move(*poller), std::move(*waker), listener, limits));
    auto added = server->poller_.add(listener, io::Interest::shared_read, listener_token);
    if (added) {
      added = server->poller_.add(server->waker_.fd(), io::Interest::read, waker_token);
    }
    if (!added) {
      return std::unexpected(added.error());
    }
    return server;
  }

  void run() {
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
      slot.connection->close();
    }
  }

  void stop() {
    stopping_.store(true, std::memory_order_relaxed);
    waker_.wake();
  }

  [[nodiscard]] std::uint64_t answered() const {
    std::uint64_t sum = 0;
    for (const Slot& slot : slots_) {
      sum += slot.connection->answered();
    }
    return sum;
  }

 private:
  Server(io::Poller poller, io::Waker waker, int listener, const Limits& limits)
      : poller_(std::move(poller)), waker_(std::move(waker)), listener_(listener), limits_(limits) {}

  // A connection and who has it now: tokens carry the generation, so that what was meant for a connection that is gone
  // does not reach its successor.
  struct Slot {
    std::unique_ptr<Connection> connection = std::make_unique<Connection>();
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
      slots_.emplace_back();
    }
    const std::uint32_t index = free_.back();
    Slot& slot = slots_[index];
    const std::uint64_t token = (std::uint64_t{++slot.generation} << 32U) | index;
    if (!poller_.add(socket.get(), io::Interest::edges, token)) {
      return;
    }
    free_.pop_back();
    slot.armed_ns = io::Poller::never;
    slot.connection->open(std::move(socket), limits_, io::monotonic_ns());
    proceed(token);
  }

  // Null: the one that had this token is gone.
  Slot* find(std::uint64_t token) {
    Slot& slot = slots_[token & 0xFFFFFFFFU];
    return slot.generation == token >> 32U && slot.connection->is_open() ? &slot : nullptr;
  }

  void proceed(std::uint64_t token) {
    Slot* const slot = find(token);
    if (slot == nullptr) {
      return;
    }
    if (slot->connection->proceed(date_, io::monotonic_ns())) {
      unfinished_.push_back(token);
    }
    if (!slot->connection->is_open()) {
      free_.push_back(static_cast<std::uint32_t>(token));
    } else if (slot->connection->deadline_ns() < slot->armed_ns) {
      slot->armed_ns = slot->connection->deadline_ns();
      timers_.set(slot->armed_ns, token);
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
      if (slot->connection->deadline_ns() > now) {
        slot->armed_ns = slot->connection->deadline_ns();
        timers_.set(slot->armed_ns, timer->token);
        continue;
      }
      slot->connection->close();
      free_.push_back(static_cast<std::uint32_t>(timer->token));
    }
  }

  io::Poller poller_;
  io::Waker waker_;
  int listener_;
  Limits limits_;
  io::TimerQueue timers_;
  DateField date_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;        // indices of slots without a client
  std::vector<std::uint64_t> unfinished_;  // tokens of connections that stopped to let others have their turn
  std::atomic<bool> stopping_ = false;
};

}  // namespace

struct Origin::State {
  io::UniqueFd listener;
  io::Address address;
  std::vector<std::unique_ptr<Server>> servers;
  std::vector<std::thread> threads;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { stop(); }

  void stop() {
    for (const auto& server : servers) {
      server->stop();
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    threads.clear();
    listener.reset();
  }
};

Origin::Origin(std::unique_ptr<State> state) : state_(std::move(state)) {}
Origin::Origin(Origin&&) noexcept = default;
Origin& Origin::operator=(Origin&&) noexcept = default;
Origin::~Origin() = default;

Checked<Origin> Origin::start(const OriginOptions& options) {
  auto state = std::make_unique<State>();
  auto listener = listen_on(options.listen);
  if (!listener) {
    return std::unexpected(listener.error());
  }
  state->listener = std::move(*listener);
  state->address = io::Address::local_of(state->listener.get());
  for (unsigned i = 0; i < options.threads; ++i) {
    auto server = Server::create(state->listener.get(), options.limits);
    if (!server) {
      return std::unexpected(complain(server.error(), state->address.text(), "raise the limit on open files"));
    }
    state->servers.push_back(std::move(*server));
  }
  for (const auto& server : state->servers) {
    state->threads.emplace_back([worker = server.get()] { worker->run(); });
  }
  return Origin(std::move(state));
}

void Origin::stop() {
  state_->stop();
}

io::Address Origin::address() const {
  return state_->address;
}

std::uint64_t Origin::answered() const {
  std::uint64_t sum = 0;
  for (const auto& server : state_->servers) {
    sum += server->answered();
  }
  return sum;
}

}  // namespace tlstrata::serve
