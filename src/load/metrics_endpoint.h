// A very small HTTP server for one text: what a monitoring system scrapes.
//
// In:        an address to listen on; serve() when fd() is readable. Out: 200 with the text to GET (and HEAD) of
//            /metrics, 404 and 405 otherwise; each connection is closed after its response.
// Ownership: owns its sockets.
// Errors:    create: Complaint. Later: a peer that misbehaves or is slow loses its connection, nothing else.
// Threads:   one; it never blocks, so the loop that waits for the run serves it too.
// Source:    RFC 9112 section 2; at most most_peers at once, the oldest gives way.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <string>

#include "base/complaint.h"
#include "io/address.h"
#include "io/poller.h"
#include "io/unique_fd.h"
#include "load/metrics.h"

namespace tlstrata::load {

class MetricsEndpoint {
 public:
  static constexpr std::size_t most_peers = 16;
  static constexpr std::size_t largest_head = std::size_t{16} * 1024;

  static Checked<MetricsEndpoint> create(const std::string& address);

  [[nodiscard]] int fd() const { return poller_.fd(); }
  [[nodiscard]] io::Address address() const { return io::Address::local_of(listener_.get()); }
  void serve(const std::function<std::string(MetricsFormat)>& text);

 private:
  struct Peer {
    io::UniqueFd socket;
    std::uint64_t token = 0;
    std::string head;      // received
    std::string response;  // rest to send; empty: the head is not complete
  };

  MetricsEndpoint(io::Poller poller, io::UniqueFd listener)
      : poller_(std::move(poller)), listener_(std::move(listener)) {}
  void accept_all();
  // False: the connection is over.
  static bool proceed(Peer& peer, const std::function<std::string(MetricsFormat)>& text);

  io::Poller poller_;
  io::UniqueFd listener_;
  std::list<Peer> peers_;  // the oldest first
  std::uint64_t next_token_ = 1;
};

}  // namespace tlstrata::load
