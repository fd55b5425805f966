#include "handshake/transport.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tlstrata::handshake {
namespace {

std::unexpected<Error> io_error(const char* what) {
  return std::unexpected(Error{ErrorCode::io, what, 0, static_cast<unsigned long>(errno)});
}

void close_now(int socket) {
  if (socket >= 0) {
    (void)::close(socket);
  }
}

// Client's end, server's end; -1 where it failed.
bool connect_tcp(int listener, std::array<int, 2>& sockets) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  sockets[0] = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (sockets[0] < 0 || ::getsockname(listener, generic, &size) != 0 || ::connect(sockets[0], generic, size) != 0) {
    return false;
  }
  sockets[1] = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (sockets[1] < 0) {
    return false;
  }
  const int on = 1;
  const linger reset{1, 0};
  for (const int each : sockets) {
    (void)::setsockopt(each, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)::setsockopt(each, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  }
  return true;
}

}  // namespace

Result<SocketPair> SocketPair::create(Transport transport, int listener) {
  SocketPair pair;
  const bool connected = transport == Transport::tcp
                             ? connect_tcp(listener, pair.sockets_)
                             : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.sockets_.data()) == 0;
  if (!connected) {
    return io_error("a pair of sockets");
  }
  return pair;
}

SocketPair::SocketPair(SocketPair&& other) noexcept : sockets_(std::exchange(other.sockets_, {-1, -1})) {}

SocketPair::~SocketPair() {
  for (const int each : sockets_) {
    close_now(each);
  }
}

Result<Listener> Listener::create() {
  Listener listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (listener.socket_ < 0 || ::bind(listener.socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.socket_, SOMAXCONN) != 0) {
    return io_error("a port of 127.0.0.1");
  }
  return listener;
}

Listener::Listener(Listener&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}

Listener::~Listener() {
  close_now(socket_);
}

Companion::Companion() : thread_([this] { serve(); }) {}

Companion::~Companion() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Companion::begin(std::function<void()> work) {
  {
    const std::scoped_lock lock(mutex_);
    work_ = std::move(work);
    busy_ = true;
  }
  changed_.notify_all();
}

void Companion::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !busy_; });
}

void Companion::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return busy_ || ends_; });
    if (ends_) {
      return;
    }
    lock.unlock();
    work_();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace tlstrata::handshake
