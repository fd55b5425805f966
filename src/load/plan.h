// All that is decided before the first transaction starts; shared by the threads and not changed by them.
//
// Units:     nanoseconds; start offsets count from the beginning of the run.
// Ownership: owns all it holds but the key log's descriptor, which is its maker's.
// Threads:   read only once made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/nanos.h"
#include "io/address.h"
#include "load/groups.h"
#include "load/injection.h"
#include "load/url.h"
#include "ossl/trust.h"

namespace tlstrata::load {

struct Timeouts {
  Nanos connect_ns = 5 * nanos_per_second;    // SYN to SYN-ACK
  Nanos handshake_ns = 5 * nanos_per_second;  // from then to the client's Finished
  Nanos response_ns = 10 * nanos_per_second;  // from then to the response's last byte
};

struct Plan {
  Url url;
  io::Address server;
  std::vector<io::Address> local_addresses;  // used in turn; empty: the kernel chooses
  std::vector<Configuration> configurations;
  std::optional<ossl::TrustStore> trust;  // absent: certificates are not verified
  int key_log_fd = -1;                    // -1: no key log
  Timeouts timeouts;
  std::string request;
  std::vector<Nanos> starts;       // of each transaction, ascending
  std::vector<std::uint32_t> mix;  // of each transaction its index in configurations
  std::uint32_t warm_up = 0;       // transactions before the run
  unsigned threads = 1;
  Injector injector;
};

}  // namespace tlstrata::load
