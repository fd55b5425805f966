// How the two sides are joined, and the thread that the server runs on where they are joined by sockets.
//
// In:        the transport. Out: connected pairs of blocking sockets; work done on the companion's thread.
// Ownership: sockets of a pair are closed with it. The companion's thread ends with it; the work must outlive wait().
// Errors:    io: no descriptor, no port.
// Threads:   each object is used by one thread; the companion's own runs what it is given between begin() and the end of
//            wait().
// Source:    tcp is over 127.0.0.1. It is connected before anything is measured, Nagle's algorithm is off as servers have it,
//            and it is reset at the end: 20,000 connections in TIME_WAIT would use up the ports.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"

namespace tlstrata::handshake {

enum class Transport : std::uint8_t { memory, socketpair, tcp };

// Client's end, server's end.
class SocketPair {
 public:
  static Result<SocketPair> create(Transport transport, int listener);
  SocketPair(SocketPair&& other) noexcept;
  SocketPair& operator=(SocketPair&&) = delete;
  ~SocketPair();

  [[nodiscard]] int socket(std::size_t side) const { return sockets_[side]; }

 private:
  SocketPair() = default;
  std::array<int, 2> sockets_{-1, -1};
};

// A listening socket on a free port of 127.0.0.1.
class Listener {
 public:
  static Result<Listener> create();
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  [[nodiscard]] int socket() const { return socket_; }

 private:
  explicit Listener(int socket) : socket_(socket) {}
  int socket_;
};

class Companion {
 public:
  Companion();
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  ~Companion();

  void begin(std::function<void()> work);
  void wait();

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool busy_ = false;
  bool ends_ = false;
  std::thread thread_;  // the last: it uses the others
};

}  // namespace tlstrata::handshake
