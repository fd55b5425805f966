// The origin: an HTTP/1.1 server of bodies of any size, /4KiB is one of 4096 bytes; over TLS where it is given a
// certificate.
//
// In:        where to listen, how many threads.
// Out:       answers to GET and HEAD, held back where the target says so (/4KiB?delay=2ms); everything else is refused
//            as RFC 9110 says.
// Ownership: owns its sockets and threads; stop() and the destructor close and join them.
// Errors:    start: Complaint with the address or file. Later none: a connection that breaks is closed, and where
//            descriptors run out new ones wait in the backlog.
// Threads:   start and stop from one thread.
// Source:    RFC 9110, RFC 9112.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/complaint.h"
#include "io/address.h"
#include "ossl/server.h"
#include "serve/connection.h"
#include "serve/hub.h"

namespace tlstrata::serve {

struct OriginOptions {
  io::Address listen;
  unsigned threads = 1;
  Limits limits;
  std::optional<ossl::ServerSettings> tls;  // absent: plain HTTP
  int delays_fd = -1;                       // see Connection::Thread
};

class Origin {
 public:
  // Listening, and serving on threads of its own, when it returns.
  static Checked<Origin> start(const OriginOptions& options);

  // Closes all connections and ends the threads.
  void stop() { service_->stop(); }

  // With the port that the kernel chose where 0 was asked for.
  [[nodiscard]] io::Address address() const { return service_->address(); }
  // Requests answered, of the threads that have ended: exact after stop().
  [[nodiscard]] std::uint64_t answered() const { return service_->answered(); }

 private:
  explicit Origin(std::unique_ptr<Service<Connection>> service) : service_(std::move(service)) {}
  std::unique_ptr<Service<Connection>> service_;
};

}  // namespace tlstrata::serve
