// The built-in reverse proxy: ends the clients' TLS and relays their requests to one upstream, plain or TLS.
//
// In:        where to listen, certificate and groups of both sides, threads.
// Out:       relayed GET and HEAD; /direct is answered with 200 and no body without the upstream.
// Ownership: owns its sockets and threads; stop() and the destructor close and join them.
// Errors:    start: Complaint with the address or file. Later clients are told by 502 and 504.
// Threads:   start and stop from one thread.
// Source:    RFC 9110 section 7.6, RFC 9112.
#pragma once

#include <memory>
#include <optional>

#include "base/complaint.h"
#include "serve/hub.h"
#include "serve/relay.h"

namespace tlstrata::serve {

struct ProxyOptions {
  io::Address listen;
  unsigned threads = 1;
  Limits limits;
  std::optional<ossl::ServerSettings> tls;  // absent: plain HTTP
  io::Address upstream;
  std::optional<ossl::ClientSettings> upstream_tls;  // absent: plain HTTP
  std::size_t most_idle = 64;                        // upstream connections that each thread keeps; 0: one a request
  Nanos upstream_timeout_ns = 60 * nanos_per_second;
};

class Proxy {
 public:
  static Checked<Proxy> start(const ProxyOptions& options);
  void stop() { service_->stop(); }
  [[nodiscard]] io::Address address() const { return service_->address(); }
  // Exact after stop().
  [[nodiscard]] std::uint64_t answered() const { return service_->answered(); }

 private:
  explicit Proxy(std::unique_ptr<Service<Relay>> service) : service_(std::move(service)) {}
  std::unique_ptr<Service<Relay>> service_;
};

}  // namespace tlstrata::serve
