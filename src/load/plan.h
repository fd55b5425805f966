// All that is decided before the first transaction starts; shared by the threads and not changed by them.
//
// Units:     nanoseconds; start offsets count from the beginning of the run.
// Ownership: owns all it holds but the key log's descriptor, which is its maker's.
// Threads:   read only once made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "io/address.h"
#include "load/groups.h"
#include "load/injection.h"
#include "load/record.h"
#include "load/request.h"
#include "load/url.h"

namespace tlstrata::load {

struct Timeouts {
  Nanos connect_ns = 5 * nanos_per_second;    // SYN to SYN-ACK
  Nanos handshake_ns = 5 * nanos_per_second;  // from then to the client's Finished
  Nanos response_ns = 10 * nanos_per_second;  // from then to the response's last byte
};

// Virtual users, each of whom starts when its last connection has ended and it has thought.
struct ClosedLoop {
  std::uint32_t users = 1;
  Nanos think_ns = 0;
  Nanos duration_ns = 0;               // no starts after it
  std::optional<std::uint64_t> count;  // transactions; absent: as many as fit
};

enum class Protocol : std::uint8_t { http1, http2 };

struct Plan {
  Url url;
  std::string server_name;  // sent as SNI and looked for in the certificate; the URL's host unless --sni
  bool server_name_is_address = false;
  io::Address server;
  std::vector<io::Address> local_addresses;  // used in turn; empty: the kernel chooses
  std::vector<Configuration> configurations;
  bool verify = true;
  std::string ca_file;  // empty: the system's roots
  int key_log_fd = -1;  // -1: no key log
  Timeouts timeouts;
  Protocol protocol = Protocol::http1;
  Request request;
  std::string ciphers;           // empty: the library's
  std::string certificate_file;  // empty: none
  std::string key_file;
  std::uint32_t requests = 1;        // per connection
  double resume = 0;                 // ratio of connections that resume
  bool early_data = false;           // of these, where the ticket allows it
  bool split = true;                 // measure where the time of a handshake goes
  std::optional<ClosedLoop> closed;  // absent: an open loop, of the starts below
  std::vector<Nanos> starts;         // of each connection, ascending
  std::uint64_t transactions = 0;    // of the open loop: starts times requests, or less for the last connection
  std::vector<std::uint32_t> mix;    // configuration of connection i: mix[i % size]
  std::uint32_t warm_up = 0;         // connections before the run
  unsigned threads = 1;
  Injector injector;
  // Called by the worker's thread when an outcome is known; the record does not change any more. Empty: nobody listens.
  std::function<void(const Record&)> decided;
};

}  // namespace tlstrata::load
