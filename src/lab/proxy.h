// The TLS-terminating reverse proxy under test: nginx, HAProxy or our own, in one form.
//
// In:        the program, the OpenSSL that it is to run with, certificate, groups, what is behind it.
// Out:       a running proxy inside a host of the bed, that accepts connections; its version and the OpenSSL it runs.
//            It relays to the origin, and answers /direct by itself: 200 without a body.
// Units:     time-outs in nanoseconds.
// Ownership: a Proxy owns its process and stops it when it dies. Its files (configuration, log) are in
//            ProxyOptions::folder, which stays.
// Errors:    Complaint with the last lines of the proxy's own log.
// Threads:   one at a time. Must not outlive the Bed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"
#include "testbed/bed.h"

namespace tlstrata::lab {

struct ProxyOptions {
  std::filesystem::path program;          // see find_proxy()
  std::filesystem::path openssl_library;  // folder with libssl.so.3 that it is made to load; empty: the system's
  std::vector<std::string> environment;   // "NAME=value" beside that
  std::filesystem::path folder;           // private to this proxy; created if it is missing
  std::string address;                    // where it listens, "10.203.1.1"
  std::uint16_t port = 443;
  std::filesystem::path certificate;       // PEM, the chain
  std::filesystem::path key;               // PEM
  std::string groups;                      // in order of preference: "X25519MLKEM768:X25519:MLKEM1024"
  std::string origin;                      // "10.203.2.2:8080"
  bool origin_tls = false;                 // the proxy encrypts anew
  std::string origin_groups;               // what it offers then, the first one's share sent
  std::filesystem::path origin_authority;  // PEM, what it verifies the origin's certificate with
  std::string origin_name = "origin.lab";  // what that certificate is for
  int workers = 1;
  int connections = 4096;        // at a time, of each worker: each transaction takes two, client's and origin's
  int backlog = 4096;            // of the listening socket; the kernel caps it at net.core.somaxconn
  int origin_keepalive = 64;     // idle connections to the origin kept by each worker; 0: one per request
  bool session_tickets = false;  // off: no NewSessionTicket is sent, so every connection is a full handshake
  bool session_cache = false;    // a shared cache of 10 MiB
  std::vector<int> cores;        // that it may run on; empty: all
  Nanos start_timeout_ns = 10 * nanos_per_second;
};

// What a proxy says of itself under the environment that the lab runs it with.
struct ProxyIdentity {
  std::string version;       // "1.22.1"
  std::string built_with;    // "OpenSSL 3.0.17 1 Jul 2025"; empty where it does not say
  std::string running_with;  // the OpenSSL that it really loads: "OpenSSL 3.5.7 ..."
};

struct ProgramSearch {
  std::string named;                             // the user's TLSTRATA_NGINX; empty: not set
  std::vector<std::filesystem::path> checkouts;  // folders that may hold .deps/<name>/usr/sbin/<name>, tried in order
  std::string search_path;                       // the user's PATH; empty: none
  std::string named_haproxy = {};                // the user's TLSTRATA_HAPROXY
};

// How one kind of proxy is told what to do.
struct ProxyRecipe {
  std::string name;                                        // for people: "nginx"
  std::vector<std::pair<std::string, std::string>> files;  // name inside the folder, text; mode 0600
  std::vector<std::string> arguments;                      // after the program
  std::vector<std::string> environment;                    // beside ProxyOptions' own
  std::string log = "error.log";                           // inside the folder; takes standard error too
  std::string configuration;                               // for the manifest: the one that says it all
};

class Proxy {
 public:
  // Writes the files, starts the program in `host` and returns once a worker answers on the port.
  static Checked<Proxy> start(const testbed::Bed& bed, testbed::Host host, const ProxyRecipe& recipe,
                              ProxyIdentity identity, const ProxyOptions& options);

  // The master's pid: cpu_of(pid()) includes the workers.
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  [[nodiscard]] const ProxyIdentity& identity() const { return identity_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool running() const { return process_.running(); }
  [[nodiscard]] const std::filesystem::path& error_log() const { return log_; }

  // Ends it: at once for idle connections, after `grace_ns` by force.
  testbed::ExitStatus stop(Nanos grace_ns = 3 * nanos_per_second) { return process_.stop(grace_ns); }

 private:
  Proxy(testbed::Process process, ProxyIdentity identity, std::string name, std::filesystem::path log)
      : process_(std::move(process)), identity_(std::move(identity)), name_(std::move(name)), log_(std::move(log)) {}

  testbed::Process process_;
  ProxyIdentity identity_;
  std::string name_;
  std::filesystem::path log_;
};

// `named` (from the variable `variable`), else the first checkout's private copy, else one of search_path or of the
// system's folders. Errors: there is none, or `named` is no executable; the remedy names ./run setup.
Checked<std::filesystem::path> find_proxy(const std::string& name, const std::string& variable,
                                          const std::string& named, const ProgramSearch& search);

// LD_LIBRARY_PATH for a program and the folders that it is to find libraries in; nothing where there are none.
std::vector<std::string> library_environment(const std::vector<std::filesystem::path>& folders);

// Paths made absolute, and no more connections than descriptors allow.
Checked<ProxyOptions> fitted(ProxyOptions options);

// The rest of the line after `marker`, up to one of `stop`; empty where there is no marker. For versions.
std::string rest_after(std::string_view text, std::string_view marker, std::string_view stop);

// "nginx", "haproxy" or "builtin", wherever it is found; the built-in one is `own_program`.
struct ProxyPrograms {
  ProgramSearch search;
  std::filesystem::path own_program;
};
struct StartedProxy {
  Proxy proxy;
  std::filesystem::path program;
  std::string configuration;
};
// `options.program` and `options.environment`'s own part are filled in here.
Checked<StartedProxy> start_proxy(const std::string& kind, const testbed::Bed& bed, testbed::Host host,
                                  const ProxyPrograms& programs, ProxyOptions options);

}  // namespace tlstrata::lab
