// The origin: an HTTP/1.1 server of bodies of any size, /4KiB is one of 4096 bytes.
//
// In:        where to listen, how many threads.
// Out:       answers to GET and HEAD; everything else is refused as RFC 9110 says.
// Ownership: owns its sockets and threads; stop() and the destructor close and join them.
// Errors:    start: Complaint with the address. Later none: a connection that breaks is closed, and where descriptors
//            run out new ones wait in the backlog.
// Threads:   start and stop from one thread.
// Source:    RFC 9110, RFC 9112.
#pragma once

#include <cstdint>
#include <memory>

#include "base/complaint.h"
#include "io/address.h"
#include "serve/connection.h"

namespace tlstrata::serve {

struct OriginOptions {
  io::Address listen;
  unsigned threads = 1;
  Limits limits;
};

class Origin {
 public:
  // Listening, and serving on threads of its own, when it returns.
  static Checked<Origin> start(const OriginOptions& options);
  Origin(Origin&&) noexcept;
  Origin& operator=(Origin&&) noexcept;
  ~Origin();

  // Closes all connections and ends the threads.
  void stop();

  // With the port that the kernel chose where 0 was asked for.
  [[nodiscard]] io::Address address() const;
  // Requests answered, of the threads that have ended: exact after stop().
  [[nodiscard]] std::uint64_t answered() const;

 private:
  struct State;
  explicit Origin(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tlstrata::serve
