// nginx as the lab's TLS-terminating reverse proxy: its configuration, its start and its end.
//
// In:        the program, the OpenSSL that it is to run with, certificate, groups, the origin behind it.
// Out:       a running nginx inside a host of the bed, that accepts connections; its version and the OpenSSL it runs.
// Units:     time-outs in nanoseconds.
// Ownership: an Nginx owns its process and stops it when it dies. Its files (configuration, error log, pid, temporary
//            folders) are in NginxOptions::folder, which stays.
// Errors:    Complaint with the last lines of nginx's own error log.
// Threads:   one at a time. Must not outlive the Bed.
// Needs:     nginx 1.19.5 or newer (-e, ssl_conf_command), built against OpenSSL with its ABI of 3.0.
// Source:    nginx.org/en/docs (ngx_core_module, ngx_http_ssl_module, ngx_http_proxy_module, ngx_http_upstream_module).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/complaint.h"
#include "base/nanos.h"
#include "testbed/bed.h"

namespace tlstrata::lab {

struct NginxOptions {
  std::filesystem::path program;          // see find_nginx()
  std::filesystem::path openssl_library;  // folder with libssl.so.3 that nginx is made to load; empty: the system's
  std::vector<std::string> environment;   // "NAME=value" beside that, see provider_environment()
  std::filesystem::path folder;           // private to this nginx; created if it is missing
  std::string address;                    // where it listens, "10.203.1.1"
  std::uint16_t port = 443;
  std::filesystem::path certificate;  // PEM, the chain
  std::filesystem::path key;          // PEM
  std::string groups;                 // ssl_ecdh_curve, in order of preference: "X25519MLKEM768:X25519:MLKEM1024"
  std::string origin;                 // "10.203.2.2:8080"
  int workers = 1;
  int connections = 4096;        // worker_connections: each transaction takes two, client's and origin's
  int backlog = 4096;            // of the listening socket; the kernel caps it at net.core.somaxconn
  int origin_keepalive = 64;     // idle connections to the origin kept by each worker; 0: one per request
  bool session_tickets = false;  // off: no NewSessionTicket is sent, so every connection is a full handshake
  bool session_cache = false;    // a shared cache of 10 MiB
  Nanos start_timeout_ns = 10 * nanos_per_second;
};

// What `nginx -V` says under the environment that the lab runs it with.
struct NginxIdentity {
  std::string version;       // "1.22.1"
  std::string built_with;    // "OpenSSL 3.0.17 1 Jul 2025"; empty where nginx does not say
  std::string running_with;  // the OpenSSL that it really loads: "OpenSSL 3.5.7 ..."
};

// The configuration file's text; nginx's own files are named relative to `folder`. Pure.
std::string nginx_configuration(const NginxOptions& options);

struct NginxSearch {
  std::string named;                             // the user's TLSTRATA_NGINX; empty: not set
  std::vector<std::filesystem::path> checkouts;  // folders that may hold .deps/nginx/usr/sbin/nginx, tried in order
  std::string search_path;                       // the user's PATH; empty: none
};
// `named`, else the first checkout's private copy, else one of search_path or of the system's folders.
// Errors: there is none, or `named` is no executable; the remedy names ./run setup.
Checked<std::filesystem::path> find_nginx(const NginxSearch& search);

// What `nginx -V` printed; members stay empty where it does not say. Pure.
NginxIdentity parse_nginx_version(std::string_view text);

// Runs `nginx -V` in the bed's proxy host. Errors: it can't run (a library that is missing is named).
Checked<NginxIdentity> identify_nginx(const testbed::Bed& bed, const std::filesystem::path& program,
                                      const std::filesystem::path& openssl_library);

class Nginx {
 public:
  // Writes the configuration, starts nginx in `host` and returns once a worker answers on the port.
  static Checked<Nginx> start(const testbed::Bed& bed, testbed::Host host, NginxOptions options);

  // The master's pid: cpu_of(pid()) includes the workers.
  [[nodiscard]] pid_t pid() const { return process_.pid(); }
  [[nodiscard]] const NginxIdentity& identity() const { return identity_; }
  [[nodiscard]] bool running() const { return process_.running(); }
  [[nodiscard]] std::filesystem::path error_log() const;

  // Ends it: at once for idle connections, after `grace_ns` by force.
  testbed::ExitStatus stop(Nanos grace_ns = 3 * nanos_per_second);

 private:
  Nginx(testbed::Process process, NginxIdentity identity, NginxOptions options);
  testbed::Process process_;
  NginxIdentity identity_;
  NginxOptions options_;
};

}  // namespace tlstrata::lab
